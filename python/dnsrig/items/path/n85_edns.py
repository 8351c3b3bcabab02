"""N-85: EDNS through the path."""

from dataclasses import replace
from itertools import product

import dns.name
from dns.rdatatype import RdataType

from dnsrig.items.path._sizes import wrong_signatures
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
        "without RD; then with 512, and by TCP. The same is asked in a zone that is not signed, and for its DNSKEY "
        "RRset: responses have OPT and no signatures there, and TC only where the size says so."
    ),
    dig=(
        "dig @{server} -p {port} x.size-900.rig.example TXT +dnssec +bufsize=4096",
        "dig @{server} -p {port} x.size-900.rig.example TXT +dnssec +bufsize=512",
        "dig @{server} -p {port} x.size-900.unsigned.example TXT +dnssec +bufsize=4096",
        "dig @{server} -p {port} unsigned.example DNSKEY +dnssec +bufsize=4096 +ignore",
    ),
    faults=(
        "path-drops-over-512",
        "path-blocks-tcp",
        "path-resets-tcp",
        "path-blocks-tcp-ipv6",
        "path-clears-do",
        "path-clears-do-ipv6",
        "path-strips-signatures-of-types-in-use",
        "path-strips-signatures-by-tcp",
        "path-strips-opt-of-unsigned",
        "path-truncates-unsigned",
    ),
)


def check(subject: PathSubject) -> Outcome:
    """Ask, and compare."""
    shown: tuple[Exchange, ...] = ()
    for family in subject.families:
        for rd, zone in product((True, False), (names.ORIGIN, names.UNSIGNED)):
            found = _ask(subject, subject.way(family), zone, rd=rd)
            if isinstance(found, Outcome):
                return found
            shown = found
        wrong = _ask_for_no_keys(subject, subject.way(family))
        if wrong is not None:
            return wrong
    said = f"{OCTETS} octets come by UDP, and by TCP where the payload size is 512, signed and unsigned ones."
    return passed(said, *shown)


def _ask(subject: PathSubject, way: Way, zone: dns.name.Name, *, rd: bool) -> tuple[Exchange, ...] | Outcome:
    query = Query(name=names.fresh(names.sized(OCTETS), zone), rtype=RdataType.TXT, rd=rd, do=True, payload=4096)
    by_udp = way.asker.udp(query)
    if by_udp.message is None:
        return subject.lost(way, by_udp)
    if by_udp.is_truncated or by_udp.octets < OCTETS:
        return different(way, by_udp)
    if wrong := wrong_signatures(by_udp):
        return wrong
    small = replace(query, payload=512)
    cut = way.asker.udp(small)
    if cut.message is None:
        return subject.lost(way, cut)
    if not cut.is_truncated:
        return different(way, cut)
    by_tcp = way.asker.tcp(small)
    if by_tcp.message is None:
        return subject.lost(way, by_tcp, "tcp")
    if by_tcp.octets < OCTETS:
        return wrong_signatures(by_tcp) or different(way, by_tcp)
    return by_udp, cut


def _ask_for_no_keys(subject: PathSubject, way: Way) -> Outcome | None:
    """Ask for the keys of the zone that has none, with much and with little room: there is nothing to cut."""
    query = Query(name=names.UNSIGNED, rtype=RdataType.DNSKEY, rd=True, do=True, payload=4096)
    for payload in (4096, 512):
        found = way.asker.udp(replace(query, payload=payload))
        if found.message is None:
            return subject.lost(way, found)
        if found.is_truncated:
            return different(way, found)
        if any(rrset.rdtype == RdataType.DNSKEY for rrset in found.message.answer):
            return failed("A zone that is not signed has DNSKEY records.", found)
        if wrong := wrong_signatures(found):
            return wrong
    return None
