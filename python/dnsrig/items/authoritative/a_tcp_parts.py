"""A-tcp-parts: queries that come in parts."""

from dnsrig.items.authoritative._probes import soa_query, wrong_soa
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

GAP_S, TRIES = 0.15, 2
ITEM = Item(
    id="A-tcp-parts",
    role="authoritative",
    group="Transport",
    requirement="A query by TCP is answered whatever the segments that it comes in.",
    references=("RFC 7766 section 8", "RFC 1035 section 4.2.2"),
    severity=Severity.WARNING,
    consequence=(
        "Clients whose system sends length and message apart, or whose queries are cut on their way, get no answer by "
        "TCP."
    ),
    procedure=(
        f"The SOA record is asked for by TCP with the query in three segments, {GAP_S:g} s apart: an octet of the "
        f"length, some octets, and the rest; {TRIES} times before the server fails."
    ),
    dig=("# dig sends each query whole",),
    needs=("zone",),
    faults=("needs-whole-queries",),
    is_of_server=True,
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask in parts; where that fails, see whether TCP works at all."""
    exchange = subject.asker.tcp_in_parts(soa_query(subject), GAP_S)
    for _ in range(TRIES - 1):
        if exchange.response is None:
            exchange = subject.asker.tcp_in_parts(soa_query(subject), GAP_S)
    if exchange.response is not None:
        return wrong_soa(subject, exchange) or passed("The query in three segments is answered.", exchange)
    whole = subject.asker.tcp(soa_query(subject))
    if whole.response is None:
        return inconclusive("Whole queries by TCP are not answered either; A-tcp is about that.", whole)
    return failed(f"A query in three segments gets {exchange.trouble}; a whole one is answered.", exchange, whole)
