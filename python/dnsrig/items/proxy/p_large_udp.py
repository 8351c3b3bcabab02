"""P-large: responses beyond 4096 octets."""

from dnsrig.items.proxy._sizes import check_size
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="P-large",
    role="proxy",
    group="Size and TCP",
    requirement="Responses beyond 4096 octets come through the proxy, whole by UDP or with TC.",
    references=("RFC 5625 section 4.4.2", "RFC 5625 section 4.4.3"),
    severity=Severity.WARNING,
    consequence="Clients with a large payload size wait for responses that the proxy's buffer has no room for.",
    procedure=(
        "TXT records whose response has 6000 octets are asked for by UDP, with DO and without, with a payload size "
        "of 8192; where TC is set, by TCP."
    ),
    dig=("dig @{server} -p {port} x.size-6000.rig.example TXT +dnssec +bufsize=8192 +ignore",),
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
    return check_size(subject, 6000, payload=8192)
