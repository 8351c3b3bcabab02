"""F-cd-data: data that did not validate, to those who want to judge themselves."""

import dns.flags
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.resolver import BOGUS_FRESH, ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

ITEM = Item(
    id="F-cd-data",
    role="resolver",
    group="DNSSEC records and flags",
    requirement="The resolver gives data with CD that it found bogus, and without AD.",
    references=("RFC 4035 section 3.2.2", "RFC 6840 section 5.9"),
    severity=Severity.ERROR,
    consequence=(
        "Validators behind it with other trust anchors cannot do their own validation, and operators cannot see what "
        "is wrong with a zone."
    ),
    procedure=(
        "Two names with wrong signatures are asked for with RD, DO and CD, one of them without CD before: "
        "NOERROR, the records with their signatures, no AD."
    ),
    dig=("dig @{server} -p {port} any.fresh.control-bogus.nsec. A +dnssec +cd",),
    needs=("validates",),
    faults=("ignores-cd", "sets-ad-always"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask with CD, for a name that was found bogus before, and for a new one."""
    known, new = subject.fresh_name(BOGUS_FRESH), subject.fresh_name(BOGUS_FRESH)
    before = subject.asker.ask(Query(name=known, rtype=RdataType.A, rd=True, do=True))
    exchanges = []
    for name in (known, new):
        exchange = subject.asker.ask(Query(name=name, rtype=RdataType.A, rd=True, do=True, cd=True))
        exchanges.append(exchange)
        if exchange.message is None:
            return subject.unanswered(exchange)
        shown = (before, exchange) if name == known else (exchange,)
        types = {rrset.rdtype for rrset in exchange.message.answer}
        if exchange.rcode != dns.rcode.NOERROR:
            return failed(f"A query with CD is answered with {dns.rcode.to_text(exchange.message.rcode())}.", *shown)
        if not {RdataType.A, RdataType.RRSIG} <= types:
            return failed("The response to a query with CD lacks the data or their signature.", *shown)
        if exchange.has_flag(dns.flags.AD):
            return failed("The response to a query with CD has AD, though the signature is wrong.", *shown)
    return passed("With CD the data came, with their signatures and without AD.", exchanges[-1])
