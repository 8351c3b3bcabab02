"""P-3: responses of 4000 octets."""

from dnsrig.items.proxy._sizes import check_size
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="P-3",
    role="proxy",
    group="Size and TCP",
    requirement="Responses of 4000 octets come through the proxy by UDP to clients whose payload size allows them.",
    references=("RFC 5625 section 4.4.2", "RFC 6891 section 6.2.5", "JPRS-2010 case 7 item 3"),
    severity=Severity.ERROR,
    consequence=(
        "Signed responses come cut or not at all: validation fails for the clients behind the proxy, for "
        "names of large zones first."
    ),
    procedure=(
        "TXT records whose response has 4000 octets are asked for by UDP with DO and without, with a payload size "
        "of 4096; where TC is set, by TCP."
    ),
    dig=("dig @{server} -p {port} x.size-4000.rig.example TXT +dnssec +bufsize=4096 +ignore",),
    needs=("upstream",),
    faults=(
        "cuts-without-tc",
        "drops-large",
        "drops-edns",
        "formerr-to-edns",
        "proxy-cuts-octets",
        "proxy-drops-over-1232",
    ),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask for such a response."""
    return check_size(subject, 4000, payload=4096)
