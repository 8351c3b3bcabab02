"""P-responses: messages that are responses."""

from dnsrig.items._responses import TIMES, judge_responses
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.proxy import ProxySubject, Through
from dnsrig.verification.upstream.questions import plain_query
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="P-responses",
    role="proxy",
    group="Protection",
    requirement="The proxy answers no message that is a response.",
    references=("RFC 1035 section 4.1.1", "CVE-2024-2169"),
    severity=Severity.CRITICAL,
    consequence="One forged datagram sets it and another such server to answering each other without end.",
    procedure=(
        f"A query with QR=1 is sent {TIMES} times by UDP, for other names each time: there is no response. One with "
        "QR=0 is answered before and after."
    ),
    dig=("# dig sends no such messages",),
    needs=("upstream",),
    faults=("answers-responses", "formerr-to-responses"),
)


def check(subject: ProxySubject) -> Outcome:
    """Send some, and queries around them."""
    before = subject.ask_simplest()
    if before.message is None:
        return subject.unanswered(Through(before, subject.seen(before.query.name)))
    return judge_responses(subject.asker, plain_query)
