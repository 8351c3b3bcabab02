"""Messages with another number of questions than one, which items of several roles send."""

from collections.abc import Sequence

import dns.rdataclass
from dns.rdatatype import RdataType

from dnsrig.verification.queries import CraftedMessage, Query

RD_OCTET = 1


def with_questions(usual: Query, types: Sequence[RdataType]) -> CraftedMessage:
    """Make a usual query one with as many questions as types, all for its name, and without EDNS."""
    name = usual.name.to_wire() or b""
    questions = b"".join(name + rtype.to_bytes(2) + dns.rdataclass.IN.to_bytes(2) for rtype in types)
    flags = bytes([RD_OCTET if usual.rd else 0, 0])
    after_id = flags + len(types).to_bytes(2) + bytes(6) + questions
    return CraftedMessage(name=usual.name, rtype=usual.rtype, rd=usual.rd, payload=None, after_id=after_id)
