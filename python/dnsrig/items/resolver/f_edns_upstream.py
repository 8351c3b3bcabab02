"""F-edns-upstream: servers without EDNS."""

from dnsrig.items.resolver._servers import check_names
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-edns-upstream",
    role="resolver",
    group="Servers that are wrong",
    requirement="The resolver gets along with servers that answer EDNS with FORMERR, or have none.",
    references=("RFC 6891 section 6.2.2", "RFC 6891 section 7"),
    severity=Severity.ERROR,
    consequence="Zones of old servers do not resolve.",
    procedure=(
        "A zone whose server answers queries with EDNS with FORMERR, and one whose server leaves the OPT record out."
    ),
    dig=("dig @{server} -p {port} www.no-edns-formerr.unsigned. A",),
    needs=("upstream",),
    faults=("fails-edns-upstream", "insists-on-edns"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask for names of such servers."""
    return check_names(subject, ITEM.id)
