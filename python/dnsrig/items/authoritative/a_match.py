"""A-match: ID and QR."""

from dnsrig.items.authoritative._probes import soa_query
from dnsrig.verification.exchange import HEADER_OCTETS
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

ITEM = Item(
    id="A-match",
    role="authoritative",
    group="Header",
    requirement="A response has the ID of the query, and the QR flag.",
    references=("RFC 1035 section 4.1.1", "RFC 5452 section 9.1"),
    severity=Severity.CRITICAL,
    consequence="Clients drop the responses as forged or as no responses at all: for them the server does not answer.",
    procedure="The SOA record is asked for; what comes is looked at whatever its ID and flags are.",
    dig=("dig @{server} -p {port} {zone} SOA +norec +noedns   # dig says: ID mismatch, or: query response not set",),
    faults=("wrong-id", "clears-qr"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask, and look at what came besides."""
    exchange = subject.asker.udp(soa_query(subject))
    if exchange.response is not None:
        return passed("The response has the query's ID, and QR.", exchange)
    for stray in exchange.strays:
        if len(stray) >= HEADER_OCTETS:
            what = "the query's ID, but not QR" if not stray[2] & 0x80 else "another ID"
            return failed(f"The only message that came has {what}.", exchange)
    return subject.unanswered(exchange)
