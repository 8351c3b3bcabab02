"""F-failure-cache: remembered failures."""

import dns.name

from dnsrig.items.resolver._failures import check_remembered
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-failure-cache",
    role="resolver",
    group="Servers that are wrong",
    requirement="The resolver remembers for a second at least that the servers of a name fail.",
    references=("RFC 9520 section 3.2",),
    severity=Severity.WARNING,
    consequence=(
        "Clients that ask again, as they do, have each of their queries sent upstream many times over: outages "
        "grow to storms."
    ),
    procedure=(
        "A name is asked for whose only server answers with REFUSED; then three times again within a second, "
        "which leads to "
        "no query upstream."
    ),
    dig=("dig @{server} -p {port} any.fails.unsigned. A   # four times, and look at what comes to the tree's servers",),
    needs=("upstream", "seen"),
    faults=("forgets-failures",),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask four times."""
    return check_remembered(subject, dns.name.from_text("fails.unsigned."), "whose server refuses")
