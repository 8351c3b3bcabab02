"""Names that items make below others: none is too long (RFC 1035 section 3.1)."""

import dns.name
from dnsrig.items.authoritative._deep import LONGEST_NAME, _below


def test_names_without_room_for_a_label_are_left_out() -> None:
    label = b"absent"
    long = [dns.name.Name([b"x" * first, *[b"y" * 59] * 4, b""]) for first in (6, 7)]
    assert [len(name.to_wire()) for name in long] == [248, 249]
    assert [len(name.to_wire()) for name in _below(long, label)] == [LONGEST_NAME]
    longest = dns.name.Name([b"x"] * 127 + [b""])
    assert _below([longest], label) == []
