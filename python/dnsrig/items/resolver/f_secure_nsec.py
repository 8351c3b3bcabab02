"""F-secure-nsec: NSEC proofs."""

from dnsrig.items.resolver._table import PROCEDURE, check_table
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-secure-nsec",
    role="resolver",
    group="Validation: denial of existence",
    requirement="The resolver accepts NSEC proofs of missing names, missing types and wildcards.",
    references=("RFC 4035 section 5.4", "RFC 4592 section 3.3", "RFC 6840 section 5.1"),
    severity=Severity.ERROR,
    consequence=(
        "Names that come from wildcards do not resolve, and missing names or types become failures and delays."
    ),
    procedure=PROCEDURE
    + (
        "Missing names, missing types, an empty non-terminal and names from a wildcard of a zone with NSEC; a name and "
        "a type that NSEC records deny whose next names have capitals."
    ),
    dig=("dig @{server} -p {port} absent.secure.nsec. A +dnssec",),
    needs=("validates",),
    faults=("fails-secure-nsec",),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask the questions of the table about NSEC proofs."""
    return check_table(subject, ITEM.id)
