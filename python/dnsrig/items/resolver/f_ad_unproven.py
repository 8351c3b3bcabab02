"""F-ad-unproven: no AD where nothing was validated."""

from dataclasses import replace

import dns.flags
import dns.rcode

from dnsrig.items.resolver._usual import judged
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity, not_applicable

ITEM = Item(
    id="F-ad-unproven",
    role="resolver",
    group="DNSSEC records and flags",
    requirement="Responses with insecure data, and those with SERVFAIL, are without AD.",
    references=("RFC 6840 section 5.8", "RFC 4035 section 3.2.3"),
    severity=Severity.CRITICAL,
    consequence=(
        "Clients that trust AD for SSHFP or TLSA records take forged ones for good, or count failures as validated."
    ),
    procedure=(
        "An unsigned name and a bogus one are asked for with RD, with AD and without EDNS, and with DO: no response "
        "with unsigned data, or with SERVFAIL, has AD."
    ),
    dig=(
        "dig @{server} -p {port} www.control.unsigned. A +noedns +ad",
        "dig @{server} -p {port} any.fresh.control-bogus.nsec. A +noedns +ad",
    ),
    needs=("validates",),
    faults=("sets-ad-always", "sets-ad-without-edns", "sets-ad-on-servfail"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask for what is insecure and for what is bogus."""
    bogus = subject.bogus_question()
    questions = [question for question in (subject.names.unsigned, bogus) if question is not None]
    queries = [query for question in questions for query in (replace(question.plain, ad=True), question.with_do)]
    exchanges = [exchange for exchange in map(subject.asker.ask, queries) if exchange.message is not None]
    # Bogus data that are given are the matter of other items.
    found = [
        one for one in exchanges if one.rcode == dns.rcode.SERVFAIL or bogus is None or one.query.name != bogus.name
    ]
    if not found:
        if queries and not exchanges:
            return subject.unanswered(subject.plain_control)
        return not_applicable("No unsigned and no bogus name is known; --insecure or --bogus names one.")
    return judged([(exchange, _complaint(exchange)) for exchange in found], "none has AD")


def _complaint(exchange: Exchange) -> str:
    if not exchange.has_flag(dns.flags.AD):
        return ""
    return "AD comes with SERVFAIL" if exchange.rcode == dns.rcode.SERVFAIL else "AD comes with unsigned data"
