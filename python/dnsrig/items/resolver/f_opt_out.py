"""F-opt-out: opt-out spans."""

from dnsrig.items.resolver._table import PROCEDURE, check_table
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-opt-out",
    role="resolver",
    group="Validation: denial of existence",
    requirement="The resolver takes opt-out spans for insecure, and what is signed below for secure.",
    references=("RFC 5155 section 6", "RFC 5155 section 9.2"),
    severity=Severity.ERROR,
    consequence="Most TLDs use opt-out: either their unsigned names fail, or AD is set where nothing is proven.",
    procedure=PROCEDURE
    + (
        "A missing name in an opt-out span: no AD; a signed zone below it: AD; a missing type at a name "
        "with an NSEC3 record: AD."
    ),
    dig=("dig @{server} -p {port} absent.opt-out. A +dnssec",),
    needs=("validates",),
    faults=("fails-opt-out", "sets-ad-always"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask the questions of the table about opt-out spans."""
    return check_table(subject, ITEM.id)
