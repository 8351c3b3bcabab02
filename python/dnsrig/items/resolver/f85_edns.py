"""F-85: large responses by UDP with EDNS."""

from dataclasses import replace

import dns.name
from dns.rdatatype import RdataType

from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.resolver import UNSIGNED, ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

KEYS = dns.name.from_text("algorithm-8.nsec.")
"""A zone with two keys of 2048 bits, whose response exceeds 512 octets."""
LARGE, SMALL = 4096, 512
ITEM = Item(
    id="F-85",
    role="resolver",
    group="EDNS and size",
    requirement="The resolver gives responses beyond 512 octets by UDP to clients that can take them.",
    references=("RFC 6891 section 6.2.5", "RFC 3226 section 3", "JPRS-2010 F-85"),
    severity=Severity.ERROR,
    consequence="Validating clients must fetch keys by TCP for every name, or cannot where TCP is blocked, and fail.",
    procedure=(
        "The DNSKEY RRset of a zone with keys of 2048 bits is asked for with DO and a UDP payload size of 4096: the "
        "response has more than 512 octets, DNSKEY and RRSIG records, no TC, and an OPT record. With a payload size of "
        "512 it has TC, and the records come by TCP. Of a zone that is not signed the response has no RRSIG records, "
        "no TC, and an OPT record."
    ),
    dig=(
        "dig @{server} -p {port} algorithm-8.nsec. DNSKEY +dnssec +bufsize=4096 +ignore",
        "dig @{server} -p {port} algorithm-8.nsec. DNSKEY +dnssec +bufsize=512 +ignore",
        "dig @{server} -p {port} www.control.unsigned. A +dnssec +ignore",
    ),
    needs=("dnssec",),
    faults=("resolver-ignores-payload-size", "resolver-strips-opt", "cuts-without-tc", "clears-tc", "no-tcp"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask for keys with a large and a small payload size, and in a zone that is not signed."""
    query = Query(name=KEYS, rtype=RdataType.DNSKEY, rd=True, do=True, payload=LARGE)
    large = subject.asker.udp(query)
    if large.message is None:
        return subject.unanswered(large)
    if large.message.edns < 0:
        return failed("The response has no OPT record, though the query had one.", large)
    if large.is_truncated:
        return failed(f"The response is truncated, though {LARGE} octets would have been taken.", large)
    lacking = [rtype.name for rtype in (RdataType.DNSKEY, RdataType.RRSIG) if not _has(large, rtype)]
    if lacking:
        return failed(f"The response lacks the {' and '.join(lacking)} records.", large)
    if large.octets <= SMALL:
        return inconclusive(f"The response has only {large.octets} octets, so any resolver can give it.", large)
    small = subject.asker.udp(replace(query, payload=SMALL))
    if small.message is None and not small.is_truncated:
        return subject.unanswered(small)
    if not small.is_truncated:
        return failed(f"The response to a client that takes {SMALL} octets has no TC.", large, small)
    by_tcp = subject.asker.tcp(replace(query, payload=SMALL))
    if by_tcp.message is None:
        return subject.unanswered(by_tcp)
    if not _has(by_tcp, RdataType.DNSKEY):
        return failed("The records do not come by TCP either.", large, small, by_tcp)
    plain = subject.asker.udp(Query(name=UNSIGNED, rtype=RdataType.A, rd=True, do=True, payload=LARGE))
    if plain.message is None:
        return subject.unanswered(plain)
    if plain.message.edns < 0 or plain.is_truncated or _has(plain, RdataType.RRSIG):
        return failed("The response about a zone that is not signed lacks OPT, or has TC or RRSIG.", plain)
    return passed(f"{large.octets} octets came by UDP; with {SMALL}, TC and the records by TCP.", large, small)


def _has(exchange: Exchange, rtype: RdataType) -> bool:
    return exchange.message is not None and any(rrset.rdtype == rtype for rrset in exchange.message.answer)
