"""The rig's own zones: with every landmark, signed in several ways, and with faults of data."""
