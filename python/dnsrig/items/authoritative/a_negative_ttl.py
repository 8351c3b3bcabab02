"""A-negative-ttl: TTL of denials."""

from dns.rdatatype import RdataType

from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Outcome, Severity, failed, not_applicable, passed

ITEM = Item(
    id="A-negative-ttl",
    role="authoritative",
    group="Denial",
    requirement="The SOA record of a denial has a TTL no larger than the SOA record's MINIMUM field.",
    references=("RFC 2308 section 3", "RFC 2308 section 5"),
    severity=Severity.WARNING,
    consequence="Names that are added stay unknown to resolvers for longer than the zone's owner has set.",
    procedure=(
        "A name that does not exist is asked for; the TTL of the SOA record in the authority section is compared."
    ),
    dig=("dig @{server} -p {port} absent.{zone} A +norec +noedns",),
    needs=("zone",),
    faults=("soa-ttl-in-denial",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for a name that is not there."""
    exchange = subject.asker.ask(Query(name=subject.absent_name(), rtype=RdataType.A, payload=None))
    if exchange.message is None:
        return subject.unanswered(exchange)
    rrset = rrset_of(exchange, "authority", subject.origin, RdataType.SOA)
    if rrset is None:
        return not_applicable("The response has no SOA record in its authority section (see A-nxdomain).", exchange)
    minimum = rrset[0].minimum
    if rrset.ttl > minimum:
        return failed(f"The SOA record's TTL is {rrset.ttl} s, its MINIMUM {minimum} s.", exchange)
    return passed(f"The SOA record's TTL is {rrset.ttl} s, its MINIMUM {minimum} s.", exchange)
