"""A-garbage: messages that are none."""

from dnsrig.items._garbage import garbage, shown, still_answers
from dnsrig.items.authoritative._probes import soa_query
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, passed

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
    is_rough=True,
    runs_alone=True,
    is_of_server=True,
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Send what no client sends, and see whether the server goes on."""
    before = subject.asker.udp(soa_query(subject))
    if before.response is None:
        return subject.unanswered(before)
    after = before
    for words, messages in garbage(subject.origin):
        subject.asker.send(messages)
        query, evidence = soa_query(subject), (before, shown(messages))
        found = still_answers(subject.asker, query, subject.silence, words, *evidence, who="the server")
        if isinstance(found, Outcome):
            return found
        after = found
    return passed("The server answers after each kind.", after)
