"""F-responses: messages that are responses."""

from dnsrig.items.resolver._probes import plain_query
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

TIMES, DECIDING = 3, 2
GAP_S, WAIT_S = 0.1, 1.5
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
    exchanges = subject.asker.udp_in_a_row([plain_query(subject, qr=True)] * TIMES, GAP_S, WAIT_S)
    answered = [exchange for exchange in exchanges if exchange.response is not None]
    if len(answered) >= DECIDING:
        return failed(f"{len(answered)} of {TIMES} messages that are responses are answered.", *answered[:1])
    after = subject.asker.udp(plain_query(subject))
    if answered or after.message is None:
        return inconclusive(f"{len(answered)} of {TIMES} are answered.", *answered, after)
    return passed(f"None of {TIMES} messages that are responses is answered.", after)
