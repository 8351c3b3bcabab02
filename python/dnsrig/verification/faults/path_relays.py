"""What relays in the way of queries do besides the faults of servers and proxies (`paths.py` names them)."""

import dns.message
import dns.rrset
from dns.rdatatype import RdataType

from dnsrig.verification.faults.changes import changing, dropping
from dnsrig.verification.faults.fault import Fault, Passage
from dnsrig.verification.faults.proxy_queries import by_tcp
from dnsrig.verification.item import Role

PATH: tuple[Role, ...] = ("path",)
OLD_LIMIT = 512
OTHER_DATA = {RdataType.A: "203.0.113.80", RdataType.MX: "10 mail.other.example."}
DROPPED = {RdataType.CAA, RdataType.TLSA, RdataType.HTTPS, RdataType.make(65_280)}


def _rewrite(message: dns.message.Message, rtype: RdataType) -> None:
    message.answer = [
        dns.rrset.from_text(one.name, one.ttl, one.rdclass, rtype, OTHER_DATA[rtype]) if one.rdtype == rtype else one
        for one in message.answer
    ]


def _drop_long(passage: Passage) -> bytes | None:
    return None if len(passage.query) > OLD_LIMIT else passage.query


FAULTS = (
    Fault(
        name="rewrites-addresses-by-tcp",
        does="changes IPv4 addresses in responses by TCP",
        roles=PATH,
        on_response=by_tcp(lambda message: _rewrite(message, RdataType.A)),
    ),
    Fault(
        name="rewrites-mail-servers",
        does="changes MX records",
        roles=PATH,
        on_response=changing(lambda message: _rewrite(message, RdataType.MX)),
    ),
    Fault(
        name="drops-types-in-use",
        does="drops queries for CAA, TLSA, HTTPS and unknown types",
        roles=PATH,
        on_query=dropping(lambda message: any(one.rdtype in DROPPED for one in message.question)),
    ),
    Fault(
        name="drops-edns-versions-on-path",
        does="drops queries of other EDNS versions",
        roles=PATH,
        on_query=dropping(lambda message: message.edns > 0),
    ),
    Fault(name="drops-long-queries", does="drops queries of more than 512 octets", roles=PATH, on_query=_drop_long),
)
