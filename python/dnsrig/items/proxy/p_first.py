"""P-first: the first query for a name."""

from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.upstream.questions import plain_query
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

QUERIES, GAP_S, WAIT_S = 20, 0.05, 1.5
MOST_LOST, ENOUGH = 0.25, 0.75
"""Shares: of first queries that may be lost anyhow, and of second ones that are answered if nothing else is wrong."""

ITEM = Item(
    id="P-first",
    role="proxy",
    group="Protection",
    requirement="The first query for a name is answered; no client has to send it again.",
    references=("RFC 5625 section 3", "RFC 1035 section 4.2.1"),
    severity=Severity.WARNING,
    consequence="Each name that nobody has asked for lately costs clients the seconds after which they ask again.",
    procedure=(
        f"{QUERIES} names are asked for once each by UDP, {GAP_S * 1e3:g} ms apart; where more than a quarter is not "
        "answered, the same are asked for again: what then is answered was held up the first time."
    ),
    dig=("dig @{server} -p {port} x.plain.rig.example A +noedns +tries=1",),
    needs=("upstream",),
    faults=("proxy-drops-first",),
    runs_alone=True,
)


def check(subject: ProxySubject) -> Outcome:
    """Ask once, and once more."""
    queries = [plain_query() for _ in range(QUERIES)]
    first = _answered(subject, queries)
    if first >= QUERIES * (1 - MOST_LOST):
        return passed(f"{first} of {QUERIES} names are answered the first time.")
    again = _answered(subject, queries)
    others = _answered(subject, [plain_query() for _ in range(QUERIES)])
    said = f"{first} of {QUERIES} names are answered the first time, {again} the second; of others {others}"
    if again >= QUERIES * ENOUGH and max(first, others) <= QUERIES * (1 - ENOUGH):
        return failed(f"{said} the first time.")
    return inconclusive(subject.silence() or f"{said} the first time: messages are lost.")


def _answered(subject: ProxySubject, queries: list[Query]) -> int:
    return sum(one.message is not None for one in subject.asker.udp_in_a_row(queries, GAP_S, WAIT_S))
