"""A-tc: TC without need."""

from dns.rdatatype import RdataType

from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.stopping import pause
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

PAUSES_S = (0.0, 1.0, 1.0)
"""Waits before each try: limits are so many responses a second."""
ITEM = Item(
    id="A-tc",
    role="authoritative",
    group="EDNS and size",
    requirement="A response that fits has no TC.",
    references=("RFC 2181 section 9", "RFC 1035 section 4.1.1"),
    severity=Severity.WARNING,
    consequence=(
        "Every client asks again by TCP: answers come late, and the server bears connections instead of datagrams."
    ),
    procedure=(
        "The SOA and NS records and a host's address are asked for by UDP without EDNS; a response has no TC. Servers "
        "that limit their rate of responses (RRL) set TC when asked for one thing too often, so they are asked "
        "three times."
    ),
    dig=("dig @{server} -p {port} {zone} SOA +norec +noedns +ignore",),
    needs=("zone",),
    faults=("sets-tc",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask until one response is whole, for different things, as limits are for each response."""
    questions = [(subject.origin, RdataType.SOA), (subject.origin, RdataType.NS)]
    if subject.landmarks.host is not None:
        questions.append((subject.landmarks.host.name, RdataType.A))
    exchanges = []
    for pause_s in PAUSES_S:
        pause(pause_s)
        for name, rtype in questions:
            exchange = subject.asker.udp(Query(name=name, rtype=rtype, payload=None))
            if exchange.response is None:
                return subject.unanswered(exchange)
            if not exchange.is_truncated:
                return passed("The response has no TC.", exchange)
            exchanges.append(exchange)
    return failed(
        f"All {len(exchanges)} responses have TC, with {exchanges[0].octets} octets and so on.", *exchanges[:3]
    )
