-- Written by dnsrig for one instance of PowerDNS Recursor.
-- It comes with the trust anchors of the Internet's root.
clearTA()
addTA(".", "20326 8 2 e06d44b80b8f1d39a95c0b0d7c65d08458e880409bbc683457104237c7f8ec8d")
