"""F-digests-unknown: digest types that nobody knows."""

from dnsrig.items.resolver._table import PROCEDURE, check_with_statuses
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-digests-unknown",
    role="resolver",
    group="Validation: algorithms and digests",
    requirement="The resolver takes zones with only unknown DS digests for insecure.",
    references=("RFC 6840 section 5.2",),
    severity=Severity.ERROR,
    consequence="No parent zone can ever move to a new digest without losing its child zones.",
    procedure=PROCEDURE + "A DS record by digest type 200: the records, no AD.",
    dig=("dig @{server} -p {port} www.digest-200.nsec. A +dnssec",),
    needs=("validates",),
    faults=("fails-digests-unknown", "sets-ad-always"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask the questions of the table about digest types that nobody knows."""
    return check_with_statuses(subject, ITEM.id)
