"""P-tcp-parts: messages by TCP that come in parts."""

from dns.rdatatype import RdataType

from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject, Through
from dnsrig.verification.upstream import names
from dnsrig.verification.upstream.questions import plain_query
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

GAP_S, TRIES = 0.15, 2

ITEM = Item(
    id="P-tcp-parts",
    role="proxy",
    group="Size and TCP",
    requirement="Messages by TCP pass whatever the segments that they come in, from the client and from the upstream.",
    references=("RFC 7766 section 8", "RFC 1035 section 4.2.2"),
    severity=Severity.WARNING,
    consequence=(
        "Clients and upstreams whose system sends length and message apart, or whose messages are cut on their way, "
        "get nothing by TCP: large responses do not exist for them."
    ),
    procedure=(
        f"An address is asked for by TCP with the query in three segments, {GAP_S:g} s apart: an octet of the length, "
        "some octets, and the rest. Another is asked for whose response the upstream sends so, where the proxy asks it "
        f"by TCP. Each is tried {TRIES} times."
    ),
    dig=("dig @{server} -p {port} x.pieces.rig.example A +tcp   # dig sends each query whole",),
    needs=("tcp",),
    faults=("needs-whole-queries", "proxy-needs-whole-responses"),
    # Unbound loses a response of which a part has come when it sends another query by the same connection.
    runs_alone=True,
)


def check(subject: ProxySubject) -> Outcome:
    """Ask in parts, and have the answer in parts."""
    query = plain_query()
    parts = subject.asker.tcp_in_parts(query, GAP_S)
    for _ in range(TRIES - 1):
        if parts.response is None:
            query = plain_query()
            parts = subject.asker.tcp_in_parts(query, GAP_S)
    if parts.response is None:
        whole = subject.asker.tcp(plain_query())
        if whole.response is None:
            return inconclusive("Whole queries by TCP are not answered any more either.", whole)
        return failed(f"A query in three segments gets {parts.trouble}; a whole one is answered.", parts, whole)
    if parts.message is None:
        return subject.unanswered(Through(parts, subject.seen(query.name)))
    return _from_upstream(subject)


def _from_upstream(subject: ProxySubject) -> Outcome:
    for _ in range(TRIES):
        pieces = subject.ask(Query(name=names.fresh(names.PIECES), rtype=RdataType.A, rd=True, payload=None), "tcp")
        message = pieces.client.message
        # What is in the answer is P-answer's matter.
        if message is not None and message.answer:
            break
    if message is not None and message.answer and pieces.upstream is not None:
        how = "in three segments too" if pieces.upstream.transport == "tcp" else "whole, as the proxy asks by UDP"
        return passed(f"The query in three segments is answered; the upstream's response came {how}.", pieces.client)
    whole = subject.asker.tcp(plain_query())
    if whole.message is None:
        return inconclusive("Whole responses by TCP do not come any more either.", whole)
    if not pieces.forwarded:
        return inconclusive("The query has not come to the upstream.", pieces.client)
    came = pieces.client.trouble if message is None else "no answer"
    return failed(f"A response in three segments gets the client {came}; whole ones come.", pieces.client, whole)
