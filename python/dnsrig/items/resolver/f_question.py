"""F-question: the question of the query in the response."""

from dnsrig.items.resolver._usual import PROCEDURE, UNREAD, check_usual
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-question",
    role="resolver",
    group="Messages",
    requirement="Each response has the question of its query, and no other.",
    references=("RFC 1034 section 3.7", "RFC 5452 section 9.1"),
    severity=Severity.ERROR,
    consequence="Clients that take care drop the responses as forged: nothing resolves for them.",
    procedure=PROCEDURE + "Each response has one question, with the name, type and class of the query.",
    dig=("dig @{server} -p {port} www.control.nsec. A   # dig says 'Question section mismatch'",),
    needs=("names",),
    faults=("answers-without-question", "answers-another-question"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Look at the question of each usual response."""
    return check_usual(
        subject, _complaint, "each has the question of its query", of=lambda one: one.rcode not in UNREAD
    )


def _complaint(exchange: Exchange) -> str:
    given = [] if exchange.message is None else exchange.message.question
    if len(given) != 1:
        return f"the response has {len(given) or 'no'} question{'s' if given else ''}"
    query, question = exchange.query, given[0]
    if (question.name, question.rdtype, question.rdclass) == (query.name, query.rtype, query.rdclass):
        return ""
    return f"the response has another question, {question}"
