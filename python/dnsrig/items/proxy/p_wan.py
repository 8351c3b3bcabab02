"""P-wan: the outer side."""

import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

ITEM = Item(
    id="P-wan",
    role="proxy",
    group="Protection",
    requirement="The proxy answers no queries that come from the outer side.",
    references=("RFC 5625 section 6.2",),
    severity=Severity.ERROR,
    consequence=(
        "Anyone can use the proxy to multiply and redirect traffic to a victim, and to look into its network's names."
    ),
    procedure="The proxy is asked at its outer address, by UDP and TCP.",
    dig=("dig @{outer} x.plain.rig.example A", "dig @{outer} x.plain.rig.example A +tcp"),
    needs=("upstream", "wan"),
    faults=("proxy-answers-wan",),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask from outside."""
    if subject.wan is None:
        return inconclusive("No outer address is known.")
    query = Query(name=names.fresh(names.PLAIN), rtype=RdataType.A, rd=True, payload=None)
    silence = subject.silence()
    if silence:
        return inconclusive(f"The proxy does not answer on its inner side either: {silence}.")
    by_udp, _ = subject.wan.udp_from_anywhere(query)
    by_tcp = subject.wan.tcp(query)
    for exchange in (by_udp, by_tcp):
        if exchange.rcode is not None and exchange.rcode != dns.rcode.REFUSED:
            return failed(f"It answers {dns.rcode.to_text(exchange.rcode)} to the outer side.", exchange)
    said = "REFUSED" if dns.rcode.REFUSED in {by_udp.rcode, by_tcp.rcode} else "no response"
    return passed(f"The outer side gets {said}.", by_udp, by_tcp)
