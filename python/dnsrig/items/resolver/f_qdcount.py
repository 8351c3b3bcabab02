"""F-qdcount: messages with no question or two."""

import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.items._questions import with_questions
from dnsrig.items.resolver._probes import hasty, plain_query
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

ITEM = Item(
    id="F-qdcount",
    role="resolver",
    group="Robustness",
    requirement="A query with no question or with two is not answered as if it had one.",
    references=("RFC 9619 section 3", "RFC 1035 section 4.1.2"),
    severity=Severity.WARNING,
    consequence=(
        "Firewalls and filters that see another question than the one answered can be deceived about what was asked."
    ),
    procedure=(
        "A query with two questions, and one with none and no cookie, are sent; the response is an error or has no "
        "records, or there is none. The resolver answers queries afterwards."
    ),
    dig=("# dig sends no such messages",),
    needs=("names",),
    faults=("answers-first-question",),
    is_rough=True,
)


def check(subject: ResolverSubject) -> Outcome:
    """Send both; silence is right too, as long as queries are answered."""
    usual = plain_query(subject)
    exchanges = []
    for types in ((), (RdataType.A, RdataType.AAAA)):
        exchange = hasty(subject).udp(with_questions(usual, types))
        message = exchange.message
        if message is not None and exchange.rcode == dns.rcode.NOERROR and (message.answer or message.authority):
            return failed(f"A query with {len(types)} questions gets records.", exchange)
        exchanges.append(exchange)
    if silence := subject.silence():
        return inconclusive(f"The resolver does not answer queries either: {silence}.", *exchanges)
    return passed("Neither gets records.", *exchanges)
