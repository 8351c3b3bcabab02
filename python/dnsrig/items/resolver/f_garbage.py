"""F-garbage: messages that are none."""

from dnsrig.items._garbage import garbage, shown, still_answers
from dnsrig.items.resolver._probes import plain_query
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity, passed

ITEM = Item(
    id="F-garbage",
    role="resolver",
    group="Robustness",
    requirement="Messages that cannot be parsed do not keep the resolver from answering others.",
    references=("RFC 1035 section 7.3", "RFC 8906 section 3.2"),
    severity=Severity.CRITICAL,
    consequence="Anyone who may ask it can silence it with one datagram.",
    procedure=(
        "Datagrams are sent that are empty, cut, have wrong counts, endless names or random octets; after each kind a "
        "name is asked for and comes. What is answered to them does not matter."
    ),
    dig=("# dig sends no such messages",),
    needs=("names",),
    faults=("silenced-by-garbage",),
    is_rough=True,
    runs_alone=True,
)


def check(subject: ResolverSubject) -> Outcome:
    """Send what no client sends, and see whether the resolver goes on."""
    query = plain_query(subject)
    before = subject.asker.udp(query)
    if before.response is None:
        return subject.unanswered(before)
    after = before
    for words, messages in garbage(query.name):
        subject.asker.send(messages)
        evidence = (before, shown(messages))
        found = still_answers(subject.asker, query, subject.silence, words, *evidence, who="the resolver")
        if isinstance(found, Outcome):
            return found
        after = found
    return passed("The resolver answers after each kind.", after)
