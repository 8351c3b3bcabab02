"""A-header-z: the reserved header bit."""

from dnsrig.items.authoritative._probes import soa_query, wrong_soa
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Z_BIT
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

ITEM = Item(
    id="A-header-z",
    role="authoritative",
    group="RFC 8906",
    requirement="A query with the reserved bit Z is answered like one without, and the response does not have the bit.",
    references=("RFC 8906 section 8.1.3.3", "RFC 1035 section 4.1.1"),
    severity=Severity.WARNING,
    consequence=(
        "The last bit of the header cannot be put to use: clients that try get no answer, or take it for a meaning."
    ),
    procedure="The SOA record is asked for with Z=1; the response is NOERROR with the record, and has Z=0.",
    dig=("dig @{server} -p {port} {zone} SOA +norec +noedns +zflag",),
    needs=("zone",),
    faults=("drops-z", "formerr-to-z", "copies-z"),
    is_of_server=True,
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask with the bit."""
    exchange = subject.asker.udp(soa_query(subject, z=True))
    wrong = wrong_soa(subject, exchange)
    if wrong is not None:
        return wrong
    if exchange.message is not None and exchange.message.flags & Z_BIT:
        return failed("The response has the reserved bit Z.", exchange)
    return passed("NOERROR with the SOA record and Z=0.", exchange)
