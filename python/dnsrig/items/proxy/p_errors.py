"""P-errors: SERVFAIL and REFUSED."""

import itertools
from dataclasses import replace

from dns.rdatatype import RdataType

from dnsrig.items.proxy._through import compare
from dnsrig.verification.exchange import Exchange, Transport
from dnsrig.verification.item import Item
from dnsrig.verification.queries import USUAL_PAYLOAD, Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.transparency import rcode_differences
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, passed

QUESTIONS = (
    (names.SERVFAIL, RdataType.A),
    (names.REFUSED, RdataType.A),
    (names.BOGUS, RdataType.A),
    (names.SERVFAIL, RdataType.AAAA),
)

ITEM = Item(
    id="P-errors",
    role="proxy",
    group="Response codes",
    requirement="SERVFAIL and REFUSED of the upstream come to the client.",
    references=("RFC 5625 section 3", "RFC 4035 section 5.5"),
    severity=Severity.ERROR,
    consequence=(
        "Clients wait instead of asking another resolver, or take a failure of validation for a name that "
        "does not exist."
    ),
    procedure=(
        "Names are asked for to which the upstream responds with SERVFAIL, as to bogus ones, and with REFUSED; "
        "addresses of both versions of IP, without EDNS by UDP and TCP, and with EDNS."
    ),
    dig=("dig @{server} -p {port} x.servfail.rig.example A", "dig @{server} -p {port} x.refused.rig.example A"),
    needs=("upstream",),
    faults=(
        "proxy-drops-servfail",
        "proxy-drops-refused",
        "proxy-hides-servfail",
        "proxy-hides-servfail-by-ipv6",
        "proxy-hides-servfail-by-tcp",
        "proxy-drops-failures-with-edns",
    ),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask, and compare."""
    shown: tuple[Exchange, ...] = ()
    ways: list[tuple[int | None, Transport]] = [(None, transport) for transport in subject.transports]
    if subject.lacks("edns") is None:
        ways.append((USUAL_PAYLOAD, "udp"))
    for (payload, transport), (what, rtype) in itertools.product(ways, QUESTIONS):
        query = Query(name=names.fresh(what), rtype=rtype, rd=True, payload=payload)
        through = compare(subject, query, of_response=rcode_differences, transport=transport)
        if isinstance(through, Outcome):
            return replace(through, reason=f"With{'out' if payload is None else ''} EDNS: {through.reason}")
        shown = (through.client,)
    return passed("SERVFAIL and REFUSED pass.", *shown)
