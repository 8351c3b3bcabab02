"""F-tcp-upstream: TCP where UDP is truncated."""

from dnsrig.items.resolver._table import PROCEDURE, check_table
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-tcp-upstream",
    role="resolver",
    group="Servers that are wrong",
    requirement="The resolver asks again by TCP where a response is truncated.",
    references=("RFC 7766 section 5", "RFC 2181 section 9"),
    severity=Severity.ERROR,
    consequence="Names with large responses, such as keys, do not resolve.",
    procedure=(PROCEDURE + "A zone whose server truncates every response by UDP: the records, AD."),
    dig=("dig @{server} -p {port} www.truncates.nsec. A +dnssec",),
    needs=("upstream",),
    faults=("fails-tcp-upstream", "has-no-tcp"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask the questions of the table about such servers."""
    return check_table(subject, ITEM.id)
