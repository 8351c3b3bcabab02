"""P-answer: answers."""

import dns.message
import dns.name
from dns.rdatatype import RdataType

from dnsrig.items.proxy._through import compare
from dnsrig.verification.asker import random_label
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.transparency import order_differences, rcode_differences, section_differences
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, passed

QUESTIONS = (
    (names.PLAIN, RdataType.A),
    (names.PLAIN, RdataType.AAAA),
    (names.ALIAS, RdataType.A),
    (names.CHAIN, RdataType.A),
    (names.MANY, RdataType.A),
    (names.MANY, RdataType.AAAA),
)
FOREIGN = ("www.example.com.", "example.net.")
"""Names outside the rig's zone: a list of what is to be led elsewhere may have what is below them."""

ITEM = Item(
    id="P-answer",
    role="proxy",
    group="Records",
    requirement="The records of the answer section pass the proxy unchanged, none is lost or added.",
    references=("RFC 5625 section 3", "RFC 1034 section 4.3.1"),
    severity=Severity.CRITICAL,
    consequence="Clients are led to other addresses than the name's owner gave, and validation fails.",
    procedure=(
        "Addresses, also of names with twelve of them, an alias, and a chain of three are asked for, and some outside "
        "the rig's zone; the answer section is compared with what the upstream sent. Aliases stand before what they "
        "lead to."
    ),
    dig=("dig @{server} -p {port} x.plain.rig.example A", "dig @{server} -p {port} x.alias.rig.example A"),
    needs=("upstream",),
    faults=(
        "proxy-rewrites-addresses",
        "proxy-removes-aliases",
        "proxy-keeps-eight-records",
        "proxy-cuts-chains",
        "proxy-moves-aliases",
        "blocks-foreign-names",
    ),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask, and compare."""
    shown: tuple[Exchange, ...] = ()
    questions = [(names.fresh(what), rtype) for what, rtype in QUESTIONS]
    questions += [(dns.name.from_text(random_label(), dns.name.from_text(of)), RdataType.A) for of in FOREIGN]
    for name, rtype in questions:
        query = Query(name=name, rtype=rtype, rd=True, payload=None)
        through = compare(subject, query, of_response=_differences)
        if isinstance(through, Outcome):
            return through
        shown = (through.client,)
    return passed("Addresses and aliases pass.", *shown)


def _differences(went_in: dns.message.Message, came_out: dns.message.Message) -> list[str]:
    found = rcode_differences(went_in, came_out) + section_differences(went_in, came_out, "answer")
    return found + order_differences(went_in, came_out)
