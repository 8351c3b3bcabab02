"""A-aa: the AA flag."""

import dns.flags
from dns.rdatatype import RdataType

from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

ITEM = Item(
    id="A-aa",
    role="authoritative",
    group="Header",
    requirement="Responses from the zone's own data have the AA flag, those that deny names too.",
    references=("RFC 1035 section 4.1.1", "RFC 2308 section 2"),
    severity=Severity.CRITICAL,
    consequence="Resolvers take the server to be lame for the zone, and its names do not resolve.",
    procedure="The SOA record and a name that does not exist are asked for; both responses have AA.",
    dig=("dig @{server} -p {port} {zone} SOA +norec", "dig @{server} -p {port} absent.{zone} A +norec"),
    needs=("zone",),
    faults=("clears-aa",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for the SOA record, and for a name that is not there."""
    asked = [
        subject.asker.ask(Query(name=subject.origin, rtype=RdataType.SOA, payload=None)),
        subject.asker.ask(Query(name=subject.absent_name(), rtype=RdataType.A, payload=None)),
    ]
    for exchange in asked:
        if exchange.message is None:
            return subject.unanswered(exchange)
        if not exchange.has_flag(dns.flags.AA):
            return failed(f"The response to {exchange.title} has no AA.", exchange)
    return passed("Both have AA.", *asked)
