"""F-algorithms-mixed: known and unknown algorithms together."""

from dnsrig.items.resolver._table import PROCEDURE, check_with_statuses
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-algorithms-mixed",
    role="resolver",
    group="Validation: algorithms and digests",
    requirement="The resolver validates a zone by the DS records whose algorithm it knows.",
    references=("RFC 6840 section 5.11", "RFC 4035 section 5.2"),
    severity=Severity.ERROR,
    consequence="Zones that change to a new algorithm are lost, or not protected, during the change.",
    procedure=PROCEDURE + "A zone with DS records of algorithms 13 and 200: the records, AD.",
    dig=("dig @{server} -p {port} www.algorithms-mixed.nsec. A +dnssec",),
    needs=("validates",),
    faults=("fails-algorithms-mixed",),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask the questions of the table about known and unknown algorithms together."""
    return check_with_statuses(subject, ITEM.id)
