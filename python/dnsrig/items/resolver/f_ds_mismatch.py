"""F-ds-mismatch: DS records that match no key."""

from dnsrig.items.resolver._table import PROCEDURE, check_table
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-ds-mismatch",
    role="resolver",
    group="Validation: chains of trust",
    requirement="The resolver does not accept keys that no DS record vouches for.",
    references=("RFC 4035 section 5.2",),
    severity=Severity.CRITICAL,
    consequence="Anybody can sign a forged zone with keys of their own.",
    procedure=PROCEDURE + "DS records with another digest, key tag, algorithm, or of another key: SERVFAIL.",
    dig=("dig @{server} -p {port} www.ds-digest.nsec. A +dnssec",),
    needs=("validates",),
    faults=("accepts-ds-mismatch",),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask the questions of the table about DS records that match no key."""
    return check_table(subject, ITEM.id)
