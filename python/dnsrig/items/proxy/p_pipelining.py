"""P-pipelining: several queries over one TCP connection."""

from dnsrig.verification.item import Item
from dnsrig.verification.subjects.proxy import ProxySubject, Through
from dnsrig.verification.transparency import question_differences
from dnsrig.verification.upstream.questions import plain_query
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

QUERIES = 4

ITEM = Item(
    id="P-pipelining",
    role="proxy",
    group="Size and TCP",
    requirement="Queries that are sent over one TCP connection without waiting are all answered.",
    references=("RFC 7766 section 6.2.1.1", "RFC 7766 section 7", "RFC 5625 section 4.4.1"),
    severity=Severity.WARNING,
    consequence="Clients that keep connections lose answers and wait for them, or open a connection for each query.",
    procedure="Four names are asked for at once over one connection; each gets its own response, in any order.",
    dig=("dig @{server} -p {port} +noedns +tcp +keepopen x.plain.rig.example A y.plain.rig.example A   # dig waits",),
    needs=("tcp",),
    faults=("discards-pipelined", "closes-tcp-after-one", "needs-whole-queries", "proxy-other-question"),
)


def check(subject: ProxySubject) -> Outcome:
    """Send all at once, and match the responses."""
    exchanges = subject.asker.tcp_pipelined([plain_query() for _ in range(QUERIES)])
    for exchange in exchanges:
        if exchange.message is None:
            return subject.unanswered(Through(exchange, subject.seen(exchange.query.name)))
        if question_differences(exchange.asked, exchange.message):
            return failed(f"The response with the ID of {exchange.title} is to another question.", *exchanges)
    return passed(f"All {QUERIES} are answered.", *exchanges)
