"""F-dnssec-types: records of DNSSEC types to those who ask for the type."""

import dns.rcode

from dnsrig.verification.item import Item
from dnsrig.verification.subjects.known_names import RIG_NAMES
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

ITEM = Item(
    id="F-dnssec-types",
    role="resolver",
    group="DNSSEC records and flags",
    requirement="The resolver gives records of DNSSEC types to all who ask for the type, with DO or without.",
    references=("RFC 4035 section 3.2.1", "RFC 3225 section 3"),
    severity=Severity.WARNING,
    consequence="Tools that look up keys, DS records or denial without DO, as dig does unless told, find nothing.",
    procedure=(
        "DNSKEY, DS, NSEC and NSEC3PARAM records of zones are asked for with RD, without EDNS: the records come, "
        "without their signatures."
    ),
    dig=tuple(f"dig @{{server}} -p {{port}} {question} +noedns" for question in RIG_NAMES.typed),
    needs=("dnssec",),
    faults=("strips-asked-types",),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask for each type."""
    exchanges = []
    for question in subject.names.typed:
        query = question.plain
        exchange = subject.asker.ask(query)
        if exchange.rcode == dns.rcode.SERVFAIL:
            # A message upstream may have been lost.
            exchange = subject.asker.ask(query)
        if exchange.message is None:
            return subject.unanswered(exchange)
        if not any(rrset.rdtype == question.rtype for rrset in exchange.message.answer):
            said = dns.rcode.to_text(exchange.message.rcode())
            return failed(f"{question} is answered with {said} and without the records.", exchange)
        exchanges.append(exchange)
    return passed(f"{len(exchanges)} types of DNSSEC come without DO where they are asked for.", *exchanges[:1])
