"""P-forged: responses that the proxy did not ask for."""

from dns.rdatatype import RdataType

from dnsrig.items.proxy._through import at_upstream, by_tcp_alone
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.upstream import names
from dnsrig.verification.upstream.answering import FORGED_ADDRESS
from dnsrig.verification.upstream.server import Forwarded
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

FORGERIES = {
    names.FORGED_ID: "another ID",
    names.FORGED_QUESTION: "another question",
    names.FORGED_SOURCE: "another port as its source",
    names.FORGED_HOST: "another address as its source",
}

ITEM = Item(
    id="P-forged",
    role="proxy",
    group="Protection",
    requirement=(
        "The proxy takes as responses only messages with the ID and question of its query, from where it sent it."
    ),
    references=("RFC 5452 section 9.1", "RFC 5625 section 6.1"),
    severity=Severity.CRITICAL,
    consequence="Who can send datagrams to the proxy leads all clients behind it to addresses of his choice.",
    procedure=(
        "Before its response, the upstream sends one with another address in it that has another ID, another question, "
        "or comes from another port, or, where this machine can send so, from another host; the client does not get "
        "that address. To answer nothing, or SERVFAIL, is no failure."
    ),
    dig=("dig @{server} -p {port} x.forged-id.rig.example A", "dig @{server} -p {port} x.forged-source.rig.example A"),
    needs=("upstream", "between"),
    faults=(
        "proxy-believes-any-id",
        "proxy-believes-any-question",
        "proxy-believes-any-source",
        "proxy-believes-any-address",
    ),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask for what is forged."""
    tried: list[str] = []
    forwarded: list[Forwarded] = []
    for what, said in FORGERIES.items():
        through = subject.ask(Query(name=names.fresh(what), rtype=RdataType.A, rd=True, payload=None))
        message = through.client.message
        given = [] if message is None else [rdata.to_text() for rrset in message.answer for rdata in rrset]
        if FORGED_ADDRESS in given:
            reason = f"A forged response with {said} comes to the client as if the upstream had sent it."
            return failed(reason, through.client, *at_upstream(through.upstream))
        forwarded += through.forwarded
        was_sent = subject.upstream is not None and what in subject.upstream.forged
        if was_sent and any(one.transport == "udp" for one in through.forwarded):
            tried.append(said)
    if not tried:
        return by_tcp_alone(forwarded) or inconclusive("The upstream was not asked by UDP.")
    return passed(f"Forged responses with {', '.join(tried)} are not taken.")
