"""A-apex-cname: CNAME at the apex."""

from dns.rdatatype import RdataType

from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

ITEM = Item(
    id="A-apex-cname",
    role="authoritative",
    group="Zone",
    requirement="The apex has no CNAME record.",
    references=("RFC 1034 section 3.6.2", "RFC 2181 section 10.1"),
    severity=Severity.CRITICAL,
    consequence=(
        "Resolvers that see it look up SOA, NS, MX and keys elsewhere: mail is lost, the zone is lame, validation "
        "fails."
    ),
    procedure="CNAME, and a type that nobody has, are asked for at the apex; neither answer has a CNAME record.",
    dig=("dig @{server} -p {port} {zone} CNAME +norec +noedns", "dig @{server} -p {port} {zone} MINFO +norec +noedns"),
    needs=("zone",),
    faults=("cname-at-apex",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for it, and for what it would answer."""
    exchanges = []
    for rtype in (RdataType.CNAME, RdataType.MINFO):
        exchange = subject.asker.ask(Query(name=subject.origin, rtype=rtype, payload=None))
        if exchange.message is None:
            return subject.unanswered(exchange)
        if rrset_of(exchange, "answer", subject.origin, RdataType.CNAME) is not None:
            return failed("The apex has a CNAME record.", exchange)
        exchanges.append(exchange)
    return passed("There is none.", *exchanges)
