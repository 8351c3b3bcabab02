"""A-once: one response to a query."""

from dnsrig.items.authoritative._probes import soa_query
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

TRIES = 3
LISTEN_S = 0.3
ITEM = Item(
    id="A-once",
    role="authoritative",
    group="Transport",
    requirement="A query by UDP gets one response.",
    references=("RFC 1034 section 3.7",),
    severity=Severity.WARNING,
    consequence="The server sends, and its clients get, twice the traffic; forged queries are amplified by as much.",
    procedure=(
        "The SOA record is asked for by a single datagram, up to three times. A server fails if each of the three gets "
        "more than one response within 0.3 s of the first: a network may double a message now and then."
    ),
    dig=("dig @{server} -p {port} {zone} SOA +norec +noedns +tries=1   # while tcpdump counts the responses",),
    needs=("zone",),
    faults=("answers-twice",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Count the responses."""
    for _ in range(TRIES):
        exchange, count = subject.asker.udp_count(soa_query(subject), LISTEN_S)
        if count == 0:
            return inconclusive(f"There is {exchange.trouble}; A-plain is about that.", exchange)
        if count == 1:
            return passed("There is one response.", exchange)
    return failed(f"There are {count} responses to the one query.", exchange)
