"""A-unknown-type: types that the server does not know."""

import dns.rcode

from dnsrig.verification.item import Item
from dnsrig.verification.landmarks import UNUSED_TYPE
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

ITEM = Item(
    id="A-unknown-type",
    role="authoritative",
    group="RFC 8906",
    requirement="A query for a type that the server does not know gets NOERROR without answer.",
    references=("RFC 8906 section 8.1.2", "RFC 3597 section 2"),
    severity=Severity.ERROR,
    consequence="New types, as HTTPS and SVCB once were, cannot be used: clients wait, or take the name for broken.",
    procedure="TYPE65280 is asked for at the apex; the response is NOERROR with an empty answer section.",
    dig=("dig @{server} -p {port} {zone} TYPE65280 +norec",),
    needs=("zone",),
    faults=("drops-unknown-types", "notimp-to-unknown-types", "cname-at-apex", "nxdomain-for-nodata"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for a type of the range for private use."""
    exchange = subject.asker.udp(Query(name=subject.origin, rtype=UNUSED_TYPE, payload=None))
    if exchange.message is None:
        return subject.unanswered(exchange)
    if exchange.rcode != dns.rcode.NOERROR:
        return failed(f"The response code is {dns.rcode.to_text(exchange.message.rcode())}.", exchange)
    if exchange.message.answer:
        return failed("The response has an answer, though the zone has no such record.", exchange)
    return passed("NOERROR without answer.", exchange)
