"""N-sizes-6: sizes without fragments, by IPv6."""

from dnsrig.items.path._sizes import UNFRAGMENTED, check_ladder
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.path import PathSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="N-sizes-6",
    role="path",
    group="Size",
    requirement="Responses by UDP over IPv6 that fit into a packet of 1500 octets come through the path.",
    references=("RFC 6891 section 6.2.3", "RFC 9715 section 3"),
    severity=Severity.ERROR,
    consequence="Answers above the size that passes are lost, and each is found out by waiting.",
    procedure="Responses of rising sizes are asked for by UDP over IPv6 with a payload size of 4096.",
    dig=(
        "dig @{server} -p {port} x.size-1232.rig.example TXT +bufsize=4096 +ignore",
        "dig @{server} -p {port} x.size-1400.rig.example TXT +bufsize=4096 +ignore",
    ),
    needs=("ipv6",),
    faults=("path-drops-over-512", "path-hides-mtu", "path-drops-over-1232-ipv6"),
)


def check(subject: PathSubject) -> Outcome:
    """Ask, and compare."""
    return check_ladder(subject, "ipv6", UNFRAGMENTED)
