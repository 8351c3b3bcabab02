"""F-servfail: nothing of what is bogus goes along with the failure."""

import dns.rcode

from dnsrig.items.resolver._usual import judged
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.known_names import Question
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity, not_applicable

ITEMS = ("F-bad-signature", "F-expired")
ITEM = Item(
    id="F-servfail",
    role="resolver",
    group="Validation",
    requirement="A response with SERVFAIL because of bogus data has no answer.",
    references=("RFC 4035 section 5.5",),
    severity=Severity.ERROR,
    consequence="Clients that look for the records before the response code use what is forged.",
    procedure=(
        "Bogus names are asked for with RD, without EDNS and with DO: responses with SERVFAIL have an empty answer "
        "section."
    ),
    dig=("dig @{server} -p {port} any.fresh.control-bogus.nsec. A +dnssec",),
    needs=("bogus", "validates"),
    faults=("gives-bogus-with-servfail",),
)


def check(subject: ResolverSubject) -> Outcome:
    """Look at what comes with SERVFAIL."""
    bogus = subject.bogus_question()
    questions = [Question(row.name, row.case.rtype) for item_id in ITEMS for row in subject.rows(item_id)]
    questions += [] if bogus is None else [bogus]
    exchanges = [subject.asker.ask(query) for one in questions for query in (one.plain, one.with_do)]
    failures = [one for one in exchanges if one.rcode == dns.rcode.SERVFAIL]
    if not failures:
        return not_applicable("No bogus name is answered with SERVFAIL (see F-bogus).", *exchanges[:1])
    return judged([(one, _complaint(one)) for one in failures], "none with SERVFAIL has an answer")


def _complaint(exchange: Exchange) -> str:
    answer = [] if exchange.message is None else exchange.message.answer
    return f"SERVFAIL comes with {answer[0].name} {answer[0].rdtype.name}" if answer else ""
