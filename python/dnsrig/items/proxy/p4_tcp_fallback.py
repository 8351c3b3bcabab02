"""P-4: truncation and TCP."""

from dns.rdatatype import RdataType

from dnsrig.items.proxy._through import is_whole, octets_by_tcp, wrong_rcode
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

OCTETS = 2000

ITEM = Item(
    id="P-4",
    role="proxy",
    group="Size and TCP",
    requirement="Where a response is too long for UDP, the client gets TC, and the whole response by TCP.",
    references=("RFC 5625 section 4.4.1", "RFC 7766 section 5", "JPRS-2010 case 7 item 4"),
    severity=Severity.ERROR,
    consequence="Clients get part of the records, or wait for a connection that is never taken.",
    procedure="TXT records whose response has 2000 octets are asked for by UDP without EDNS, then by TCP.",
    dig=(
        "dig @{server} -p {port} x.size-2000.rig.example TXT +noedns +ignore",
        "dig @{server} -p {port} x.size-2000.rig.example TXT +noedns +tcp",
    ),
    needs=("upstream",),
    faults=("cuts-without-tc", "clears-tc", "no-tcp", "proxy-drops-tcp", "proxy-cuts-tcp", "proxy-sets-tc-by-tcp"),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask by UDP, then by TCP."""
    query = Query(name=names.fresh(names.sized(OCTETS)), rtype=RdataType.TXT, rd=True, payload=None)
    by_udp = subject.ask(query)
    if by_udp.client.response is None:
        return subject.unanswered(by_udp)
    if wrong := wrong_rcode(by_udp):
        return wrong
    if not by_udp.client.is_truncated and not is_whole(subject, by_udp):
        return failed(f"{by_udp.client.octets} octets of {OCTETS} come by UDP, and TC does not say so.", by_udp.client)
    by_tcp = subject.ask(query, "tcp")
    if by_tcp.client.message is None:
        return failed(f"The response is truncated, and there is {by_tcp.client.trouble}.", by_udp.client, by_tcp.client)
    if wrong := wrong_rcode(by_tcp):
        return wrong
    if not is_whole(subject, by_tcp):
        return failed(f"By TCP, the response has {octets_by_tcp(by_tcp, OCTETS)}.", by_tcp.client)
    return passed(f"TC by UDP, and {by_tcp.client.octets} octets by TCP.", by_udp.client)
