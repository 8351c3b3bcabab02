"""P-wan: the outer side."""

from collections.abc import Iterator

import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.verification.asker import Asker
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

PAYLOAD = 1232

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
    procedure=(
        "The proxy is asked at its outer addresses, those of IPv6 as well as those of IPv4, by UDP without EDNS and"
        " with it, and by TCP."
    ),
    dig=(
        "dig @{outer} x.plain.rig.example A +noedns",
        "dig @{outer} x.plain.rig.example A +bufsize=1232",
        "dig @{outer} x.plain.rig.example A +tcp",
    ),
    needs=("upstream", "wan"),
    faults=("proxy-answers-wan", "proxy-answers-wan-by-ipv6", "proxy-answers-wan-with-edns"),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask from outside."""
    if not subject.wan:
        return inconclusive("No outer address is known.")
    silence = subject.silence()
    if silence:
        return inconclusive(f"The proxy does not answer on its inner side either: {silence}.")
    exchanges = [exchange for asker in subject.wan for exchange in _from_outside(asker)]
    for exchange in exchanges:
        if exchange.rcode is not None and exchange.rcode != dns.rcode.REFUSED:
            return failed(f"It answers {dns.rcode.to_text(exchange.rcode)} to the outer side.", exchange)
    said = "REFUSED" if any(exchange.rcode == dns.rcode.REFUSED for exchange in exchanges) else "no response"
    return passed(f"The outer side gets {said}.", *exchanges)


def _from_outside(asker: Asker) -> Iterator[Exchange]:
    """Ask at an outer address: by UDP without EDNS and with it, and by TCP."""
    for payload in (None, PAYLOAD):
        query = Query(name=names.fresh(names.PLAIN), rtype=RdataType.A, rd=True, payload=payload)
        yield asker.udp_from_anywhere(query)[0]
    yield asker.tcp(query)
