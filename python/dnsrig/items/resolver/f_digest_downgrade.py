"""F-digest-downgrade: DS records by SHA-1 beside better ones."""

from dnsrig.items.resolver._table import PROCEDURE, check_with_statuses
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-digest-downgrade",
    role="resolver",
    group="Validation: algorithms and digests",
    requirement="The resolver ignores DS records by SHA-1 where there are ones by SHA-256.",
    references=("RFC 4509 section 3",),
    severity=Severity.NOTICE,
    consequence="Once SHA-1 is broken far enough, DS records by it let forged keys in, though better ones are there.",
    procedure=PROCEDURE + "A DS record by SHA-1 that is right beside one by SHA-256 that is wrong: SERVFAIL.",
    dig=("dig @{server} -p {port} www.digest-downgrade.nsec. A +dnssec",),
    needs=("validates",),
    faults=("accepts-digest-downgrade",),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask the questions of the table about DS records by SHA-1 beside better ones."""
    return check_with_statuses(subject, ITEM.id)
