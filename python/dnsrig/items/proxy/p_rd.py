"""P-rd: queries without RD."""

import itertools

import dns.flags
import dns.message
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.items.proxy._through import ask_whole, at_upstream
from dnsrig.verification.item import Item
from dnsrig.verification.queries import USUAL_PAYLOAD, Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, Shown, failed, passed

ITEM = Item(
    id="P-rd",
    role="proxy",
    group="EDNS and flags",
    requirement="A query without RD comes to the upstream without, if it comes there, and its response has no RD.",
    references=("RFC 1035 section 4.1.1", "RFC 5625 section 4.1"),
    severity=Severity.NOTICE,
    consequence=(
        "Who asks what a resolver has in its cache, without having it look for more, gets another answer and changes "
        "the cache; monitoring says what is not so."
    ),
    procedure=(
        "An address is asked for without RD, without EDNS and with, by UDP and TCP; the flag is looked at in the query "
        "as the upstream gets it, and in the response. To refuse such queries is right too."
    ),
    dig=("dig @{server} -p {port} x.plain.rig.example A +norec +noedns",),
    needs=("upstream",),
    faults=("proxy-sets-rd", "proxy-sets-rd-by-tcp"),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask without RD."""
    shown: tuple[Shown, ...] = ()
    said = "The query comes to the upstream without RD"
    payloads = (None, USUAL_PAYLOAD) if subject.lacks("edns") is None else (None,)
    for transport, payload in itertools.product(subject.transports, payloads):
        query = Query(name=names.fresh(names.PLAIN), rtype=RdataType.A, payload=payload)
        through = ask_whole(subject, query) if transport == "udp" else subject.ask(query, "tcp")
        message = through.client.message
        if message is None:
            return subject.unanswered(through)
        if message.flags & dns.flags.RD:
            return failed("The response has RD, which the query had not.", through.client)
        upstream = through.upstream
        if upstream is not None and upstream.asked.flags & dns.flags.RD:
            return failed("The upstream gets RD, which the query had not.", through.client, *at_upstream(upstream))
        if upstream is None:
            said = f"The proxy answers {dns.rcode.to_text(message.rcode())} itself"
        shown = (through.client, *at_upstream(upstream))
    return passed(f"{said}, and the response has none.", *shown)
