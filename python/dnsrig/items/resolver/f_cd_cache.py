"""F-cd-cache: what came with CD does not leak."""

from dataclasses import replace

import dns.rcode

from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

ITEM = Item(
    id="F-cd-cache",
    role="resolver",
    group="DNSSEC records and flags",
    requirement="Data that were fetched with CD are not given without CD before they are validated.",
    references=("RFC 4035 section 4.7", "RFC 4035 section 3.2.2"),
    severity=Severity.CRITICAL,
    consequence="Any client that may ask with CD can put forged data into the cache for all others.",
    procedure=(
        "A name with a wrong signature is asked for with RD, DO and CD, then without CD with DO, and without EDNS: "
        "SERVFAIL both times. Without EDNS it is asked for only if another such name, never asked for with CD, gets "
        "SERVFAIL so."
    ),
    dig=(
        "dig @{server} -p {port} any.fresh.control-bogus.nsec. A +dnssec +cd",
        "dig @{server} -p {port} any.fresh.control-bogus.nsec. A +dnssec",
    ),
    needs=("validates", "bogus"),
    faults=("leaks-bogus-after-cd",),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask with CD, then without."""
    question, other = subject.bogus_question(), subject.bogus_question()
    if question is None or other is None:
        return inconclusive("No bogus name is known.")
    control = subject.asker.ask(other.with_do)
    if control.rcode != dns.rcode.SERVFAIL:
        return inconclusive("The resolver does not keep such data back even where nobody asked with CD.", control)
    first = subject.asker.ask(replace(question.with_do, cd=True))
    if first.message is None or not first.message.answer:
        return inconclusive("With CD the data did not come, so that none could be kept (see F-cd-data).", first)
    # One that does not validate for clients without EDNS at all does not leak: F-bogus-plain tells of it.
    without_edns = subject.asker.ask(other.plain)
    queries = [question.with_do, *([question.plain] if without_edns.rcode == dns.rcode.SERVFAIL else [])]
    for query in queries:
        exchange = subject.asker.ask(query)
        if exchange.message is None:
            return subject.unanswered(exchange)
        if exchange.rcode != dns.rcode.SERVFAIL:
            return failed("Bogus data that were asked for with CD are then given without CD.", first, exchange)
    return passed("After a query with CD, those without are answered with SERVFAIL.", first, exchange)
