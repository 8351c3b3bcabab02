"""F-retries: how often a silent server is asked."""

from collections import Counter

import dns.name
from dns.rdatatype import RdataType

from dnsrig.items.resolver._failures import ask_once, list_of
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.tree.seen import SeenQuery
from dnsrig.verification.tree.zones_serving import SILENT as SILENT_SERVER
from dnsrig.verification.verdicts import Evidence, Outcome, Severity, failed, inconclusive, passed

SILENT = dns.name.from_text("dead.nsec.")
"""Its server is silent; no other item asks for it."""
MOST, ONCE = 3, 1
NAMES = 3
"""So many names are asked for at most, until the server was asked for one."""
RESTART = "it may know from before that the server is silent: restart the resolver, and run this item again"
ITEM = Item(
    id="F-retries",
    role="resolver",
    group="Servers that are wrong",
    requirement="The resolver sends a query three times at most to a server that is silent, by each transport.",
    references=("RFC 9520 section 3.1",),
    severity=Severity.WARNING,
    consequence="What clients ask is multiplied on the way to servers that are overloaded already.",
    procedure=(
        "A name whose only server is silent is asked for once; within 12 s, no more than three queries for the name "
        "and a type come to the server by UDP, and no more than three by TCP. Where none came, or a single one from a "
        "resolver that the rig did not start, two other names are asked for: resolvers remember for many minutes that "
        "a server is silent, and ask it for hardly a name then. Where it is not asked for each, there is no verdict "
        "until the resolver has been restarted."
    ),
    dig=(
        (
            "dig @{server} -p {port} any.dead.nsec. A +tries=1 +timeout=12   # and look at what comes to the tree's "
            "servers"
        ),
    ),
    needs=("upstream", "seen"),
    faults=("retries-often",),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask once, and for other names where nothing, or hardly anything, comes to the server."""
    exchanges: list[Exchange] = []
    asked: list[list[SeenQuery]] = []
    began = 0 if subject.seen is None else len(subject.seen)
    for _ in range(NAMES):
        name = subject.fresh_name(SILENT)
        exchanges.append(ask_once(subject, name))
        # Some try for longer than any client waits: what they send in this time is counted. Some ask for keys first.
        seen = [one for one in _came(subject, began) if one.name in {name, SILENT}]
        if seen and (subject.is_seen_from_start or _most(seen) > ONCE):
            return _judged(seen)
        asked += [seen] if seen else []
    if len(asked) == NAMES:
        return _judged(asked[0])
    restart = "" if subject.is_seen_from_start else f"; {RESTART}"
    if asked:
        said = f"The server that is silent was asked for {len(asked)} of {NAMES} names"
        return inconclusive(f"{said}{restart}.", *exchanges)
    return inconclusive(f"The server that is silent was not asked for any of {NAMES} names{restart}.", *exchanges)


def _came(subject: ResolverSubject, began: int) -> list[SeenQuery]:
    """Give what came to the silent server itself: those of zones above are asked where it is."""
    queries = [] if subject.seen is None else subject.seen.below(SILENT, began)
    server = None if subject.tree is None else subject.tree.addresses[SILENT_SERVER]
    return [one for one in queries if server in {None, one.server}]


def _counted(seen: list[SeenQuery]) -> Counter[tuple[str, str, dns.name.Name, RdataType]]:
    """Count the queries for one name and type to one server by one transport."""
    return Counter((one.server, one.transport, one.name.canonicalize(), one.rtype) for one in seen)


def _most(seen: list[SeenQuery]) -> int:
    return max(_counted(seen).values())


def _judged(seen: list[SeenQuery]) -> Outcome:
    shown = Evidence(f"queries below {SILENT} at the tree's servers", list_of(seen))
    (server, transport, name, rtype), most = _counted(seen).most_common(1)[0]
    said = (
        f"{server} was asked for {name} {rtype.name} {most} {'time' if most == 1 else 'times'} by {transport.upper()}"
    )
    return failed(f"{said}.", shown) if most > MOST else passed(f"{said}.", shown)
