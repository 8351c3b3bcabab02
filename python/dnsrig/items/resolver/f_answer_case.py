"""F-answer-case: the case of names in responses."""

from dnsrig.items.resolver._table import PROCEDURE, check_table
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-answer-case",
    role="resolver",
    group="Servers that are wrong",
    requirement="The resolver takes responses whose names are in another case than it asked in.",
    references=("RFC 4343 section 4.1", "RFC 1035 section 2.3.3"),
    severity=Severity.ERROR,
    consequence="Zones of servers that change the case do not resolve.",
    procedure=(
        PROCEDURE + "A zone whose server gives owner names in upper case, and "
        "one whose server gives the question back in lower case."
    ),
    dig=("dig @{server} -p {port} www.mixed-case.nsec. A +dnssec",),
    needs=("upstream",),
    faults=("fails-answer-case", "compares-case"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask the questions of the table about such servers."""
    return check_table(subject, ITEM.id)
