"""Finding landmarks of a zone of which nothing is known but its name, by asking a server of it."""

import time
from collections.abc import Iterator

import dns.name
import dns.rdata
import dns.rdatatype
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.NSEC import NSEC

from dnsrig.verification.asker import Asker, random_label
from dnsrig.verification.landmarks import Landmarks, find_landmarks
from dnsrig.verification.queries import Query

APEX_TYPES = (RdataType.SOA, RdataType.NS, RdataType.A, RdataType.AAAA, RdataType.MX, RdataType.TXT, RdataType.DNSKEY)
USUAL_LABELS = ("www", "mail", "ns1", "ns", "ns2", "ftp", "_dmarc")
USUAL_TYPES = (RdataType.A, RdataType.CNAME, RdataType.TXT)
NAMES_MAX = 120
"""Names taken from an NSEC chain: enough for every kind of place, few enough to be no burden."""
LONGEST_S = 4.0
PAYLOAD = 4096

Found = tuple[dns.name.Name, RdataType, list[dns.rdata.Rdata]]


def discover(asker: Asker, origin: dns.name.Name) -> Landmarks:
    """Ask for what a zone usually has, and go along its NSEC chain for some names, if it has one."""
    deadline = time.monotonic() + LONGEST_S
    found: list[Found] = []
    for rtype in APEX_TYPES:
        found += _asked(asker, origin, rtype)
    chained = list(_chained(asker, origin, deadline))
    for name, rtype in chained or _usual(asker, origin):
        if time.monotonic() > deadline:
            break
        found += _asked(asker, name, rtype)
    return find_landmarks(origin, _unique(found))


def _usual(asker: Asker, origin: dns.name.Name) -> Iterator[tuple[dns.name.Name, RdataType]]:
    """Give usual names, but with no type that a wildcard at the apex has."""
    absent = dns.name.Name((random_label().encode(), *origin.labels))
    types = [rtype for rtype in USUAL_TYPES if not _asked(asker, absent, rtype)]
    for label in USUAL_LABELS:
        for rtype in types:
            yield dns.name.Name((label.encode(), *origin.labels)), rtype


def _asked(asker: Asker, name: dns.name.Name, rtype: RdataType) -> list[Found]:
    """Ask for an RRset; also what a referral tells of its zone cut."""
    message = asker.ask(Query(name=name, rtype=rtype, payload=PAYLOAD)).message
    if message is None:
        return []
    found: list[Found] = [
        (rrset.name, rrset.rdtype, list(rrset))
        for rrset in message.answer
        if rrset.name == name and rrset.rdtype in {rtype, RdataType.CNAME}
    ]
    if not message.answer:
        cuts = [rrset for rrset in message.authority if rrset.rdtype == RdataType.NS and name.is_subdomain(rrset.name)]
        for cut in cuts:
            found.append((cut.name, cut.rdtype, list(cut)))
            found += [
                (rrset.name, rrset.rdtype, list(rrset))
                for rrset in message.additional
                if rrset.name.is_subdomain(cut.name) and rrset.rdtype in {RdataType.A, RdataType.AAAA}
            ]
    return found


def _chained(asker: Asker, origin: dns.name.Name, deadline: float) -> Iterator[tuple[dns.name.Name, RdataType]]:
    """Go along the NSEC chain from the apex, and give the names with their types."""
    name = origin
    for _ in range(NAMES_MAX):
        if time.monotonic() > deadline:
            return
        message = asker.ask(Query(name=name, rtype=RdataType.NSEC, do=True, payload=PAYLOAD)).message
        records = [] if message is None else [rrset for rrset in message.answer if rrset.rdtype == RdataType.NSEC]
        if not records or not isinstance(records[0][0], NSEC):
            return
        for rtype in _types(records[0][0]):
            if rtype not in {RdataType.RRSIG, RdataType.NSEC}:
                yield name, rtype
        name = records[0][0].next
        if name == origin or not name.is_subdomain(origin):
            return


def _types(record: NSEC) -> Iterator[RdataType]:
    for window, bitmap in record.windows:
        for index, octet in enumerate(bitmap):
            for bit in range(8):
                if octet & (0x80 >> bit):
                    yield RdataType.make(window * 256 + index * 8 + bit)


def _unique(found: list[Found]) -> list[Found]:
    return list({(name, rtype): (name, rtype, rdatas) for name, rtype, rdatas in found}.values())
