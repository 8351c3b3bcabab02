"""F-nxdomain: names and types that do not exist are denied to all clients."""

from dnsrig.items.resolver._usual import PROCEDURE, check_usual
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.known_names import Question
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-nxdomain",
    role="resolver",
    group="Messages",
    requirement="The resolver gives no records of names that do not exist.",
    references=("RFC 2308 section 2.1", "RFC 4924 section 2.5.2"),
    severity=Severity.ERROR,
    consequence=(
        "Mistyped names lead to hosts of whoever runs the resolver, mail to senders that do not exist is accepted, and "
        "search lists of clients no longer work."
    ),
    procedure=PROCEDURE + "No response about a name that does not exist has an answer.",
    dig=("dig @{server} -p {port} absent.control.nsec. A +noedns   # NXDOMAIN",),
    needs=("names",),
    faults=("redirects-missing-names",),
)


def check(subject: ResolverSubject) -> Outcome:
    """Look at the answer section of each usual response about what is not there."""
    missing = set(subject.names.denied)
    return check_usual(
        subject,
        _complaint,
        "what does not exist is denied",
        of=lambda exchange: Question(exchange.query.name, exchange.query.rtype) in missing,
    )


def _complaint(exchange: Exchange) -> str:
    message = exchange.message
    if message is None or not message.answer:
        return ""
    return f"it has {message.answer[0].to_text().splitlines()[0]}"
