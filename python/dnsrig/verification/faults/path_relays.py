"""What relays in the way of queries do besides the faults of servers and proxies (`paths.py` names them)."""

import dns.edns
import dns.message
import dns.name
import dns.opcode
import dns.rcode
import dns.rdataclass
import dns.rrset
from dns.rdatatype import RdataType

from dnsrig.verification.faults.changes import asking, changing, dropping, refusing
from dnsrig.verification.faults.fault import Fault, Passage
from dnsrig.verification.faults.proxy_queries import by_tcp
from dnsrig.verification.item import Role

PATH: tuple[Role, ...] = ("path",)
OLD_LIMIT = 512
LOW_TTL_S = 60
LAST_OF_ASCII = 0x7F
COOKIE = int(dns.edns.OptionType.COOKIE)
LISTED = dns.name.from_text("example.com.")
OTHER_DATA = {RdataType.A: "203.0.113.80", RdataType.MX: "10 mail.other.example."}
DROPPED = {RdataType.CAA, RdataType.TLSA, RdataType.HTTPS, RdataType.make(65_280)}


def _rewrite(message: dns.message.Message, rtype: RdataType) -> None:
    message.answer = [
        dns.rrset.from_text(one.name, one.ttl, one.rdclass, rtype, OTHER_DATA[rtype]) if one.rdtype == rtype else one
        for one in message.answer
    ]


def _drop_long(passage: Passage) -> bytes | None:
    return None if len(passage.query) > OLD_LIMIT else passage.query


def _lower_case(message: dns.message.Message) -> None:
    for rrset in message.question:
        rrset.name = rrset.name.canonicalize()


def _is_unusual(message: dns.message.Message) -> bool:
    labels = [label for one in message.question for label in one.name.labels]
    return any(label.startswith(b"_") or max(label, default=0) > LAST_OF_ASCII for label in labels)


def _is_listed(message: dns.message.Message) -> bool:
    return any(one.name.is_subdomain(LISTED) for one in message.question)


def _lower_ttl(message: dns.message.Message) -> None:
    for rrset in (*message.answer, *message.authority, *message.additional):
        rrset.ttl = min(rrset.ttl, LOW_TTL_S)


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
    Fault(
        name="drops-long-queries",
        does="drops queries of more than 512 octets",
        roles=(*PATH, "proxy"),
        on_query=_drop_long,
    ),
    Fault(
        name="answers-once-a-port",
        does="drops queries from a port that has sent one just before",
        roles=(*PATH, "proxy"),
        answers_once_a_port=True,
    ),
    Fault(
        name="lower-cases-queries-on-path",
        does="lower-cases names in queries",
        roles=PATH,
        on_query=asking(_lower_case),
    ),
    Fault(
        name="drops-unusual-names",
        does="drops queries for names with underscores or octets beyond ASCII",
        roles=PATH,
        on_query=dropping(_is_unusual),
    ),
    Fault(
        name="drops-cookies-on-path",
        does="drops queries with COOKIE",
        roles=PATH,
        on_query=dropping(lambda message: any(int(one.otype) == COOKIE for one in message.options)),
    ),
    Fault(
        name="drops-updates",
        does="drops NOTIFY and UPDATE",
        roles=(*PATH, "proxy"),
        on_query=dropping(lambda message: message.opcode() in {dns.opcode.NOTIFY, dns.opcode.UPDATE}),
    ),
    Fault(
        name="answers-chaos",
        does="answers queries of class CHAOS itself",
        roles=PATH,
        on_response=refusing(
            lambda message: any(one.rdclass == dns.rdataclass.CH for one in message.question), dns.rcode.REFUSED
        ),
    ),
    Fault(
        name="blocks-foreign-names",
        does="gives another address for names that are on a list",
        roles=(*PATH, "proxy"),
        on_response=changing(lambda message: _rewrite(message, RdataType.A), _is_listed),
    ),
    Fault(
        name="lowers-ttl",
        does="lowers TTLs to a minute",
        roles=PATH,
        on_response=changing(_lower_ttl),
    ),
)
