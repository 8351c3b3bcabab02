"""The records of the rig's zone, before it is signed."""

LARGE_512 = 3
LARGE_1220 = 5
LARGE_4000 = 16
STRING_OCTETS = 250

RECORDS = """\
$TTL 3600
@ SOA ns1 hostmaster {serial} 7200 900 604800 300
@ NS ns1
@ NS ns2
@ MX 10 mail
@ TXT "a zone of dnsrig for the verification of servers"
ns1 A 192.0.2.1
ns1 AAAA 2001:db8::1
ns2 A 192.0.2.2
mail A 192.0.2.3
host A 192.0.2.4
host AAAA 2001:db8::4
host TXT "a host"
alias CNAME host
MiXeD-CaSe TXT "An owner name in mixed case"
bridge DNAME target
target A 192.0.2.5
host.target A 192.0.2.6
*.wild A 192.0.2.7
*.wild TXT "made from a wildcard"
below.empty TXT "below an empty non-terminal"
only.below.deep.empty TXT "below more than one empty non-terminal"
insecure NS ns.insecure
insecure NS ns1
ns.insecure A 192.0.2.9
ns.insecure AAAA 2001:db8::9
zz-insecure NS ns1
below.only-insecure NS ns1
secure NS ns.secure
secure DS 12345 13 2 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
ns.secure A 192.0.2.10
"""


def zone_text(serial: int = 2026010101) -> str:
    """Give the zone file's text, with names relative to the apex.

    It has a host, an alias, a DNAME record, a wildcard, empty non-terminals, an insecure and a secure delegation with
    glue, an owner name in mixed case, and TXT RRsets whose responses exceed 512, 1220 and 4000 octets.
    """
    large = [
        f'large-{octets} TXT "{index:02} {"x" * (STRING_OCTETS - 3)}"\n'
        for octets, strings in ((512, LARGE_512), (1220, LARGE_1220), (4000, LARGE_4000))
        for index in range(strings)
    ]
    return RECORDS.format(serial=serial) + "".join(large)
