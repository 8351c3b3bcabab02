"""F-parallel: queries at the same time."""

from dns.rdatatype import RdataType

from dnsrig.items._rate import limits_rate
from dnsrig.items.resolver._published import published
from dnsrig.verification.at_once import udp_at_once
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.known_names import Question
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

QUERIES = 100
ROUNDS = 3
"""The first fetches what the others find in the cache."""
WAIT_S = 3.0
MOST_LOST = 0.1
"""Of the queries, which may be lost on their way."""
SINGLE_QUERIES, GAP_S = 40, 0.02
"""Sent one after the other, to see how many the network loses."""
ITEM = Item(
    id="F-parallel",
    role="resolver",
    group="Messages",
    requirement=f"The resolver serves {QUERIES} queries at the same time, each with its own answer.",
    references=("RFC 1035 section 7.1", "RFC 5452 section 9.1"),
    severity=Severity.ERROR,
    consequence="Pages with many names, and several users at once, wait for answers or get those of others.",
    procedure=(
        f"{QUERIES} names of a zone, each with an address of its own, are asked for at once without EDNS, up to "
        f"{ROUNDS} times, until nine of ten are answered. What comes for each name is compared with what the zone has. "
        "Where few are answered each time, small groups of them are asked for one after the other, which tells a limit "
        "of the rate from want of room."
    ),
    dig=("dig @{server} -p {port} h1.secure.nsec. A +noedns   # and 99 others at once",),
    needs=("upstream",),
    faults=("serves-few-at-once", "mixes-answers"),
    runs_alone=True,
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask much at once."""
    queries = [
        Question(name, RdataType.A).plain for name in dict.fromkeys(subject.fresh_host() for _ in range(QUERIES))
    ]
    missing, few, longest_ms = len(queries), [], 0.0
    for _ in range(ROUNDS):
        exchanges = udp_at_once(subject.asker, queries, WAIT_S)
        mixed = [exchange for exchange in exchanges if _is_of_another(subject, exchange)]
        if mixed:
            said = f"{len(mixed)} of {len(queries)} queries at the same time get answers that belong to others"
            return failed(f"{said}.", mixed[0])
        missing = sum(exchange.message is None for exchange in exchanges)
        if missing < MOST_LOST * len(queries):
            answered = len(queries) - missing
            return passed(f"{answered} of {len(queries)} queries at the same time are answered.", exchanges[0])
        few.append(len(queries) - missing)
        longest_ms = max(longest_ms, *(exchange.elapsed_ms for exchange in exchanges))
    if silence := subject.silence():
        return inconclusive(f"The resolver does not answer a single query any more either: {silence}.")
    one_by_one = subject.asker.udp_in_a_row(queries[:SINGLE_QUERIES], GAP_S, WAIT_S)
    lost = sum(exchange.message is None for exchange in one_by_one)
    said = f"{missing} of {len(queries)} queries at the same time are not answered within {WAIT_S:g} s, {ROUNDS} times"
    if lost > MOST_LOST * len(one_by_one):
        return inconclusive(f"{said}; of {len(one_by_one)} one after the other {lost} are not answered either.")
    # What was asked for is in the cache: it costs no more than a small group of it.
    limit = limits_rate(subject.asker, few, longest_ms, lambda number: queries[:number])
    return inconclusive(f"{said}; {limit}.") if limit else failed(f"{said}.")


def _is_of_another(subject: ResolverSubject, exchange: Exchange) -> bool:
    """Say whether a response has another name's question, or other addresses than the zone."""
    message = exchange.message
    if message is None:
        return False
    if any(rrset.name != exchange.query.name for rrset in message.question):
        return True
    right = published(subject, exchange.query.name, RdataType.A)
    given = [rrset for rrset in message.answer if rrset.rdtype == RdataType.A]
    return right is not None and any(set(rrset) != set(right) for rrset in given)
