"""F-bogus: what does not validate is kept back."""

from dnsrig.items.resolver._table import PROCEDURE, check_bogus
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity, Verdict, failed

ITEM = Item(
    id="F-bogus",
    role="resolver",
    group="Validation",
    requirement="The resolver answers names that do not validate with SERVFAIL.",
    references=("RFC 4035 section 5.5", "RFC 4033 section 5"),
    severity=Severity.CRITICAL,
    consequence="Forged data come to clients that rely on the resolver.",
    procedure=PROCEDURE
    + (
        "A name from a wildcard with a wrong signature, or in a tree of yours the names of --bogus: SERVFAIL, by UDP "
        "and by TCP. No response at all is none that a client can go on from."
    ),
    dig=("dig @{server} -p {port} any.fresh.control-bogus.nsec. A +dnssec",),
    needs=("validates",),
    faults=(
        "accepts-bogus",
        "validates-by-udp-only",
        "silent-on-bogus",
        "believes-by-tcp",
    ),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask the questions of the table about names that are bogus, for whatever reason."""
    outcome = check_bogus(subject, ITEM.id)
    return (_silent(subject) if outcome.verdict == Verdict.INCONCLUSIVE else None) or outcome


def _silent(subject: ResolverSubject) -> Outcome | None:
    """Say that bogus names get no response, if two do not while others are answered."""
    questions = [question for question in (subject.bogus_question() for _ in range(2)) if question is not None]
    exchanges = [subject.asker.ask(question.with_do) for question in questions]
    if not exchanges or any(exchange.response is not None for exchange in exchanges) or subject.silence():
        return None
    return failed("Names that do not validate get no response, not even SERVFAIL; others are answered.", *exchanges)
