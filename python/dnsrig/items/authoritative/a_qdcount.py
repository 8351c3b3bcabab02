"""A-qdcount: messages with no question or two."""

import dataclasses

import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.items._questions import with_questions
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

ITEM = Item(
    id="A-qdcount",
    role="authoritative",
    group="Robustness",
    requirement="A query with no question or with two is not answered as if it had one.",
    references=("RFC 9619 section 3", "RFC 1035 section 4.1.2"),
    severity=Severity.WARNING,
    consequence=(
        "Middleboxes and clients that see another question than the one answered can be deceived about what was asked."
    ),
    procedure=(
        "A query with two questions, and one with none and no cookie, are sent; the response is FORMERR or has no "
        "records, or there is none, as some servers drop what is malformed."
    ),
    dig=("# dig sends no such messages",),
    faults=("answers-first-question",),
    is_rough=True,
    is_of_server=True,
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Send both; silence is right too, as long as queries are answered."""
    usual = Query(name=subject.origin, rtype=RdataType.SOA, payload=None)
    asker = dataclasses.replace(subject.asker, udp_waits_s=subject.asker.udp_waits_s[:2])
    exchanges = []
    for types in ((), (RdataType.SOA, RdataType.NS)):
        exchange = asker.udp(with_questions(usual, types))
        message = exchange.message
        if message is not None and exchange.rcode == dns.rcode.NOERROR and (message.answer or message.authority):
            return failed(f"A query with {len(types)} questions gets records.", exchange)
        exchanges.append(exchange)
    silence = subject.silence()
    if silence:
        return inconclusive(f"The server does not answer queries either: {silence}.", *exchanges)
    return passed("Neither gets records.", *exchanges)
