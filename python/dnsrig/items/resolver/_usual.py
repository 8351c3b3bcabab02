"""What items about the form of responses share: responses of every usual kind, by UDP and TCP, with DO and without."""

from collections import Counter
from collections.abc import Callable, Sequence

import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.verification.exchange import Exchange
from dnsrig.verification.queries import Query
from dnsrig.verification.stopping import thread_pool
from dnsrig.verification.subjects.known_names import Question
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, failed, inconclusive, passed

PROCEDURE = (
    "A secure name, an unsigned one, names and a type that do not exist, and a bogus name are asked for with RD, by "
    "UDP and by TCP, without EDNS and with DO. "
)
RARE_TYPE = RdataType.RP
UNREAD = {dns.rcode.FORMERR, dns.rcode.NOTIMP}
"""Who cannot read a query cannot answer as it asks."""
AT_ONCE = 8
SHOWN = 3
Asking = Callable[[Query], Exchange]


def usual_responses(subject: ResolverSubject) -> Sequence[Exchange]:
    """Give the exchanges that have a response; what does not come is the matter of other items."""
    return subject.once("usual responses", lambda: _ask_for_usual(subject))


def _ask_for_usual(subject: ResolverSubject) -> Sequence[Exchange]:
    names = subject.names
    candidates = (
        names.secure,
        names.unsigned,
        *names.denied,
        Question(names.secure.name, RARE_TYPE),
        subject.bogus_question(),
    )
    questions = [question for question in candidates if question is not None]
    queries = [question.plain for question in questions]
    if subject.control.message is not None:
        # Where EDNS gets no response, waiting for each would take minutes.
        queries += [question.with_do for question in questions]
    asked: list[tuple[Asking, Query]] = [
        (asking, query) for query in queries for asking in (subject.asker.udp, subject.asker.tcp)
    ]
    with thread_pool(AT_ONCE, "usual") as pool:
        exchanges = list(pool.map(lambda one: one[0](one[1]), asked))
    return [exchange for exchange in exchanges if exchange.message is not None]


def check_usual(
    subject: ResolverSubject, complaint: Callable[[Exchange], str], good: str, *, of: Callable[[Exchange], bool]
) -> Outcome:
    """Judge each usual response `of` some kind by what a complaint says of it as a clause, "" if nothing is wrong."""
    exchanges = [exchange for exchange in usual_responses(subject) if of(exchange)]
    if not exchanges:
        return _none(subject)
    return judged([(exchange, complaint(exchange)) for exchange in exchanges], good)


def _none(subject: ResolverSubject) -> Outcome:
    """Say why there is no response to look at."""
    exchanges = usual_responses(subject)
    if not exchanges:
        return subject.unanswered(subject.plain_control)
    codes = Counter(dns.rcode.to_text(exchange.message.rcode()) for exchange in exchanges if exchange.message)
    said = ", ".join(f"{count} with {code}" for code, count in codes.most_common())
    return inconclusive(f"Of {len(exchanges)} responses none is of the kind that this is about: {said}.", exchanges[0])


def judged(found: Sequence[tuple[Exchange, str]], good: str) -> Outcome:
    """Fail if anything is said of a response, and name the first ones."""
    wrong = [(exchange, said) for exchange, said in found if said]
    if not wrong:
        return passed(f"{len(found)} responses: {good}.", found[0][0])
    said = "; ".join(f"{exchange.title}: {what}" for exchange, what in wrong[:SHOWN])
    more = f"; {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
    return failed(
        f"Of {len(found)} responses, {len(wrong)}: {said}{more}.", *(exchange for exchange, _ in wrong[:SHOWN])
    )
