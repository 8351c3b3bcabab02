"""F-responses: messages that are responses."""

from dnsrig.items._responses import TIMES, judge_responses
from dnsrig.items.resolver._probes import plain_query
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-responses",
    role="resolver",
    group="Robustness",
    requirement="The resolver answers no message that is a response.",
    references=("RFC 1035 section 4.1.1", "CVE-2024-2169"),
    severity=Severity.CRITICAL,
    consequence="One forged datagram sets it and another such server to answering each other without end.",
    procedure=(
        f"A query with QR=1 is sent {TIMES} times by UDP: there is no response. One with QR=0 is answered before and "
        "after."
    ),
    dig=("# dig sends no such messages",),
    needs=("names",),
    faults=("answers-responses", "formerr-to-responses"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Send some, and queries around them."""
    before = subject.asker.udp(plain_query(subject))
    if before.message is None:
        return subject.unanswered(before)
    return judge_responses(subject.asker, lambda: plain_query(subject))
