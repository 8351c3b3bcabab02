"""P-qdcount: messages with two questions."""

from dataclasses import replace

import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.items._questions import with_questions
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.upstream.questions import plain_query
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

TYPES = (RdataType.A, RdataType.AAAA)
SHORT_WAITS_S = (1.0, 1.0)
"""It need not be answered."""

ITEM = Item(
    id="P-qdcount",
    role="proxy",
    group="Response codes",
    requirement="A query with two questions is not answered as if it had the first alone.",
    references=("RFC 9619 section 3", "RFC 1035 section 4.1.2"),
    severity=Severity.WARNING,
    consequence="Filters that see another question than the one that is answered can be deceived about what was asked.",
    procedure=(
        "A query for an IPv4 and an IPv6 address of one name is sent by UDP. The rig's upstream answers such a one "
        "NOTIMP; that, another error, and silence are right, while NOERROR with records of one of the two is not."
    ),
    dig=("# dig sends no such messages",),
    needs=("upstream",),
    faults=("answers-first-question",),
    is_rough=True,
)


def check(subject: ProxySubject) -> Outcome:
    """Ask both at once; silence is right too, as long as queries are answered."""
    asker = replace(subject.asker, udp_waits_s=SHORT_WAITS_S)
    exchange = asker.udp(with_questions(plain_query(), TYPES))
    message = exchange.message
    if message is None:
        if silence := subject.silence():
            return inconclusive(f"The proxy does not answer queries either: {silence}.", exchange)
        return passed("It is not answered, while other queries are.", exchange)
    given = [rtype for rtype in TYPES if any(rrset.rdtype == rtype for rrset in message.answer)]
    if exchange.rcode == dns.rcode.NOERROR and len(given) == 1:
        return failed(f"A query with two questions gets NOERROR and records of type {given[0].name} alone.", exchange)
    return passed(f"The response is {dns.rcode.to_text(message.rcode())}.", exchange)
