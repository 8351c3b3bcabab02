"""P-large-tcp: large responses by TCP."""

from dns.rdatatype import RdataType

from dnsrig.items.proxy._through import is_whole, octets_by_tcp, wrong_rcode
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

OCTETS = 65_000

ITEM = Item(
    id="P-large-tcp",
    role="proxy",
    group="Size and TCP",
    requirement="Responses of 65000 octets come through the proxy by TCP.",
    references=("RFC 5625 section 4.4.1", "RFC 1035 section 4.2.2"),
    severity=Severity.WARNING,
    consequence="RRsets with many or long records cannot be resolved behind the proxy.",
    procedure="TXT records whose response has 65000 octets are asked for by TCP.",
    dig=("dig @{server} -p {port} x.size-65000.rig.example TXT +tcp",),
    needs=("edns",),
    faults=(
        "no-tcp",
        "proxy-drops-tcp",
        "proxy-cuts-tcp",
        "proxy-cuts-tcp-at-32767",
        "proxy-keeps-first-strings",
        "proxy-sets-tc-by-tcp",
    ),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask for such a response by TCP."""
    through = subject.ask(Query(name=names.fresh(names.sized(OCTETS)), rtype=RdataType.TXT, rd=True), "tcp")
    if through.client.message is None:
        return subject.unanswered(through)
    if wrong := wrong_rcode(through):
        return wrong
    if not is_whole(subject, through):
        return failed(f"By TCP, the response has {octets_by_tcp(through, OCTETS)}.", through.client)
    return passed(f"A response of {through.client.octets} octets comes by TCP.")
