"""A-header-cd: the CD flag in queries."""

from dnsrig.items.authoritative._probes import soa_query, wrong_soa
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, passed

ITEM = Item(
    id="A-header-cd",
    role="authoritative",
    group="RFC 8906",
    requirement="A query with the CD flag is answered like one without.",
    references=("RFC 8906 section 8.1.3.1", "RFC 4035 section 3.1.6"),
    severity=Severity.ERROR,
    consequence=(
        "Validating resolvers set the flag in queries that they send on; they get no answer, or wait, and try "
        "again without."
    ),
    procedure="The SOA record is asked for with CD=1; the response is NOERROR with the record.",
    dig=("dig @{server} -p {port} {zone} SOA +norec +noedns +cdflag",),
    needs=("zone",),
    faults=("drops-cd", "formerr-to-cd"),
    is_of_server=True,
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask with the flag, which says checking disabled."""
    exchange = subject.asker.udp(soa_query(subject, cd=True))
    return wrong_soa(subject, exchange) or passed("NOERROR with the SOA record.", exchange)
