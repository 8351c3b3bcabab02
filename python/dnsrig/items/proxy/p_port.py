"""P-port: random source ports."""

from dnsrig.items.proxy._guessing import check_ports
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="P-port",
    role="proxy",
    group="Protection",
    requirement="The source ports of the proxy's queries cannot be guessed.",
    references=("RFC 5625 section 6.1", "RFC 5452 section 9.2"),
    severity=Severity.CRITICAL,
    consequence=(
        "Forged responses can be put into the proxy's cache, and before its clients, by who cannot see its queries."
    ),
    procedure="100 names are asked for one after the other by UDP; what the upstream saw does not follow a pattern.",
    dig=("dig @{server} -p {port} x.plain.rig.example A",),
    needs=("upstream",),
    faults=("proxy-fixed-source-port",),
)


def check(subject: ProxySubject) -> Outcome:
    """Look at many queries."""
    return check_ports(subject)
