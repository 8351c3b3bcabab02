"""P-unknown-type: unknown types."""

import itertools
from dataclasses import replace

import dns.message

from dnsrig.items.proxy._through import compare
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.landmarks import UNUSED_TYPE
from dnsrig.verification.queries import USUAL_PAYLOAD, Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.transparency import section_differences
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, passed

ITEM = Item(
    id="P-unknown-type",
    role="proxy",
    group="Records",
    requirement="Records of a type that the proxy does not know pass it unchanged.",
    references=("RFC 5625 section 4.3", "RFC 3597 section 3"),
    severity=Severity.ERROR,
    consequence="New record types cannot be used behind the proxy.",
    procedure=(
        "Type 65280, for private use, is asked for by UDP and TCP: without EDNS, and with EDNS and DO where these pass "
        "for addresses (see P-1)."
    ),
    dig=(
        "dig @{server} -p {port} x.plain.rig.example TYPE65280 +noedns",
        "dig @{server} -p {port} x.plain.rig.example TYPE65280 +dnssec +tcp",
    ),
    needs=("upstream",),
    faults=(
        "drops-unknown-types",
        "notimp-to-unknown-types",
        "proxy-drops-unknown-types-with-edns",
        "proxy-drops-unknown-types-with-do",
        "proxy-drops-unknown-types-by-tcp",
    ),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask, and compare."""
    shown: tuple[Exchange, ...] = ()
    for transport, (way, payload, do) in itertools.product(subject.transports, _ways(subject)):
        query = Query(name=names.fresh(names.PLAIN), rtype=UNUSED_TYPE, rd=True, payload=payload, do=do)
        through = compare(subject, query, of_response=_answer_differences, transport=transport)
        if isinstance(through, Outcome):
            return replace(through, reason=f"{way}, by {transport.upper()}: {through.reason}")
        shown = shown or (through.client,)
    return passed(f"The record passes by {' and '.join(one.upper() for one in subject.transports)}.", *shown)


def _ways(subject: ProxySubject) -> list[tuple[str, int | None, bool]]:
    """Give the ways in words, as payload size and as DO; what does not pass for addresses is left out."""
    found: list[tuple[str, int | None, bool]] = [("Without EDNS", None, False)]
    if subject.lacks("edns") is None:
        found.append(("With EDNS", USUAL_PAYLOAD, False))
    if subject.lacks("dnssec") is None:
        found.append(("With DO", USUAL_PAYLOAD, True))
    return found


def _answer_differences(went_in: dns.message.Message, came_out: dns.message.Message) -> list[str]:
    return section_differences(went_in, came_out, "answer")
