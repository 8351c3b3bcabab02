"""F-secure-nsec3: NSEC3 proofs."""

from dnsrig.items.resolver._table import PROCEDURE, check_table
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-secure-nsec3",
    role="resolver",
    group="Validation: denial of existence",
    requirement="The resolver accepts NSEC3 proofs of missing names, missing types and wildcards.",
    references=("RFC 5155 section 8",),
    severity=Severity.ERROR,
    consequence=(
        "Names that come from wildcards do not resolve in the many zones with NSEC3, and missing ones become failures."
    ),
    procedure=PROCEDURE
    + ("Missing names, missing types, an empty non-terminal and names from a wildcard of a zone with NSEC3."),
    dig=("dig @{server} -p {port} absent.secure.nsec3. A +dnssec",),
    needs=("validates",),
    faults=("fails-secure-nsec3",),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask the questions of the table about NSEC3 proofs."""
    return check_table(subject, ITEM.id)
