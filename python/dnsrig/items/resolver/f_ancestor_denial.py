"""F-ancestor-denial: denials with records of the parent zone."""

from dnsrig.items.resolver._table import PROCEDURE_BOGUS, check_bogus
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-ancestor-denial",
    role="resolver",
    group="Validation: denial of existence",
    requirement="The resolver does not take the record of a delegation as proof about names below it.",
    references=("RFC 6840 section 4.1",),
    severity=Severity.CRITICAL,
    consequence="An attacker can make all names of a signed zone disappear with its parent zone's records.",
    procedure=PROCEDURE_BOGUS
    + "A name denied with the parent zone's NSEC or NSEC3 record of the delegation: SERVFAIL.",
    dig=("dig @{server} -p {port} www.ancestor.nsec. A +dnssec",),
    needs=("validates",),
    faults=(
        "accepts-ancestor-denial",
        "believes-by-tcp",
    ),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask the questions of the table about denials with records of the parent zone."""
    return check_bogus(subject, ITEM.id)
