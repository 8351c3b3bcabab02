"""F-algorithms-unknown: algorithms that nobody knows."""

from dnsrig.items.resolver._table import PROCEDURE, check_with_statuses
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-algorithms-unknown",
    role="resolver",
    group="Validation: algorithms and digests",
    requirement="The resolver takes zones with only unknown algorithms for insecure.",
    references=("RFC 4035 section 5.2", "RFC 6840 section 5.2"),
    severity=Severity.ERROR,
    consequence="No zone can ever move to a new algorithm without being lost to the users of this resolver.",
    procedure=PROCEDURE + "Zones signed by algorithms 1 and 200: the records, no AD.",
    dig=("dig @{server} -p {port} www.algorithm-200.nsec. A +dnssec",),
    needs=("validates",),
    faults=("fails-algorithms-unknown", "sets-ad-always"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask the questions of the table about algorithms that nobody knows."""
    return check_with_statuses(subject, ITEM.id)
