"""The records of the rig's zone, before it is signed."""

STRING_OCTETS = 250
RECORD_OCTETS = STRING_OCTETS + 13
"""Of a TXT record with such a string, its owner name compressed."""
LARGE_OCTETS = (3 * RECORD_OCTETS, 5 * RECORD_OCTETS, *range(3440, 4001, 80))
"""Octets of the records of the TXT RRsets whose responses are large. The last ones are so many that with whatever a
server adds, such as signatures and authority, one has a response between 4000 and 4096 octets, a usual limit by UDP."""
HUGE_OCTETS = 20_000
"""The same of an RRset that goes beyond what many buffers have, and what pointers of name compression reach."""

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
zz-secure NS ns1
zz-secure DS 12346 13 2 fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210
"""


def zone_text(serial: int = 2026010101) -> str:
    """Give the zone file's text, with names relative to the apex.

    It has a host, an alias, a DNAME record, a wildcard, empty non-terminals, insecure and secure delegations with
    glue, an owner name in mixed case, and TXT RRsets whose responses exceed 512, 1220, 4000 and 16384 octets.
    """
    large = [
        f'large-{octets} TXT "{index:02} {"x" * (length - 3)}"\n'
        for octets in (*LARGE_OCTETS, HUGE_OCTETS)
        for index, length in enumerate(_string_lengths(octets))
    ]
    return RECORDS.format(serial=serial) + "".join(large)


def _string_lengths(octets: int) -> list[int]:
    """Give the lengths of the strings of TXT records that have so many octets together."""
    full, rest = divmod(octets, RECORD_OCTETS)
    return [STRING_OCTETS] * full + ([rest - (RECORD_OCTETS - STRING_OCTETS)] if rest else [])
