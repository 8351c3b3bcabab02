"""N-fragments-6: fragments by IPv6."""

from dnsrig.items.path._sizes import FRAGMENTED, check_ladder
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.path import PathSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="N-fragments-6",
    role="path",
    group="Size",
    requirement="Responses by UDP over IPv6 that are fragmented come through the path.",
    references=("RFC 8900 section 3", "RFC 9715 section 3", "RFC 6891 section 6.2.5"),
    severity=Severity.WARNING,
    consequence=(
        "Large responses are lost where servers and resolvers still allow them by UDP; smaller payload sizes "
        "avoid them."
    ),
    procedure="Responses of 2000 and 4000 octets are asked for by UDP over IPv6 with a payload size of 4096.",
    dig=("dig @{server} -p {port} x.size-2000.rig.example TXT +bufsize=4096 +ignore",),
    needs=("ipv6",),
    faults=(
        "path-drops-over-512",
        "path-drops-fragments",
        "path-drops-fragments-ipv6",
        "path-drops-over-1232-ipv6",
        "path-hides-mtu",
    ),
)


def check(subject: PathSubject) -> Outcome:
    """Ask, and compare."""
    return check_ladder(subject, "ipv6", FRAGMENTED)
