"""F-answer-case: the case of names in responses."""

from dnsrig.items.resolver._servers import check_names
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-answer-case",
    role="resolver",
    group="Servers that are wrong",
    requirement="The resolver takes responses whose names are in another case than it asked in.",
    references=("RFC 1035 section 2.3.3", "RFC 4343 section 3"),
    severity=Severity.ERROR,
    consequence="Zones of servers that change the case do not resolve.",
    procedure=(
        "A zone whose server gives owner names in upper case, and "
        "one whose server gives the question back in lower case."
    ),
    dig=("dig @{server} -p {port} www.mixed-case.nsec. A",),
    needs=("upstream",),
    faults=("fails-answer-case", "compares-case"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask for names of such servers."""
    return check_names(subject, ITEM.id)
