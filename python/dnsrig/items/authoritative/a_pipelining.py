"""A-pipelining: several queries at once by TCP."""

from dns.rdatatype import RdataType

from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.stopping import pause
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

PAUSE_S = 1.0
ITEM = Item(
    id="A-pipelining",
    role="authoritative",
    group="Transport",
    requirement="Queries that are sent over one TCP connection without waiting are all answered.",
    references=("RFC 7766 section 6.2.1.1", "RFC 7766 section 7"),
    severity=Severity.WARNING,
    consequence="Resolvers that keep connections lose answers and wait for them, or open a connection for each query.",
    procedure=(
        "Four different queries are sent at once over one connection; each gets a response with its ID and "
        "question, in any order."
    ),
    dig=("dig @{server} -p {port} +norec +noedns +tcp +keepopen {zone} SOA {zone} NS   # dig waits between them",),
    needs=("zone",),
    faults=(
        "no-tcp",
        "drops-tcp",
        "discards-pipelined",
        "closes-tcp-after-one",
        "drops-question",
        "other-question",
        "needs-whole-queries",
    ),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Send four, and match the responses."""
    types = (RdataType.SOA, RdataType.NS, RdataType.MX)
    queries = [Query(name=subject.origin, rtype=rtype, payload=None) for rtype in types]
    queries.append(Query(name=subject.absent_name(), rtype=RdataType.A, payload=None))
    exchanges = subject.asker.tcp_pipelined(queries)
    if any(exchange.response is None for exchange in exchanges):
        # A server, or a machine, that has much to do may be late.
        pause(PAUSE_S)
        exchanges = subject.asker.tcp_pipelined(queries)
    for exchange in exchanges:
        if exchange.message is None:
            return subject.unanswered(exchange)
        questions = [(one.name, one.rdtype) for one in exchange.message.question]
        if questions != [(exchange.query.name, exchange.query.rtype)]:
            return failed(f"The response with the ID of {exchange.title} is to another question.", *exchanges)
    return passed("All four were answered.", *exchanges)
