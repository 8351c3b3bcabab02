"""A-peers-data: servers that have the same version have the same data."""

from collections.abc import Iterator

import dns.name
import dns.rcode
import dns.rdata
import dns.rrset
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._answers import zone_soa
from dnsrig.items.authoritative._unchanged import unless_changed
from dnsrig.items.authoritative.a_data import OF_THE_SERVER
from dnsrig.verification.asker import Asker
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

MOST = 40
"""RRsets that each server is asked for."""
LARGEST = 400
"""Octets of the data of those."""
TIMES = 2
"""So often each is asked again for what differs: servers that balance load answer otherwise each time."""
ITEM = Item(
    id="A-peers-data",
    role="authoritative",
    group="Secondaries",
    requirement="Servers of the zone that have the same serial give the same records.",
    references=("RFC 1034 section 4.3.5", "RFC 1982 section 7"),
    severity=Severity.ERROR,
    consequence=(
        "Clients reach one host or another by chance, and no transfer mends it: the secondary takes what it has for "
        "the version that it should have."
    ),
    procedure=(
        f"Up to {MOST} RRsets that are known of the zone are asked for at each server without EDNS, where its serial "
        "is this server's; the records are the same, TTLs aside. What differs is asked for again, and counts "
        "if each server stays with its answer. What the items about the apex compare is left out."
    ),
    dig=("dig @{server} -p {port} {host} {type} +norec +noedns   # and at the others",),
    needs=("zone", "peers"),
    faults=(
        "other-address",
        "hides-cname",
        "no-dname",
        "no-ns-address",
        "ns-alias",
        "two-cnames",
        "joins-strings-without-do",
    ),
)
ANSWERS = {dns.rcode.NOERROR, dns.rcode.NXDOMAIN}


@unless_changed
def check(subject: AuthoritativeSubject) -> Outcome:
    """Compare what is known of the zone, record by record."""
    asked = list(_questions(subject))
    peers = [place for place in range(len(subject.peers)) if _has_serial(subject, place)]
    if not peers:
        are_there = any(_soa_at(subject, place) is not None for place in range(len(subject.peers)))
        said = "has the same serial; A-peers-serial is" if are_there else "answers for the zone; A-peers-answer is"
        return inconclusive(f"No other server {said} about that.", subject.soa)
    compared = 0
    for name, rtype in asked:
        here = subject.answers.get(name, rtype, do=False)
        if here.response is None:
            # Others are about silence; each further question would wait for nothing.
            break
        for place in peers:
            there = subject.peer_answers[place].get(name, rtype, do=False)
            found = _told(here), _told(there)
            if None in found:
                continue
            compared += 1
            if found[0] != found[1] and _stays(subject.asker, here) and _stays(subject.peers[place], there):
                said = f"{here.server} has {_words(here)}, {there.server} has {_words(there)}"
                return failed(f"Of {name} {rtype.name} {said}, and both the same serial.", here, there)
    if not compared:
        return inconclusive("No RRset is known that could be compared.", subject.soa)
    return passed(f"{compared} answers of {len(peers)} other servers have the same records.")


def _questions(subject: AuthoritativeSubject) -> Iterator[tuple[dns.name.Name, RdataType]]:
    """Give what to ask for: not what each server makes itself, nor the NS records, which A-peers-ns compares."""
    left_out = {*OF_THE_SERVER, RdataType.NS}
    # Whether large responses come whole is the matter of the items about size.
    known = [one for one in subject.survey.places if one.rtype not in left_out and one.octets <= LARGEST]
    yield from ((place.name, place.rtype) for place in known[:MOST])


def _soa_at(subject: AuthoritativeSubject, place: int) -> dns.rrset.RRset | None:
    exchange = subject.peer_answers[place].get(subject.origin, RdataType.SOA, do=False)
    return rrset_of(exchange, "answer", subject.origin, RdataType.SOA)


def _has_serial(subject: AuthoritativeSubject, place: int) -> bool:
    soa, found = zone_soa(subject), _soa_at(subject, place)
    return soa is not None and found is not None and found[0].serial == soa[0].serial


def _told(exchange: Exchange) -> frozenset[dns.rdata.Rdata] | None:
    """Give the records; None if they are not whole, or the response is none of a server that serves the zone."""
    if exchange.message is None or exchange.is_truncated or exchange.rcode not in ANSWERS:
        return None
    query = exchange.query
    return frozenset(rrset_of(exchange, "answer", query.name, query.rtype) or ())


def _stays(asker: Asker, exchange: Exchange) -> bool:
    """Ask again, and say whether the same comes each time."""
    query = Query(name=exchange.query.name, rtype=exchange.query.rtype, payload=None)
    return all(_told(asker.ask(query)) == _told(exchange) for _ in range(TIMES))


def _words(exchange: Exchange) -> str:
    query = exchange.query
    found = sorted(str(one) for one in rrset_of(exchange, "answer", query.name, query.rtype) or ())
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    return f"{found[0]}{more}" if found else "none"
