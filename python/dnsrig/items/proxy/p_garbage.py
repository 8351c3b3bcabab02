"""P-garbage: messages from clients that are none."""

from dnsrig.items._garbage import garbage, shown, still_answers
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.proxy import ProxySubject, Through
from dnsrig.verification.upstream.questions import plain_query
from dnsrig.verification.verdicts import Outcome, Severity, passed

ITEM = Item(
    id="P-garbage",
    role="proxy",
    group="Protection",
    requirement="Messages from clients that cannot be parsed do not keep the proxy from answering others.",
    references=("RFC 1035 section 7.3", "RFC 8906 section 3.2", "RFC 5625 section 6"),
    severity=Severity.CRITICAL,
    consequence="Any device behind it can leave all others without names by one datagram.",
    procedure=(
        "Datagrams are sent that are empty, cut, have wrong counts, endless names or random octets; after each kind a "
        "name is asked for and comes. What is answered to them does not matter."
    ),
    dig=("# dig sends no such messages",),
    needs=("upstream",),
    faults=("proxy-dies-of-garbage",),
    is_rough=True,
    runs_alone=True,
)


def check(subject: ProxySubject) -> Outcome:
    """Send what no client sends, and see whether the proxy goes on."""
    before = subject.ask_simplest()
    if before.response is None:
        return subject.unanswered(Through(before, subject.seen(before.query.name)))
    after = before
    for words, messages in garbage(plain_query().name):
        subject.asker.send(messages)
        evidence = (before, shown(messages))
        found = still_answers(subject.asker, plain_query(), subject.silence, words, *evidence, who="the proxy")
        if isinstance(found, Outcome):
            return found
        after = found
    return passed("The proxy answers after each kind.", after)
