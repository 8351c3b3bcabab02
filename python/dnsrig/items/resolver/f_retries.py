"""F-retries: how often a silent server is asked."""

from collections import Counter

import dns.name

from dnsrig.items.resolver._failures import ask_once, list_of
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Evidence, Outcome, Severity, failed, passed

MOST = 3
ITEM = Item(
    id="F-retries",
    role="resolver",
    group="Servers that are wrong",
    requirement="The resolver sends a query three times at most to a server that is silent, by each transport.",
    references=("RFC 9520 section 3.1",),
    severity=Severity.WARNING,
    consequence="What clients ask is multiplied on the way to servers that are overloaded already.",
    procedure=(
        "A name whose only server is silent is asked for once. Within 12 s, no more than three queries for the same "
        "name and type come to the server by UDP, and no more than three by TCP."
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
    """Ask once."""
    name = subject.fresh_name(dns.name.from_text("dead.nsec."))
    exchange = ask_once(subject, name)
    # Some try for longer than any client waits: what they send in this time is counted.
    seen = [*subject.seen_of(name)]
    if not seen:
        return passed("The server was not asked at all: the resolver knows it to be silent.", exchange)
    shown = Evidence(f"queries for {name} at the tree's servers", list_of(seen))
    (server, transport, rtype), most = Counter((one.server, one.transport, one.rtype) for one in seen).most_common(1)[0]
    said = (
        f"{server} was asked for {name} {rtype.name} {most} {'time' if most == 1 else 'times'} by {transport.upper()}"
    )
    return failed(f"{said}.", shown) if most > MOST else passed(f"{said}.", shown)
