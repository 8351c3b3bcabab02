"""A-aa: the AA flag."""

import dns.flags
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._answers import expanded_name, sample
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

ITEM = Item(
    id="A-aa",
    role="authoritative",
    group="Header",
    requirement="Responses from the zone's own data have the AA flag, those that deny names too.",
    references=("RFC 1035 section 4.1.1", "RFC 2308 section 2"),
    severity=Severity.CRITICAL,
    consequence="Resolvers take the server to be lame for the zone, and its names do not resolve.",
    procedure=(
        "The SOA record, a name that does not exist, a host, an alias and a wildcard are asked for, and with DO a "
        "sample of all names that are known; answers and denials have AA."
    ),
    dig=("dig @{server} -p {port} {zone} SOA +norec", "dig @{server} -p {port} absent.{zone} A +norec"),
    needs=("zone",),
    faults=("clears-aa", "clears-aa-of-answers"),
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
    marks = subject.landmarks
    plain = [(place.name, place.rtype) for place in (marks.host, marks.wildcard) if place is not None]
    plain += [] if marks.alias is None else [(marks.alias, RdataType.CNAME)]
    plain += [] if marks.wildcard is None else [(expanded_name(subject) or subject.origin, marks.wildcard.rtype)]
    further = [subject.answers.get(name, rtype, do=False) for name, rtype in plain]
    for exchange in (*further, *sample(subject)):
        if _is_of_zone(subject, exchange) and not exchange.has_flag(dns.flags.AA):
            return failed(f"The response to {exchange.title} has no AA.", exchange)
    return passed("All have AA.", *asked)


def _is_of_zone(subject: AuthoritativeSubject, exchange: Exchange) -> bool:
    """Whether a response has what was asked for, or denies it in the zone's name; referrals and aliases do not."""
    message, name = exchange.message, exchange.query.name
    if message is None or exchange.is_truncated or not name.is_subdomain(subject.origin):
        return False
    if message.answer:
        return rrset_of(exchange, "answer", name, exchange.query.rtype) is not None
    return rrset_of(exchange, "authority", subject.origin, RdataType.SOA) is not None
