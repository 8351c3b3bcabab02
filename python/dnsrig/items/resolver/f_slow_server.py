"""F-slow-server: servers that take a second."""

from dnsrig.items.resolver._servers import check_names
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-slow-server",
    role="resolver",
    group="Servers that are wrong",
    requirement="The resolver waits a second for a server.",
    references=("RFC 1035 section 7.2", "RFC 9520 section 3.1"),
    severity=Severity.WARNING,
    consequence="Zones whose servers are far or busy do not resolve.",
    procedure=("A zone whose server answers after a second."),
    dig=("dig @{server} -p {port} www.slow.nsec. A",),
    needs=("upstream",),
    faults=("fails-slow-server", "hurries"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask for names of such servers."""
    return check_names(subject, ITEM.id)
