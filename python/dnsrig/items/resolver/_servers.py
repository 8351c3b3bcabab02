"""What items about zones with one server of two that is wrong share."""

from collections.abc import Sequence
from dataclasses import dataclass

import dns.name
import dns.rcode

from dnsrig.items.resolver._forged import ask_plainly, fresh_in
from dnsrig.items.resolver._table import PAUSES_S
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.stopping import pause, thread_pool
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.tree.zones_serving import WRONG
from dnsrig.verification.verdicts import Evidence, Outcome, failed, inconclusive, passed

NAMES = 8
"""So many names of a zone are asked for at most, until its wrong server was asked for two of them."""
ENOUGH = 2
FAILURES = 2


def has_records(exchange: Exchange) -> bool:
    """Say whether the records are there."""
    message = exchange.message
    return exchange.rcode == dns.rcode.NOERROR and message is not None and bool(message.answer)


def check_zones(subject: ResolverSubject, zones: Sequence[str], *, names: int = NAMES) -> Outcome:
    """Ask for names of zones, all zones at once; a name that is not answered well is asked for once more.

    Resolvers remember that a name failed, so that asking for it once more does not tell a lost message: what is said
    rests on two names that fail, of one zone or of several.
    """
    with thread_pool(len(zones), "zone") as pool:
        found = list(pool.map(lambda zone: _check_zone(subject, zone, names), zones))
    wrong = [one.wrong for one in found if one.wrong]
    first = [exchanges[0] for exchanges in wrong]
    shown = Evidence("zones", "\n".join(one.line for one in found))
    if sum(len(exchanges) for exchanges in wrong) >= FAILURES:
        if all(exchange.message is None for exchange in first) and subject.silence():
            return subject.unanswered(first[0])
        said = "; ".join(_said(exchange) for exchange in first)
        return failed(f"Of {len(zones)} zones with a server that is right, {len(wrong)} fail: {said}.", *first, shown)
    if wrong:
        return inconclusive(f"Once, which may be for a lost message: {_said(first[0])}.", first[0], shown)
    if not any(one.wrong_asked for one in found) and not _was_met(subject):
        return inconclusive("The server that is wrong was never asked.", shown)
    return passed(f"{len(zones)} zones resolve by their server that is right.", shown)


@dataclass(frozen=True, slots=True)
class _Found:
    """What came of a zone's names."""

    wrong: list[Exchange]
    asked: int
    wrong_asked: int
    """So many of the names the server that is wrong was asked for."""
    zone: str

    @property
    def line(self) -> str:
        return f"{self.zone} {self.asked} names asked for, {self.wrong_asked} of them of the server that is wrong"


def _check_zone(subject: ResolverSubject, zone: str, names: int) -> _Found:
    asked = wrong_asked = 0
    wrong: list[Exchange] = []
    while asked < names and wrong_asked < ENOUGH and len(wrong) < FAILURES:
        name = fresh_in(subject, zone)
        exchange = _ask(subject, name)
        asked += 1
        wrong_asked += _went_to_wrong(subject, name)
        wrong += [] if has_records(exchange) else [exchange]
    return _Found(wrong, asked, wrong_asked, zone)


def check_places(
    subject: ResolverSubject, places: Sequence[dns.name.Name], what: str, believed: dns.name.Name | None = None
) -> Outcome:
    """Ask for fresh names below each place, all places at once; two that fail below one place decide.

    `what` says, in words that go on after "names", which they are. Below the place `believed` all names may be denied.
    """
    with thread_pool(len(places), "place") as pool:
        found = list(pool.map(lambda place: [_ask(subject, subject.fresh_name(place)) for _ in range(ENOUGH)], places))
    exchanges = [exchange for asked in found for exchange in asked]
    wrong = [[exchange for exchange in asked if not has_records(exchange)] for asked in found]
    denied = [
        exchange
        for place, asked in zip(places, found, strict=True)
        for exchange in asked
        if place == believed and exchange.rcode == dns.rcode.NXDOMAIN
    ]
    wrong = [[exchange for exchange in asked if exchange not in denied] for asked in wrong]
    shown = [asked[0] for asked in wrong if asked]
    if all(exchange.message is None for exchange in exchanges) and subject.silence():
        return subject.unanswered(exchanges[0])
    if any(len(asked) == ENOUGH for asked in wrong):
        said = "; ".join(_said(asked[0]) for asked in wrong if len(asked) == ENOUGH)
        return failed(f"{said[:1].upper()}{said[1:]}.", *shown)
    if shown:
        return inconclusive(f"Once, which may be for a lost message: {_said(shown[0])}.", *shown)
    if denied:
        said = f"The resolver believes NXDOMAIN (RFC 8020): so {denied[0].query.name} is answered"
        return passed(f"{said}; {len(exchanges) - len(denied)} names {what} are answered.", denied[0])
    return passed(f"{len(exchanges)} names {what} are answered.", exchanges[0])


def check_names(subject: ResolverSubject, item_id: str) -> Outcome:
    """Ask for the names of an item in the tree's table, whose records are to come; signatures do not matter."""
    rows = subject.rows(item_id)
    if not rows:
        return inconclusive("The tree has no question for this.")
    asked = [(row, _ask(subject, row.name)) for row in rows]
    for pause_s in PAUSES_S:
        if all(has_records(exchange) for _, exchange in asked):
            break
        pause(pause_s)
        asked = [(row, one if has_records(one) else ask_plainly(subject, row.name)) for row, one in asked]
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


def _was_met(subject: ResolverSubject) -> bool:
    """Say whether the server that is wrong was asked for anything: resolvers remember an address that fails them."""
    if subject.seen is None or subject.tree is None or not subject.is_seen_from_start:
        return True
    address = subject.tree.addresses[WRONG]
    return any(one.server == address for one in subject.seen.since(0))


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
