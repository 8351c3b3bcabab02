"""F-retries: how often a silent server is asked."""

from collections import Counter

import dns.name

from dnsrig.items.resolver._failures import ask_once, list_of
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.tree.seen import SeenQuery
from dnsrig.verification.verdicts import Evidence, Outcome, Severity, failed, inconclusive, passed

SILENT = dns.name.from_text("dead.nsec.")
"""Its server is silent; no other item asks for it."""
MOST = 3
NAMES = 3
"""So many names are asked for at most, until the server was asked for one."""
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
        "and a type come to the server by UDP, and no more than three by TCP. Where none came, as from a resolver that "
        "knows the server to be silent, two other names are asked for, and then there is no verdict."
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
    """Ask once, and for other names where nothing comes to the server."""
    exchanges: list[Exchange] = []
    began = 0 if subject.seen is None else len(subject.seen)
    for _ in range(NAMES):
        name = subject.fresh_name(SILENT)
        exchanges.append(ask_once(subject, name))
        # Some try for longer than any client waits: what they send in this time is counted. Some ask for keys first.
        came = [] if subject.seen is None else subject.seen.below(SILENT, began)
        seen = [one for one in came if one.name in {name, SILENT}]
        if seen:
            return _judged(seen)
    return inconclusive(f"The server that is silent was not asked for any of {NAMES} names.", *exchanges)


def _judged(seen: list[SeenQuery]) -> Outcome:
    """Count the queries for one name and type to one server by one transport."""
    shown = Evidence(f"queries below {SILENT} at the tree's servers", list_of(seen))
    asked = Counter((one.server, one.transport, one.name.canonicalize(), one.rtype) for one in seen)
    (server, transport, name, rtype), most = asked.most_common(1)[0]
    said = (
        f"{server} was asked for {name} {rtype.name} {most} {'time' if most == 1 else 'times'} by {transport.upper()}"
    )
    return failed(f"{said}.", shown) if most > MOST else passed(f"{said}.", shown)
