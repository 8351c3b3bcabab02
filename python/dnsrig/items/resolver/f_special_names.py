"""F-special-names: names that stay with the resolver."""

import dns.name
from dns.rdatatype import RdataType

from dnsrig.items.resolver._failures import list_of
from dnsrig.items.resolver._forged import ask_plainly
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.stopping import thread_pool
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.subjects.special_names import SPECIAL_NAMES, SPECIAL_USES
from dnsrig.verification.tree.seen import SeenQuery
from dnsrig.verification.verdicts import Evidence, Outcome, Severity, failed, inconclusive, passed

ITEM = Item(
    id="F-special-names",
    role="resolver",
    group="Privacy",
    requirement="The resolver answers names of special use itself, and does not ask servers for them.",
    references=tuple(dict.fromkeys(SPECIAL_USES.values())),
    severity=Severity.NOTICE,
    consequence=(
        "The root's servers, and who listens on the way, get to know which onion services, which hosts of the local "
        "network and which private addresses its users ask for; and a local name depends on servers far away."
    ),
    procedure=(
        "A fresh name below each of localhost, invalid, onion, home.arpa, and the reverse zones of private, link-local "
        "and loopback addresses is asked for. No query for a name at or below these comes to the tree's servers. A "
        "resolver that minimises names may show less of what it asks for. Who has asked before may have kept denials "
        "of the zones above, such as the root's: what comes with the SOA record of one tells nothing until the "
        "resolver has been restarted, unless the rig has just started it."
    ),
    dig=(
        "dig @{server} -p {port} any.onion. A +noedns   # and look at what comes to the tree's servers",
        "dig @{server} -p {port} any.10.in-addr.arpa. A +noedns",
    ),
    needs=("upstream", "seen"),
    faults=("asks-for-special-names",),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask below each, and look at the tree's servers."""
    # Others, or a run before this one, may have asked for such names.
    began = 0 if subject.seen is None else len(subject.seen)
    with thread_pool(len(SPECIAL_NAMES), "special") as pool:
        exchanges = list(pool.map(lambda above: ask_plainly(subject, subject.fresh_name(above)), SPECIAL_NAMES))
    answered = [exchange for exchange in exchanges if exchange.message is not None]
    if not answered:
        return subject.unanswered(exchanges[0])
    seen = [one for name in SPECIAL_NAMES for one in _came(subject, name, began)]
    if seen:
        names = dict.fromkeys(_special(one.name).to_text() for one in seen)
        shown = Evidence("queries for them at the tree's servers", list_of(seen))
        return failed(f"Names below {', '.join(names)} are asked for at servers.", exchanges[0], shown)
    if len(answered) < len(exchanges):
        return inconclusive(f"{len(exchanges) - len(answered)} of {len(exchanges)} names are not answered.", *answered)
    kept = [one for one in answered if _is_denial_of_servers(one)]
    if kept and not subject.is_seen_from_start:
        names = dict.fromkeys(_special(one.query.name).to_text() for one in kept)
        said = f"Names below {', '.join(names)} are denied by what servers said before"
        return inconclusive(f"{said}; restart the resolver, and run this item again.", kept[0])
    return passed(f"For {len(exchanges)} names of special use no server is asked.", answered[0])


def _came(subject: ResolverSubject, name: dns.name.Name, began: int) -> list[SeenQuery]:
    return [] if subject.seen is None else [*subject.seen.below(name, began)]


def _special(name: dns.name.Name) -> dns.name.Name:
    return next(above for above in SPECIAL_NAMES if name.is_subdomain(above))


def _is_denial_of_servers(exchange: Exchange) -> bool:
    """Say whether a denial is of a zone above the names of special use: who denies these himself has a zone for it."""
    message = exchange.message
    section = [] if message is None or message.answer else message.authority
    above = _special(exchange.query.name)
    return any(rrset.rdtype == RdataType.SOA and len(rrset.name) < len(above) for rrset in section)
