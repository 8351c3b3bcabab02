"""F-algorithms-optional: algorithms that validators may know."""

from dnsrig.items.resolver._table import PROCEDURE, check_with_statuses
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-algorithms-optional",
    role="resolver",
    group="Validation: algorithms and digests",
    requirement="The resolver validates other algorithms, or takes zones signed by them for insecure.",
    references=("RFC 4035 section 5.2", "RFC 9904", "RFC 8624 section 3.1"),
    severity=Severity.ERROR,
    consequence=(
        "Zones signed so do not resolve at all, where users of resolvers that do not know the algorithm "
        "should get them."
    ),
    procedure=PROCEDURE
    + ("Zones signed by algorithms 3, 5, 7, 14, 15 and 16: the records; AD says which of them it validates."),
    dig=("dig @{server} -p {port} www.algorithm-15.nsec. A +dnssec",),
    needs=("validates",),
    faults=("fails-algorithms-optional",),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask the questions of the table about algorithms that validators may know."""
    return check_with_statuses(subject, ITEM.id)
