"""A-87: responses of 4000 octets by UDP."""

from dnsrig.items.authoritative._sizes import check_size
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="A-87",
    role="authoritative",
    group="EDNS and size",
    requirement="The server gives responses of more than 4000 octets by UDP.",
    references=("RFC 4035 section 3", "RFC 3226 section 3", "JPRS-2010 A-87"),
    severity=Severity.WARNING,
    consequence="Resolvers fetch signed responses of usual size by TCP, which takes longer and costs the server more.",
    procedure=(
        "An RRset whose response has more than 4000 octets is asked for by UDP, with DO and a payload size of 65535."
    ),
    dig=("dig @{server} -p {port} {large} +norec +dnssec +bufsize=65535 +ignore",),
    needs=("zone", "edns"),
    faults=("cuts-without-tc", "drops-do", "clears-tc"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for such an RRset."""
    return check_size(subject, 4000)
