"""What the items about two OPT records in a query share (RFC 6891 section 6.1.1)."""

import dns.flags
import dns.name
from dns.rdatatype import RdataType

from dnsrig.verification.queries import USUAL_PAYLOAD, CraftedMessage

OPT = b"\0" + int(RdataType.OPT).to_bytes(2) + USUAL_PAYLOAD.to_bytes(2) + bytes(4) + bytes(2)
"""Name, type, payload size, version and flags that are 0, no options (RFC 6891 section 6.1.2)."""
COUNTS = (1, 0, 0, 2)
"""Records of each section."""


def query_with_two_opts(name: dns.name.Name, rtype: RdataType, rd: bool) -> CraftedMessage:
    """Make a query with two OPT records that are the same."""
    flags = int(dns.flags.RD) if rd else 0
    header = b"".join(number.to_bytes(2) for number in (flags, *COUNTS))
    question = (name.to_wire() or b"") + rtype.to_bytes(2) + b"\0\1"
    return CraftedMessage(name=name, rtype=rtype, rd=rd, payload=None, after_id=header + question + 2 * OPT)
