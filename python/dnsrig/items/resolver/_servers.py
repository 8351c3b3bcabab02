"""What items about zones with one server of two that is wrong share."""

from collections.abc import Sequence

import dns.name
import dns.rcode

from dnsrig.items.resolver._forged import ask_plainly, fresh_in
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.stopping import thread_pool
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.tree.zones_serving import WRONG
from dnsrig.verification.verdicts import Evidence, Outcome, failed, inconclusive, passed

NAMES = 8
"""So many names of a zone are asked for at most, until its wrong server was asked for two of them."""
ENOUGH = 2


def has_records(exchange: Exchange) -> bool:
    """Say whether the records are there."""
    message = exchange.message
    return exchange.rcode == dns.rcode.NOERROR and message is not None and bool(message.answer)


def check_zones(subject: ResolverSubject, zones: Sequence[str], *, names: int = NAMES, failures: int = 1) -> Outcome:
    """Ask for names of zones, all zones at once; a name that is not answered well is asked for once more.

    A zone fails where so many of its `names` do: more than one where a resolver remembers that a name failed, so that
    asking for it once more does not tell a lost message.
    """
    with thread_pool(len(zones), "zone") as pool:
        found = list(pool.map(lambda zone: _check_zone(subject, zone, names, failures), zones))
    wrong = [one[0] for one, _ in found if len(one) >= failures]
    doubtful = [one[0] for one, _ in found if 0 < len(one) < failures]
    shown = Evidence("zones", "\n".join(line for _, line in found))
    if wrong:
        if all(exchange.message is None for exchange in wrong) and subject.silence():
            return subject.unanswered(wrong[0])
        said = "; ".join(_said(exchange) for exchange in wrong)
        return failed(f"Of {len(zones)} zones with a server that is right, {len(wrong)} fail: {said}.", *wrong, shown)
    if doubtful:
        return inconclusive(f"Once, which may be for a lost message: {_said(doubtful[0])}.", doubtful[0], shown)
    return passed(f"{len(zones)} zones resolve by their server that is right.", shown)


def _check_zone(subject: ResolverSubject, zone: str, names: int, failures: int) -> tuple[list[Exchange], str]:
    """Give the exchanges that are wrong, and a line that says how often the zone's servers were asked."""
    asked = wrong_asked = 0
    wrong: list[Exchange] = []
    while asked < names and wrong_asked < ENOUGH and len(wrong) < failures:
        name = fresh_in(subject, zone)
        exchange = _ask(subject, name)
        asked += 1
        wrong_asked += _went_to_wrong(subject, name)
        wrong += [] if has_records(exchange) else [exchange]
    return wrong, f"{zone} {asked} names asked for, {wrong_asked} of them of the server that is wrong"


def check_names(subject: ResolverSubject, item_id: str) -> Outcome:
    """Ask for the names of an item in the tree's table, whose records are to come; signatures do not matter."""
    rows = subject.rows(item_id)
    if not rows:
        return inconclusive("The tree has no question for this.")
    asked = [(row, _ask(subject, row.name)) for row in rows]
    wrong = [(row, exchange) for row, exchange in asked if not has_records(exchange)]
    if all(exchange.message is None for _, exchange in asked) and subject.silence():
        return subject.unanswered(asked[0][1])
    if wrong:
        said = "; ".join(f"{_said(exchange)} ({row.case.what})" for row, exchange in wrong)
        return failed(f"{said[:1].upper()}{said[1:]}.", *(exchange for _, exchange in wrong))
    return passed(f"{len(asked)} {'name is' if len(asked) == 1 else 'names are'} answered.", asked[0][1])


def _ask(subject: ResolverSubject, name: dns.name.Name) -> Exchange:
    """Ask, once more if it is not answered well: a message upstream may have been lost."""
    exchange = ask_plainly(subject, name)
    return exchange if has_records(exchange) else ask_plainly(subject, name)


def _went_to_wrong(subject: ResolverSubject, name: dns.name.Name) -> bool:
    if subject.tree is None:
        return False
    address = subject.tree.addresses[WRONG]
    return any(one.server == address for one in subject.seen_of(name))


def _said(exchange: Exchange) -> str:
    if exchange.rcode is None:
        return exchange.trouble
    if exchange.rcode == dns.rcode.NOERROR:
        return f"{exchange.query.name} is answered without the records"
    return f"{exchange.query.name} is answered with {dns.rcode.to_text(exchange.rcode)}"
