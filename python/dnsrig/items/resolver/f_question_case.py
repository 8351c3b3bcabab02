"""F-question-case: the case of the question in the response."""

from collections.abc import Callable
from dataclasses import replace

import dns.name

from dnsrig.items.resolver._usual import judged
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-question-case",
    role="resolver",
    group="Messages",
    requirement="Each response has the question's name in the case of the query.",
    references=("RFC 1035 section 2.3.3", "RFC 4343 section 3", "RFC 5452 section 9.1"),
    severity=Severity.WARNING,
    consequence=(
        "Clients and forwarders that write names in mixed case against forgery drop the responses, or ask again and "
        "again."
    ),
    procedure=(
        "A name is asked for with RD and every other letter as a capital, by UDP and by TCP: each response has the "
        "question's name letter by letter."
    ),
    dig=("dig @{server} -p {port} wWw.cOnTrOl.nSeC. A +noedns",),
    needs=("names",),
    faults=("lower-cases",),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask in mixed case by both transports."""
    query = replace(subject.names.secure.plain, name=mixed(subject.names.secure.name))
    asking: tuple[Callable[[Query], Exchange], ...] = (subject.asker.udp, subject.asker.tcp)
    exchanges = [exchange for exchange in (ask(query) for ask in asking) if exchange.message is not None]
    if not exchanges:
        return subject.unanswered(subject.plain_control)
    return judged(
        [(exchange, _complaint(exchange)) for exchange in exchanges], "the question has the case of the query"
    )


def mixed(name: dns.name.Name) -> dns.name.Name:
    """Write every other letter of each label as a capital."""
    return dns.name.Name(
        [
            bytes(
                octet - 32 if place % 2 and 97 <= octet <= 122 else octet for place, octet in enumerate(label.lower())
            )
            for label in name.labels
        ]
    )


def _complaint(exchange: Exchange) -> str:
    given = [] if exchange.message is None else exchange.message.question
    # Other names are the matter of F-question.
    if not given or given[0].name != exchange.query.name or given[0].name.labels == exchange.query.name.labels:
        return ""
    return f"the question came back as {given[0].name}"
