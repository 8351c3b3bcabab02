"""N-86: responses of 1220 octets through the path."""

from dnsrig.items.path._sizes import check_size
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.path import PathSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="N-86",
    role="path",
    group="JPRS-2010 case 6",
    requirement="Responses of 1220 octets come through the path by UDP.",
    references=("JPRS-2010 case 6, F-86 and A-86", "RFC 4035 section 3", "RFC 6891 section 6.2.5"),
    severity=Severity.ERROR,
    consequence=(
        "Signed responses are lost: resolvers ask again with smaller sizes and by TCP, and each first answer "
        "takes seconds."
    ),
    procedure=(
        "TXT records whose response has 1220 octets are asked for by UDP over IPv4 and IPv6, with DO and a payload "
        "size of 4096, with and without RD, in a signed zone and in an unsigned one, whose responses have OPT and no "
        "signatures."
    ),
    dig=(
        "dig @{server} -p {port} x.size-1220.rig.example TXT +dnssec +bufsize=4096 +ignore",
        "dig @{server} -p {port} x.size-1220.unsigned.example TXT +dnssec +bufsize=4096 +ignore",
    ),
    faults=(
        "path-drops-over-512",
        "path-clears-do",
        "path-clears-do-ipv6",
        "path-strips-signatures-of-types-in-use",
        "path-strips-opt-of-unsigned",
        "path-truncates-unsigned",
    ),
)


def check(subject: PathSubject) -> Outcome:
    """Ask, and compare."""
    return check_size(subject, 1220)
