"""F-tcp-upstream: TCP where UDP is truncated."""

from dnsrig.items.resolver._servers import check_names
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
    procedure=("A zone whose server truncates every response by UDP: the records come."),
    dig=("dig @{server} -p {port} www.truncates.nsec. A",),
    needs=("upstream",),
    faults=("fails-tcp-upstream", "has-no-tcp"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask for names of such servers."""
    return check_names(subject, ITEM.id)
