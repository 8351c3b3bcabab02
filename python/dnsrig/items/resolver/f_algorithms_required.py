"""F-algorithms-required: algorithms that validators must know."""

from dnsrig.items.resolver._table import PROCEDURE, check_with_statuses
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-algorithms-required",
    role="resolver",
    group="Validation: algorithms and digests",
    requirement="The resolver validates RSA/SHA-256, RSA/SHA-512 and ECDSA P-256/SHA-256.",
    references=("RFC 9904", "RFC 8624 section 3.1", "JPRS-2010 case 5"),
    severity=Severity.ERROR,
    consequence=(
        "Zones signed so, the root among them, do not resolve or are not protected: an algorithm gap, not bad data."
    ),
    procedure=PROCEDURE + "Zones signed by algorithms 8, 10 and 13: the records, AD.",
    dig=("dig @{server} -p {port} www.algorithm-8.nsec. A +dnssec",),
    needs=("validates",),
    faults=("fails-algorithms-required", "lacks-rsa-sha2"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask the questions of the table about algorithms that validators must know."""
    return check_with_statuses(subject, ITEM.id)
