"""A-udp-512: 512 octets without EDNS."""

from dns.rdatatype import RdataType

from dnsrig.items.authoritative._answers import child_of
from dnsrig.items.authoritative._places import delegations
from dnsrig.items.authoritative._sizes import largest_known, nothing_larger
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

LIMIT = 512
ITEM = Item(
    id="A-udp-512",
    role="authoritative",
    group="EDNS and size",
    requirement="A response by UDP to a query without EDNS has at most 512 octets.",
    references=("RFC 1035 section 4.2.1", "RFC 6891 section 6.2.5"),
    severity=Severity.ERROR,
    consequence=(
        "Clients without EDNS drop what is longer, or cut it: they stay without an answer. The server amplifies "
        "forged queries."
    ),
    procedure=(
        "An RRset of more than 512 octets, a name that does not exist and names below delegations are asked for by UDP "
        "without EDNS; the responses have no more than 512."
    ),
    dig=("dig @{server} -p {port} {large} +norec +noedns +ignore",),
    needs=("zone",),
    faults=("exceeds-512", "exceeds-512-in-denials", "exceeds-512-in-referrals"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for RRsets that do not fit, a middling and the largest: a server may have a limit between them."""
    places = [place for place in (subject.landmarks.larger_than(LIMIT), *subject.landmarks.large[:1]) if place]
    asked = [Query(name=place.name, rtype=place.rtype, payload=None) for place in places if place.octets > LIMIT]
    if not asked:
        largest = largest_known(subject, do=False)
        asked = [] if largest is None else [largest.query]
    exchanges = []
    for query in asked:
        exchange = subject.asker.udp(query)
        exchanges.append(exchange)
        if exchange.response is None:
            return subject.unanswered(exchange)
        if exchange.octets > LIMIT:
            return failed(f"The response has {exchange.octets} octets.", exchange)
    below = [child_of(cut, subject.denied_label) for cut in delegations(subject)]
    for name in (subject.absent_name(), *below):
        # Denials and referrals need not exceed the limit, but may.
        exchange = subject.asker.udp(Query(name=name, rtype=RdataType.A, payload=None))
        if exchange.octets > LIMIT:
            return failed(f"The response to {exchange.title} has {exchange.octets} octets.", exchange)
    if not any(exchange.is_truncated or exchange.octets == LIMIT for exchange in exchanges):
        return nothing_larger(subject, LIMIT, do=False)
    return passed(f"The responses have {' and '.join(str(one.octets) for one in exchanges)} octets.", *exchanges)
