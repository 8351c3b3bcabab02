"""A-edns-tcp: EDNS by TCP."""

from dnsrig.items.authoritative._probes import edns_soa_query, without_opt, wrong_soa
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, passed

ITEM = Item(
    id="A-edns-tcp",
    role="authoritative",
    group="RFC 8906",
    requirement="A query with EDNS by TCP gets its answer and an OPT record.",
    references=("RFC 8906 section 8.2", "RFC 6891 section 6.1.1"),
    severity=Severity.WARNING,
    consequence="What is signed and too large for a datagram comes without what a validator asked for, or not at all.",
    procedure=(
        "The SOA record is asked for with EDNS by TCP; the response is NOERROR with the record and an OPT record."
    ),
    dig=("dig @{server} -p {port} {zone} SOA +norec +edns=0 +nocookie +tcp",),
    needs=("zone", "edns"),
    faults=("no-tcp", "drops-tcp", "wrong-id-by-tcp", "strips-opt-by-tcp"),
    is_of_server=True,
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask with EDNS by TCP."""
    exchange = subject.asker.tcp(edns_soa_query(subject))
    wrong = wrong_soa(subject, exchange) or without_opt(exchange)
    return wrong or passed("NOERROR with the SOA record and OPT by TCP.", exchange)
