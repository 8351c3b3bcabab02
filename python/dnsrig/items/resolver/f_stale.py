"""F-stale: TTLs of what is given beyond its time."""

import dns.name
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.items.resolver._failures import list_of
from dnsrig.items.resolver._forged import ask_plainly, fresh_in
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.stopping import pause
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.tree.seen import SeenQuery
from dnsrig.verification.tree.zones_down import GOES_DOWN
from dnsrig.verification.tree.zones_ttls import SHORT_TTL_S
from dnsrig.verification.verdicts import Evidence, Outcome, Severity, failed, inconclusive, passed

NAMES = 2
LEAST_S, MOST_S = 1, 300
"""30 s are recommended, and operators choose; minutes are still no harm."""
SPARE_S = 1.5
AGAIN_S = 2.0
"""Those that give what has expired may do so only after a while, and later ones with it."""
ITEM = Item(
    id="F-stale",
    role="resolver",
    group="Messages",
    requirement=f"What the resolver gives beyond its TTL, as servers fail, has a TTL of {LEAST_S} to {MOST_S} s.",
    references=("RFC 8767 section 4", "RFC 8767 section 5"),
    severity=Severity.WARNING,
    consequence=(
        "Clients and the caches behind it keep what has expired long after the servers are back, or with a TTL of 0 "
        "ask for it all the time."
    ),
    procedure=(
        f"Two names with a TTL of {SHORT_TTL_S} s are asked for, and again twice when it has passed; the server "
        "answers then with SERVFAIL. What is answered with the records all the same has such a TTL; 30 s are advised. "
        "SERVFAIL is right too."
    ),
    dig=(f"dig @{{server}} -p {{port}} any.fresh.{GOES_DOWN} A +noedns   # and once more after {SHORT_TTL_S + 2} s",),
    needs=("upstream", "seen"),
    faults=("gives-stale-for-hours",),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask, wait, and ask again."""
    names = [fresh_in(subject, GOES_DOWN) for _ in range(NAMES)]
    first = [ask_plainly(subject, name) for name in names]
    ttls = [_ttl(exchange) for exchange in first]
    if any(ttl is None or ttl > SHORT_TTL_S for ttl in ttls):
        return inconclusive(f"Names are not answered with their TTL of {SHORT_TTL_S} s at first (see F-ttl).", *first)
    asked = len(_seen(subject, names))
    pause(SHORT_TTL_S + SPARE_S)
    later = [ask_plainly(subject, name) for name in names]
    pause(AGAIN_S)
    later += [ask_plainly(subject, name) for name in names]
    shown = Evidence("queries for them at the tree's servers", list_of(_seen(subject, names)))
    if len(_seen(subject, names)) == asked:
        return inconclusive("Nobody is asked again when the TTL has passed (see F-ttl-passed).", *later[:1], shown)
    stale = [exchange for exchange in later if _ttl(exchange) is not None]
    wrong = [exchange for exchange in stale if not LEAST_S <= (_ttl(exchange) or 0) <= MOST_S]
    if wrong:
        return failed(f"What has expired is given with a TTL of {_ttl(wrong[0])} s.", wrong[0], shown)
    if stale:
        return passed(f"What has expired is given with a TTL of {_ttl(stale[0])} s.", stale[0], shown)
    failing = sum(exchange.rcode == dns.rcode.SERVFAIL for exchange in later)
    return passed(f"Nothing that has expired is given; {failing} of {len(later)} are answered with SERVFAIL.", later[0])


def _seen(subject: ResolverSubject, names: list[dns.name.Name]) -> list[SeenQuery]:
    return [one for name in names for one in subject.seen_of(name)]


def _ttl(exchange: Exchange) -> int | None:
    answer = [] if exchange.message is None else exchange.message.answer
    return next((int(rrset.ttl) for rrset in answer if rrset.rdtype == RdataType.A), None)
