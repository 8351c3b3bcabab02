-- Written by dnsrig for one instance of PowerDNS Recursor.
-- It comes with the trust anchors of the Internet's root.
clearTA()
addTA(".", "20326 8 2 e06d44b80b8f1d39a95c0b0d7c65d08458e880409bbc683457104237c7f8ec8d")
addTA("example.", "3613 15 2 12c20306cc95275fc2d60a95d548bd6006cbc846af2d7d87b2087d5ab62059ff")
