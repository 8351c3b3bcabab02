"""F-garbage: messages that are none."""

from dnsrig.items._garbage import garbage
from dnsrig.items.resolver._probes import plain_query
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Evidence, Outcome, Severity, failed, inconclusive, passed

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
    runs_alone=True,
)


def check(subject: ResolverSubject) -> Outcome:
    """Send what no client sends, and see whether the resolver goes on."""
    query = plain_query(subject)
    before = subject.asker.udp(query)
    if before.response is None:
        return subject.unanswered(before)
    for words, messages in garbage(query.name):
        subject.asker.send(messages)
        after = subject.asker.udp(query)
        if after.response is None and subject.silence():
            sent = Evidence("sent before", "\n".join(message.hex(" ", 2) or "(empty)" for message in messages))
            if subject.asker.tcp(query).response is not None:
                return inconclusive(f"After {words} only TCP is answered; it may limit its responses.", sent, after)
            return failed(f"After {words} the resolver answers no more.", before, sent, after)
    return passed("The resolver answers after each kind.", after)
