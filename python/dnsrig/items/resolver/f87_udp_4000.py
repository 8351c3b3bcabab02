"""F-87: responses of 4000 octets by UDP."""

from dnsrig.items.resolver._sizes import check_size
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-87",
    role="resolver",
    group="EDNS and size",
    requirement="The resolver gives responses of more than 4000 octets by UDP.",
    references=("RFC 4035 section 4.1", "RFC 3226 section 3", "JPRS-2010 F-87"),
    severity=Severity.WARNING,
    consequence="Clients fetch signed responses by TCP, which takes longer and costs the resolver more.",
    procedure=(
        "A signed RRset whose response has more than 4000 octets is asked for by UDP, with DO and a payload size of"
        " 4096; where TC is set, by TCP. Today's resolvers truncate at 1232 octets as shipped: that is pass by TCP."
    ),
    dig=("dig @{server} -p {port} large4000.secure.nsec. TXT +dnssec +bufsize=4096 +ignore",),
    needs=("dnssec",),
    faults=("cuts-without-tc", "clears-tc"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask for such an RRset."""
    return check_size(subject, 4000)
