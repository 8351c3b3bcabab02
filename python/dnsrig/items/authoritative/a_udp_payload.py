"""A-udp-payload: the client's payload size."""

from dns.rdatatype import RdataType

from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, not_applicable, passed

PAYLOADS = (512, 1232)
ITEM = Item(
    id="A-udp-payload",
    role="authoritative",
    group="EDNS and size",
    requirement="A response by UDP is never longer than the payload size that the client offers.",
    references=("RFC 6891 section 6.2.5", "RFC 6891 section 6.2.3"),
    severity=Severity.ERROR,
    consequence=(
        "The response is dropped on its way or by the client, which chose the size for its path: it waits for nothing."
    ),
    procedure="The largest RRset is asked for with DO and payload sizes of 512 and 1232; the responses are not longer.",
    dig=(
        "dig @{server} -p {port} {large} +norec +dnssec +bufsize=512 +nocookie +ignore",
        "dig @{server} -p {port} {large} +norec +dnssec +bufsize=1232 +nocookie +ignore",
    ),
    needs=("zone", "edns"),
    faults=("ignores-payload-size", "drops-do"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask with small sizes for the largest that there is, and for what is just too large."""
    exchanges = []
    for payload in PAYLOADS:
        places = [place for place in (subject.landmarks.larger_than(payload), *subject.landmarks.large[:1]) if place]
        questions = [(place.name, place.rtype) for place in places] or [(subject.origin, RdataType.DNSKEY)]
        for name, rtype in dict.fromkeys(questions):
            exchange = subject.asker.udp(Query(name=name, rtype=rtype, do=True, payload=payload))
            if exchange.response is None:
                return subject.unanswered(exchange)
            if exchange.octets > payload:
                return failed(f"The response has {exchange.octets} octets, where {payload} were offered.", exchange)
            exchanges.append(exchange)
    if not any(exchange.is_truncated for exchange in exchanges):
        return not_applicable("No response of the zone is known to exceed 512 octets.", *exchanges)
    return passed("No response is longer than was offered.", *exchanges[:2])
