"""Names of unusual form, which items of several roles ask for."""

import dns.name

from dnsrig.verification.asker import LONGEST_LABEL, LONGEST_NAME, random_label

ODD_OCTETS = b"\x00 .\xe9@\xff"
"""A label that no host name has."""
LEAST_LABELS = 40


def odd_names(below: dns.name.Name) -> list[dns.name.Name]:
    """Make names below one; there must be room for 100 octets."""
    label = random_label().encode()
    parent = dns.name.Name((label, *below.labels))
    many = parent
    while len(many) < LEAST_LABELS + len(below) and len(many.to_wire() or b"") + 2 <= LONGEST_NAME:
        many = dns.name.Name((b"x", *many.labels))
    longest = parent
    while (left := LONGEST_NAME - len(longest.to_wire() or b"")) > 1:
        longest = dns.name.Name((b"x" * min(left - 1, LONGEST_LABEL), *longest.labels))
    return [
        dns.name.Name((b"_25", b"_tcp", *parent.labels)),
        dns.name.Name((b"x" * LONGEST_LABEL, *below.labels)),
        longest,
        many,
        dns.name.Name((ODD_OCTETS, *parent.labels)),
    ]
