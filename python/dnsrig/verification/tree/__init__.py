"""The rig's private signed tree: root, TLDs and zones below, good and broken by construction, and who serves them."""
