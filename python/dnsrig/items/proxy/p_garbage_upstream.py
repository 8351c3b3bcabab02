"""P-garbage-upstream: messages from the upstream that are none."""

from dns.rdatatype import RdataType

from dnsrig.items._garbage import still_answers
from dnsrig.items.proxy._through import by_tcp_alone
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject, Through
from dnsrig.verification.upstream import names
from dnsrig.verification.upstream.garbling import KINDS
from dnsrig.verification.upstream.questions import plain_query
from dnsrig.verification.upstream.server import Forwarded
from dnsrig.verification.verdicts import Evidence, Outcome, Severity, inconclusive, passed

TIMES, GAP_S, WAIT_S = 2, 0.02, 0.15
"""So often each kind is asked for, and how long it is waited for: it needs no response."""

ITEM = Item(
    id="P-garbage-upstream",
    role="proxy",
    group="Protection",
    requirement="Responses that cannot be parsed do not keep the proxy from answering other queries.",
    references=("RFC 1035 section 7.3", "RFC 9267 section 2", "RFC 5625 section 6"),
    severity=Severity.CRITICAL,
    consequence="Whoever can send one broken response leaves everybody behind the proxy without names.",
    procedure=(
        f"Names are asked for to which the upstream responds by UDP with {', '.join(KINDS)}; after each kind another "
        "name is asked for and comes. What the client gets of them does not matter."
    ),
    dig=("dig @{server} -p {port} x.garbled-1.rig.example A +noedns +tries=1",),
    needs=("upstream",),
    faults=("proxy-dies-of-malformed-responses",),
    runs_alone=True,
)


def check(subject: ProxySubject) -> Outcome:
    """Let the upstream send what no server sends, and see whether the proxy goes on."""
    before = subject.ask_simplest()
    if before.response is None:
        return subject.unanswered(Through(before, subject.seen(before.query.name)))
    after, unseen = before, []
    forwarded: list[Forwarded] = []
    for kind, words in enumerate(KINDS):
        queries = [_query(kind) for _ in range(TIMES)]
        subject.asker.udp_in_a_row(queries, GAP_S, WAIT_S)
        came = [one for query in queries for one in subject.seen(query.name)]
        forwarded += came
        sent = [one for one in came if one.transport == "udp"]
        if not sent:
            unseen.append(words)
            continue
        evidence = (before, Evidence("the upstream was asked", sent[0].asked.to_text()))
        said = f"{words} from the upstream"
        found = still_answers(subject.asker, plain_query(), subject.silence, said, *evidence, who="the proxy")
        if isinstance(found, Outcome):
            return found
        after = found
    if unseen:
        said = f"The queries that have {unseen[0]} as response did not come to the upstream."
        return by_tcp_alone(forwarded) or inconclusive(said, after)
    return passed(f"The proxy answers after each of {len(KINDS)} kinds.", after)


def _query(kind: int) -> Query:
    return Query(name=names.fresh(names.garbled(kind)), rtype=RdataType.A, rd=True, payload=None)
