"""A-pipelining: several queries at once by TCP."""

from dns.rdatatype import RdataType

from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.stopping import pause
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

PAUSES_S = (1.0, 2.0)
"""Before what is not answered is asked for again."""
SLOW_MS = 500.0
"""A server that takes so long for a query alone is too slow to tell anything by several."""
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
        "question, in any order. Where one has none, all are sent again, twice; and that one alone, to see whether the "
        "server is slow by TCP: if so, there is no verdict."
    ),
    dig=("dig @{server} -p {port} +norec +noedns +tcp +keepopen {zone} SOA {zone} NS   # dig waits between them",),
    needs=("zone",),
    faults=(
        "no-tcp",
        "drops-tcp",
        "wrong-id-by-tcp",
        "discards-pipelined",
        "closes-tcp-after-one",
        "drops-question",
        "other-question",
        "drops-question-by-tcp",
        "needs-whole-queries",
    ),
    is_of_server=True,
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Send four, and match the responses."""
    types = (RdataType.SOA, RdataType.NS, RdataType.MX)
    queries = [Query(name=subject.origin, rtype=rtype, payload=None) for rtype in types]
    queries.append(Query(name=subject.absent_name(), rtype=RdataType.A, payload=None))
    exchanges = subject.asker.tcp_pipelined(queries)
    for pause_s in PAUSES_S:
        if all(exchange.response is not None for exchange in exchanges):
            break
        # A server, or a machine, that has much to do may be late.
        pause(pause_s)
        exchanges = subject.asker.tcp_pipelined(queries)
    for exchange in exchanges:
        if exchange.message is None:
            return _slow_by_tcp(subject, exchange) or subject.unanswered(exchange)
        questions = [(one.name, one.rdtype) for one in exchange.message.question]
        if questions != [(exchange.query.name, exchange.query.rtype)]:
            return failed(f"The response with the ID of {exchange.title} is to another question.", *exchanges)
    return passed("All four were answered.", *exchanges)


def _slow_by_tcp(subject: AuthoritativeSubject, exchange: Exchange) -> Outcome | None:
    """Give no verdict where the query that had no response is answered late, or not at once, also when it is alone."""
    if exchange.response is not None:
        return None
    alone = subject.asker.tcp(exchange.query)
    if alone.response is None or (alone.tries == 1 and alone.elapsed_ms < SLOW_MS):
        return None
    seconds = f"{alone.elapsed_ms / 1e3:.1f} s"
    how = f"after {seconds}" if alone.tries == 1 else f"at its {alone.tries}. try, after {seconds}"
    return inconclusive(f"The server is slow by TCP: {exchange.title} alone is answered {how}.", exchange, alone)
