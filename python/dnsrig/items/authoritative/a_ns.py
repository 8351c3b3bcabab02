"""A-ns: the NS RRset."""

from dns.rdatatype import RdataType

from dnsrig.items.authoritative._probes import wrong_rcode
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

ITEM = Item(
    id="A-ns",
    role="authoritative",
    group="Zone",
    requirement="The apex has NS records.",
    references=("RFC 1034 section 4.2.1", "RFC 2181 section 6.1"),
    severity=Severity.ERROR,
    consequence=(
        "Resolvers that ask for it find no servers of the zone, and give up once the parent's referral has expired."
    ),
    procedure="The NS RRset at the apex is asked for; the answer has at least one record.",
    dig=("dig @{server} -p {port} {zone} NS +norec +noedns",),
    needs=("zone",),
    faults=("no-ns",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for them."""
    exchange = subject.asker.ask(Query(name=subject.origin, rtype=RdataType.NS, payload=None))
    wrong = wrong_rcode(subject, exchange)
    if wrong is not None:
        return wrong
    rrset = rrset_of(exchange, "answer", subject.origin, RdataType.NS)
    if rrset is None:
        return failed("The answer has no NS record.", exchange)
    return passed(f"There are {len(rrset)}.", exchange)
