"""F-failure-cache-bogus: remembered validation failures."""

from dnsrig.items.resolver._failures import check_remembered
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import BOGUS_FRESH, ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-failure-cache-bogus",
    role="resolver",
    group="Servers that are wrong",
    requirement="The resolver remembers for a second at least that a name is bogus.",
    references=("RFC 9520 section 3.4", "RFC 4035 section 4.7"),
    severity=Severity.WARNING,
    consequence=(
        "Clients that ask again, as they do, have each of their queries sent upstream many times over: outages "
        "grow to storms."
    ),
    procedure=(
        "A bogus name is asked for; then three times again within a second, which leads to no query for it upstream."
    ),
    dig=(
        (
            "dig @{server} -p {port} any.fresh.control-bogus.nsec. A   # four times, and look at what comes to the "
            "tree's servers"
        ),
    ),
    needs=("upstream", "validates", "seen"),
    faults=("forgets-bogus",),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask four times."""
    return check_remembered(subject, BOGUS_FRESH, "which is bogus")
