"""F-cd-data: data that did not validate, to those who want to judge themselves."""

from dataclasses import replace

import dns.flags
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

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
    needs=("validates", "bogus"),
    faults=("ignores-cd", "sets-ad-always"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask with CD, for a name that was found bogus before, and for a new one."""
    known, new = subject.bogus_question(), subject.bogus_question()
    if known is None or new is None:
        return inconclusive("No bogus name is known.")
    before = subject.asker.ask(known.with_do)
    exchanges = []
    for question in dict.fromkeys((known, new)):
        exchange = subject.asker.ask(replace(question.with_do, cd=True))
        exchanges.append(exchange)
        if exchange.message is None:
            return subject.unanswered(exchange)
        shown = (before, exchange) if question == known else (exchange,)
        types = {rrset.rdtype for rrset in exchange.message.answer}
        if exchange.rcode != dns.rcode.NOERROR:
            return failed(f"A query with CD is answered with {dns.rcode.to_text(exchange.message.rcode())}.", *shown)
        if not {question.rtype, RdataType.RRSIG} <= types:
            return failed("The response to a query with CD lacks the data or their signature.", *shown)
        if exchange.has_flag(dns.flags.AD):
            return failed("The response to a query with CD has AD, though the signature is wrong.", *shown)
    return passed("With CD the data came, with their signatures and without AD.", exchanges[-1])
