"""F-iterations: NSEC3 without iterations."""

from dnsrig.items.resolver._table import PROCEDURE, check_with_statuses
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-iterations",
    role="resolver",
    group="Validation: denial of existence",
    requirement="The resolver validates NSEC3 proofs without iterations, and answers where there are some.",
    references=("RFC 9276 section 3.2", "RFC 5155 section 10.3"),
    severity=Severity.ERROR,
    consequence="Missing names and types of zones with NSEC3 become failures, delays or silence.",
    procedure=PROCEDURE
    + (
        "Missing names and types of zones with 0, 50, 100, 150, 500 and 2500 iterations: with 0 AD; with "
        "others AD, no AD, or SERVFAIL, as the resolver's limits are. The evidence has the ladder."
    ),
    dig=(
        "dig @{server} -p {port} absent.iterations-0.nsec3. A +dnssec",
        "dig @{server} -p {port} absent.iterations-150.nsec3. A +dnssec",
    ),
    needs=("upstream", "validates"),
    faults=("fails-iterations",),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask the questions of the table, and show what came for each number of iterations."""
    return check_with_statuses(subject, ITEM.id)
