"""F-mixed-chains: signed zones below unsigned ones."""

from dnsrig.items.resolver._table import PROCEDURE, check_table
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-mixed-chains",
    role="resolver",
    group="Validation: chains of trust",
    requirement="The resolver gives signed zones below unsigned ones without AD, whatever their signatures.",
    references=("RFC 4035 section 4.3", "RFC 4035 section 5.2"),
    severity=Severity.ERROR,
    consequence="Names do not resolve whose parent zone is unsigned, or AD is set without a chain of trust.",
    procedure=PROCEDURE
    + ("Signed zones, one of them expired, below unsigned ones: the records, no AD; below signed ones: AD."),
    dig=("dig @{server} -p {port} www.island.plain.nsec. A +dnssec",),
    needs=("validates",),
    faults=("fails-mixed-chains", "sets-ad-always"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask the questions of the table about signed zones below unsigned ones."""
    return check_table(subject, ITEM.id)
