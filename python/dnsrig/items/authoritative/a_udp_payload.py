"""A-udp-payload: the client's payload size."""

from dns.rdatatype import RdataType

from dnsrig.items.authoritative._sizes import largest_known, nothing_larger
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

PAYLOADS = (512, 1232)
LARGEST_TRIED = 4096
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
    procedure=(
        "The largest RRset is asked for with DO and payload sizes of 512 and 1232, others of more than 512 octets with "
        "one less than their data have; the responses are not longer."
    ),
    dig=(
        "dig @{server} -p {port} {large} +norec +dnssec +bufsize=512 +nocookie +ignore",
        "dig @{server} -p {port} {large} +norec +dnssec +bufsize=1232 +nocookie +ignore",
    ),
    needs=("zone", "edns"),
    faults=("ignores-payload-size", "ignores-payload-size-above-512", "drops-do"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask with small sizes for the largest that there is, and for what is just too large."""
    exchanges = []
    for payload in PAYLOADS:
        places = [place for place in (subject.landmarks.larger_than(payload), *subject.landmarks.large[:1]) if place]
        questions = [(place.name, place.rtype) for place in places]
        if not any(place.octets > payload for place in places):
            questions.append((subject.origin, RdataType.DNSKEY))
            largest = largest_known(subject)
            if largest is not None:
                questions.append((largest.query.name, RdataType.make(largest.query.rtype)))
        for name, rtype in dict.fromkeys(questions):
            exchange = subject.asker.udp(Query(name=name, rtype=rtype, do=True, payload=payload))
            wrong = _too_large(subject, exchange, payload)
            if wrong is not None:
                return wrong
            exchanges.append(exchange)
    for place in subject.landmarks.large:
        # What fits into the server's own limit, and not into the client's, shows whose it keeps to.
        payload = place.octets - 1
        if not PAYLOADS[0] <= payload <= LARGEST_TRIED:
            continue
        exchange = subject.asker.udp(Query(name=place.name, rtype=place.rtype, do=True, payload=payload))
        wrong = _too_large(subject, exchange, payload)
        if wrong is not None:
            return wrong
        exchanges.append(exchange)
    if not any(exchange.is_truncated for exchange in exchanges):
        return nothing_larger(subject, PAYLOADS[0])
    return passed("No response is longer than was offered.", *exchanges[:2])


def _too_large(subject: AuthoritativeSubject, exchange: Exchange, payload: int) -> Outcome | None:
    """Judge a response; None if it has no more octets than were offered."""
    if exchange.response is None:
        return subject.unanswered(exchange)
    if exchange.octets > payload:
        return failed(f"The response has {exchange.octets} octets, where {payload} were offered.", exchange)
    return None
