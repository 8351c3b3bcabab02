"""N-85: EDNS through the path."""

from dataclasses import replace

from dns.rdatatype import RdataType

from dnsrig.items.path._through import different
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.path import PathSubject, Way
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

OCTETS = 900

ITEM = Item(
    id="N-85",
    role="path",
    group="JPRS-2010 case 6",
    requirement="Signed responses beyond 512 octets come through the path by UDP, and truncated ones by TCP.",
    references=("JPRS-2010 case 6, F-85 and A-85", "RFC 6891 section 6.2.5", "RFC 7766 section 5"),
    severity=Severity.ERROR,
    consequence="Resolvers behind the path get signed data late or not at all.",
    procedure=(
        "A response of 900 octets is asked for by UDP over IPv4 and IPv6 with DO and a payload size of 4096, with and "
        "without RD; then with 512, and by TCP."
    ),
    dig=(
        "dig @{server} -p {port} x.size-900.rig.example TXT +dnssec +bufsize=4096",
        "dig @{server} -p {port} x.size-900.rig.example TXT +dnssec +bufsize=512",
    ),
    faults=(
        "path-drops-over-512",
        "path-blocks-tcp",
        "path-resets-tcp",
        "path-blocks-tcp-ipv6",
        "path-clears-do",
        "path-clears-do-ipv6",
    ),
)


def check(subject: PathSubject) -> Outcome:
    """Ask, and compare."""
    shown: tuple[Exchange, ...] = ()
    for family in subject.families:
        for rd in (True, False):
            found = _ask(subject, subject.way(family), rd=rd)
            if isinstance(found, Outcome):
                return found
            shown = found
    return passed(f"{OCTETS} octets come by UDP, and by TCP where the payload size is 512.", *shown)


def _ask(subject: PathSubject, way: Way, *, rd: bool) -> tuple[Exchange, ...] | Outcome:
    query = Query(name=names.fresh(names.sized(OCTETS)), rtype=RdataType.TXT, rd=rd, do=True, payload=4096)
    by_udp = way.asker.udp(query)
    if by_udp.message is None:
        return subject.lost(way, by_udp)
    if by_udp.is_truncated or by_udp.octets < OCTETS:
        return different(way, by_udp)
    if not any(rrset.rdtype == RdataType.RRSIG for rrset in by_udp.message.answer):
        return failed("The response to a query with DO has no signatures.", by_udp)
    small = replace(query, payload=512)
    cut = way.asker.udp(small)
    if cut.message is None:
        return subject.lost(way, cut)
    if not cut.is_truncated:
        return different(way, cut)
    by_tcp = way.asker.tcp(small)
    if by_tcp.message is None or by_tcp.octets < OCTETS:
        return subject.lost(way, by_tcp, "tcp")
    return by_udp, cut
