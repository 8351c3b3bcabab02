"""F-tcp: TCP."""

import dns.rcode

from dnsrig.items.resolver._probes import rcode_text
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

HELPLESS = {dns.rcode.REFUSED, dns.rcode.NOTIMP, dns.rcode.FORMERR}
"""What tells that queries are not taken by this way; SERVFAIL may come from servers upstream."""
ITEM = Item(
    id="F-tcp",
    role="resolver",
    group="EDNS and size",
    requirement="The resolver answers by TCP.",
    references=("RFC 7766 section 5", "RFC 9210 section 3"),
    severity=Severity.ERROR,
    consequence="What does not fit into a datagram cannot be had: clients that get TC stay without an answer.",
    procedure="A name that resolves is asked for by TCP without EDNS: there is a response as by UDP.",
    dig=("dig @{server} -p {port} www.control.unsigned. A +noedns +tcp",),
    needs=("names",),
    faults=("no-tcp",),
    is_of_server=True,
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask the same by UDP and by TCP."""
    by_udp, by_tcp = subject.plain_control, subject.tcp_control
    if by_tcp.response is None:
        return subject.unanswered(by_tcp)
    if by_udp.rcode != by_tcp.rcode and by_tcp.rcode in HELPLESS:
        return failed(f"By TCP {rcode_text(by_tcp)} comes, by UDP {rcode_text(by_udp)}.", by_tcp, by_udp)
    if by_tcp.rcode != dns.rcode.NOERROR:
        return inconclusive(f"By TCP {rcode_text(by_tcp)} comes, by UDP {rcode_text(by_udp)}.", by_tcp, by_udp)
    return passed("NOERROR by TCP.", by_tcp)
