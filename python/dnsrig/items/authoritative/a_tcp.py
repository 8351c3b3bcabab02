"""A-tcp: TCP."""

from dnsrig.items.authoritative._probes import soa_query, wrong_soa
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, passed

ITEM = Item(
    id="A-tcp",
    role="authoritative",
    group="RFC 8906",
    requirement="The server answers by TCP.",
    references=("RFC 7766 section 5", "RFC 8906 section 8.1.5", "RFC 9210 section 3"),
    severity=Severity.CRITICAL,
    consequence="What does not fit into a datagram cannot be had: clients that get TC stay without an answer.",
    procedure="The SOA record is asked for by TCP without EDNS; the response is NOERROR with the record.",
    dig=("dig @{server} -p {port} {zone} SOA +norec +noedns +tcp",),
    needs=("zone",),
    faults=("no-tcp", "drops-tcp", "wrong-id-by-tcp"),
    is_of_server=True,
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask by TCP."""
    exchange = subject.asker.tcp(soa_query(subject))
    return wrong_soa(subject, exchange) or passed("NOERROR with the SOA record by TCP.", exchange)
