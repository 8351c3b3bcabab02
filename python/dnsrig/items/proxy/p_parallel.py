"""P-parallel: queries at the same time."""

from dnsrig.items._rate import limits_rate
from dnsrig.verification.at_once import udp_at_once
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.transparency import owner_differences
from dnsrig.verification.upstream.questions import plain_query
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

QUERIES = 100
ROUNDS = 2
WAIT_S = 3.0
MOST_LOST = 0.1
"""Of the queries, which may be lost on their way."""
MORE_LOST = 0.4
"""By how much the share that is lost at once must be above that of single ones, where these are lost too."""
SINGLE_QUERIES, GAP_S = 40, 0.05
"""Sent one after the other, to see how many the network loses."""

ITEM = Item(
    id="P-parallel",
    role="proxy",
    group="Protection",
    requirement="The proxy serves 100 queries at the same time, each with its own answer.",
    references=("RFC 5625 section 3",),
    severity=Severity.WARNING,
    consequence="Pages with many names, and several users at once, wait for answers or get those of others.",
    procedure=(
        "100 names are asked for at once; where one in ten is not answered, a second time. What comes for each name is "
        "compared with what the upstream sent for it. Where few are answered each time, small groups of names are "
        "asked for one after the other, which tells a limit of the rate from want of room."
    ),
    dig=("dig @{server} -p {port} x.plain.rig.example A",),
    needs=("upstream",),
    faults=("proxy-few-at-once", "proxy-mixes-answers"),
    runs_alone=True,
)


def check(subject: ProxySubject) -> Outcome:
    """Ask much at once."""
    missing, few, longest_ms = 0, [], 0.0
    for _ in range(ROUNDS):
        exchanges = udp_at_once(subject.asker, [plain_query() for _ in range(QUERIES)], WAIT_S)
        mixed = [exchange for exchange in exchanges if _is_of_another(subject, exchange)]
        if mixed:
            return failed(
                f"{len(mixed)} of {QUERIES} queries at the same time get responses that belong to others.", mixed[0]
            )
        missing = sum(exchange.message is None for exchange in exchanges)
        if missing < MOST_LOST * QUERIES:
            return passed(
                f"{QUERIES - missing} of {QUERIES} queries at the same time are answered within {WAIT_S:g} s."
            )
        few.append(QUERIES - missing)
        longest_ms = max(longest_ms, *(exchange.elapsed_ms for exchange in exchanges))
    silence = subject.silence()
    if silence:
        return inconclusive(f"The proxy does not answer a single query any more either: {silence}.")
    one_by_one = [plain_query() for _ in range(SINGLE_QUERIES)]
    lost = sum(one.message is None for one in subject.asker.udp_in_a_row(one_by_one, GAP_S, WAIT_S))
    said = f"{missing} of {QUERIES} queries at the same time are not answered within {WAIT_S:g} s"
    if lost and missing / QUERIES <= MORE_LOST + lost / SINGLE_QUERIES:
        return inconclusive(f"{said}; of {SINGLE_QUERIES} one after the other {lost} are not answered either.")
    limit = limits_rate(subject.asker, few, longest_ms, lambda number: [plain_query() for _ in range(number)])
    return inconclusive(f"{said}; {limit}.") if limit else failed(f"{said}.")


def _is_of_another(subject: ProxySubject, exchange: Exchange) -> bool:
    """Whether a response is about another name than was asked for, or came without the upstream having been asked."""
    message = exchange.message
    if message is None:
        return False
    sent = [one.answer for one in subject.seen(exchange.query.name)]
    return not any(not owner_differences(answer, message) for answer in sent)
