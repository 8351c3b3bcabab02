"""A-header-ad: the AD flag in queries."""

from dnsrig.items.authoritative._probes import soa_query, wrong_soa
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, passed

ITEM = Item(
    id="A-header-ad",
    role="authoritative",
    group="RFC 8906",
    requirement="A query with the AD flag is answered like one without.",
    references=("RFC 8906 section 8.1.3.2", "RFC 6840 section 5.7"),
    severity=Severity.ERROR,
    consequence="Clients that want to see AD set the flag, and some resolvers pass it on; they get no answer.",
    procedure="The SOA record is asked for with AD=1; the response is NOERROR with the record.",
    dig=("dig @{server} -p {port} {zone} SOA +norec +noedns +adflag",),
    needs=("zone",),
    faults=("drops-ad", "formerr-to-ad"),
    is_of_server=True,
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask with the flag, which says authentic data."""
    exchange = subject.asker.udp(soa_query(subject, ad=True))
    return wrong_soa(subject, exchange) or passed("NOERROR with the SOA record.", exchange)
