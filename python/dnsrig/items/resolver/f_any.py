"""F-any: queries for ANY."""

import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.items.resolver._probes import plain_query, rcode_text
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

WRONG = {dns.rcode.NXDOMAIN, dns.rcode.FORMERR}
ITEM = Item(
    id="F-any",
    role="resolver",
    group="Robustness",
    requirement="A query for ANY gets a response: it neither denies a name that exists nor calls the query malformed.",
    references=("RFC 8482 section 4", "RFC 8906 section 2"),
    severity=Severity.WARNING,
    consequence="Mail servers and other old software that ask for ANY wait, or take the name for one that is missing.",
    procedure=(
        "ANY is asked for by UDP without EDNS at a name that exists: there is a response, of whatever size and type, "
        "but neither NXDOMAIN nor FORMERR. Some give SERVFAIL, which denies nothing."
    ),
    dig=("dig @{server} -p {port} www.control.unsigned. ANY +noedns +notcp +ignore",),
    needs=("names",),
    faults=("drops-any", "nxdomain-to-any"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask for ANY where there is an address."""
    exchange = subject.asker.udp(plain_query(subject, rtype=RdataType.ANY))
    if exchange.message is None:
        return subject.unanswered(exchange)
    if exchange.rcode in WRONG:
        return failed(f"A query for ANY gets {rcode_text(exchange)}.", exchange)
    return passed(f"A query for ANY gets {rcode_text(exchange)}.", exchange)
