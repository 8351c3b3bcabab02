"""A-source: source of responses."""

from dnsrig.items.authoritative._probes import soa_query
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

ITEM = Item(
    id="A-source",
    role="authoritative",
    group="Transport",
    requirement="A response by UDP comes from the address and port that the query was sent to.",
    references=("RFC 2181 section 4.1", "RFC 2181 section 4.2"),
    severity=Severity.CRITICAL,
    consequence="Clients drop what comes from elsewhere, and firewalls do: for them the server does not answer.",
    procedure="The SOA record is asked for from a socket that takes datagrams from anywhere; the sender is compared.",
    dig=("dig @{server} -p {port} {zone} SOA +norec +noedns   # dig says: reply from unexpected source",),
    faults=("answers-from-other-port",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask, and take a response from anywhere."""
    exchange, sender = subject.asker.udp_from_anywhere(soa_query(subject))
    if sender is None:
        return subject.unanswered(exchange)
    if sender != exchange.server:
        return failed(f"The response comes from {sender}, though {exchange.server} was asked.", exchange)
    return passed(f"The response comes from {sender}.", exchange)
