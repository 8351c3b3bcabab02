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
    references=("RFC 4035 section 3", "RFC 3226 section 3", "JPRS-2010 F-87"),
    severity=Severity.WARNING,
    consequence="Clients fetch large responses by TCP, which takes longer and costs the resolver more.",
    procedure=(
        "TXT records whose response has more than 4000 octets are asked for by UDP, with DO and a payload size of "
        "65535."
    ),
    dig=("dig @{server} -p {port} large4200.secure.nsec. TXT +dnssec +bufsize=65535 +ignore",),
    needs=("dnssec",),
    faults=("cuts-without-tc", "clears-tc"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask for such records."""
    return check_size(subject, "large4200.secure.nsec.", 4000)
