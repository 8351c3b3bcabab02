"""A-garbage: messages that are none."""

from dnsrig.items._garbage import garbage
from dnsrig.items.authoritative._probes import soa_query
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Evidence, Outcome, Severity, failed, inconclusive, passed

ITEM = Item(
    id="A-garbage",
    role="authoritative",
    group="Robustness",
    requirement="Messages that cannot be parsed do not keep the server from answering others.",
    references=("RFC 1035 section 7.3", "RFC 8906 section 3.2"),
    severity=Severity.CRITICAL,
    consequence="Anyone can silence the server with one datagram.",
    procedure=(
        "Datagrams are sent that are empty, cut, have wrong counts, endless names or random octets; after each "
        "kind the SOA record is asked for and comes. What the server answers to them does not matter."
    ),
    dig=("# dig sends no such messages",),
    faults=("silenced-by-garbage",),
    runs_alone=True,
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Send what no client sends, and see whether the server goes on."""
    before = subject.asker.udp(soa_query(subject))
    if before.response is None:
        return subject.unanswered(before)
    for words, messages in garbage(subject.origin):
        subject.asker.send(messages)
        after = subject.asker.udp(soa_query(subject))
        if after.response is None:
            sent = Evidence("sent before", "\n".join(message.hex(" ", 2) or "(empty)" for message in messages))
            if not subject.silence():
                continue
            if subject.asker.tcp(soa_query(subject)).response is not None:
                reason = f"After {words} only TCP is answered; the server may limit its rate of responses."
                return inconclusive(reason, before, sent, after)
            return failed(f"After {words} the server answers no more.", before, sent, after)
    return passed("The server answers after each kind.", after)
