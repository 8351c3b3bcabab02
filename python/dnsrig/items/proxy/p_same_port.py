"""P-same-port: queries from one port."""

from dnsrig.items._same_port import check_same_port
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="P-same-port",
    role="proxy",
    group="Integrity",
    requirement="Queries that a client sends at once from one port are all answered.",
    references=("RFC 5625 section 3", "RFC 1035 section 4.1.1"),
    severity=Severity.ERROR,
    consequence="Stubs that ask for A and AAAA from one port, as those of most systems do, wait seconds for each name.",
    procedure=(
        "A and AAAA of a name are asked for at once from one port, up to six times, until both are answered, which the "
        "upstream does a tenth of a second later."
    ),
    dig=("getent ahosts x.plain.rig.example   # with the proxy in /etc/resolv.conf",),
    needs=("upstream",),
    faults=("answers-once-a-port", "closes-after-response"),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask for both at once."""
    return check_same_port(subject.asker)
