"""A-rrset-ttl: one TTL for all records of an RRset."""

import dns.exception
import dns.message
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._answers import nothing_seen, sample
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, not_applicable, passed

PLAIN_MAX = 20
ITEM = Item(
    id="A-rrset-ttl",
    role="authoritative",
    group="Answers",
    requirement="All records of an RRset in a response have the same TTL.",
    references=("RFC 2181 section 5.2",),
    severity=Severity.ERROR,
    consequence="Resolvers drop some of the records before the others, or treat the response as faulty.",
    procedure=(
        "The NS records and other RRsets of several records are asked for without EDNS, and with DO a sample of all "
        "names that are known; the TTLs are compared record by record."
    ),
    dig=("dig @{server} -p {port} {zone} NS +norec +noedns",),
    needs=("zone",),
    faults=("ttls-differ",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for RRsets of several records and compare their TTLs."""
    several = [(place.name, place.rtype) for place in subject.survey.places if len(place.data) > 1]
    asked = dict.fromkeys([(subject.origin, RdataType.NS), *several[:PLAIN_MAX]])
    first = subject.answers.get(subject.origin, RdataType.NS, do=False)
    if first.message is None:
        return subject.unanswered(first)
    exchanges = [subject.answers.get(name, rtype, do=False) for name, rtype in asked]
    judged = [exchange for exchange in (*exchanges, *sample(subject)) if _has_several(exchange)]
    for exchange in judged:
        differing = _differing(exchange.response or b"")
        if differing:
            return failed(f"In the response to {exchange.title} {differing}.", exchange)
    if not judged and several:
        return nothing_seen("an RRset of several records")
    if not judged:
        return not_applicable("No RRset of several records is known in the zone; --name may name one.")
    return passed(f"The RRsets of {len(judged)} responses have one TTL each.", judged[0])


def _has_several(exchange: Exchange) -> bool:
    sections = [] if exchange.message is None else [exchange.message.answer, exchange.message.authority]
    return any(len(rrset) > 1 for section in sections for rrset in section)


def _differing(response: bytes) -> str:
    """Say which RRset has several TTLs, as a clause; "" if none has."""
    try:
        message = dns.message.from_wire(response, one_rr_per_rrset=True)
    except dns.exception.DNSException:
        return ""
    for section in (message.answer, message.authority, message.additional):
        ttls: dict[object, int] = {}
        for record in section:
            first = ttls.setdefault((record.name, record.rdtype, record.covers), record.ttl)
            if record.ttl != first:
                return f"{record.name} {RdataType.make(record.rdtype).name} has the TTLs {first} and {record.ttl}"
    return ""
