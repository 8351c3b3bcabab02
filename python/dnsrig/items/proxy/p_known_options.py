"""P-known-options: EDNS options in use, and long queries."""

from dataclasses import replace

import dns.edns
import dns.message
from dns.edns import OptionType
from dns.rdatatype import RdataType

from dnsrig.items.proxy._through import compare
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.transparency import rcode_differences
from dnsrig.verification.upstream import names
from dnsrig.verification.upstream.answering import UNASSIGNED_OPTION
from dnsrig.verification.verdicts import Outcome, Severity, passed

LONG_OCTETS = 700
"""Makes a query longer than 512 octets, as padding and keys do."""
OPTIONS: dict[str, dns.edns.Option] = {
    "COOKIE": dns.edns.GenericOption(OptionType.COOKIE, bytes(range(8))),
    "ECS": dns.edns.ECSOption("192.0.2.0", 24),
    "padding": dns.edns.GenericOption(OptionType.PADDING, bytes(64)),
    f"an option of {LONG_OCTETS} octets": dns.edns.GenericOption(UNASSIGNED_OPTION, bytes(LONG_OCTETS)),
}

ITEM = Item(
    id="P-known-options",
    role="proxy",
    group="EDNS and flags",
    requirement="Queries with EDNS options in use, and those of more than 512 octets, are answered as others are.",
    references=("RFC 5625 section 4.4.2", "RFC 6891 section 6.1.2", "RFC 7873 section 5", "RFC 7830 section 3"),
    severity=Severity.ERROR,
    consequence=(
        "Clients that send cookies, as dig does, or padding or client subnets get no answers, or only after they have "
        "given EDNS up."
    ),
    procedure=(
        "An address is asked for with each of COOKIE, ECS, padding, and a long option, the last by TCP too; the proxy "
        "may keep those for itself, but answers with what the upstream sends."
    ),
    dig=(
        "dig @{server} -p {port} x.plain.rig.example A +cookie",
        "dig @{server} -p {port} x.plain.rig.example A +subnet=192.0.2.0/24",
    ),
    needs=("edns",),
    faults=("proxy-drops-options", "proxy-drops-cookies", "proxy-refuses-padding", "drops-long-queries"),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask with each option."""
    for said, option in OPTIONS.items():
        query = Query(name=names.fresh(names.PLAIN), rtype=RdataType.A, rd=True, options=(option,))
        through = compare(subject, query, of_response=_differences)
        if isinstance(through, Outcome):
            return replace(through, reason=f"With {said}: {through.reason}")
        if is_long(option) and subject.has_tcp:
            by_tcp = compare(subject, replace(query, name=names.fresh(names.PLAIN)), transport="tcp")
            if isinstance(by_tcp, Outcome):
                return replace(by_tcp, reason=f"With {said}, by TCP: {by_tcp.reason}")
    return passed(f"Queries with {', '.join(OPTIONS)} are answered.")


def is_long(option: dns.edns.Option) -> bool:
    """Whether a query is long by it."""
    return len(option.to_wire() or b"") >= LONG_OCTETS


def _differences(went_in: dns.message.Message, came_out: dns.message.Message) -> list[str]:
    """Compare the response code, and whether there is an answer: what is in it is P-answer's matter."""
    is_lost = bool(went_in.answer) and not came_out.answer
    return rcode_differences(went_in, came_out) + (["the answer is missing"] if is_lost else [])
