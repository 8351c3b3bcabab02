"""P-added-options: EDNS options about the client."""

import dns.message
from dns.edns import OptionType
from dns.rdatatype import RdataType

from dnsrig.items.proxy._through import at_upstream, compare
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, Shown, passed

OF_THE_HOP = {
    OptionType.DAU,
    OptionType.DHU,
    OptionType.N3U,
    OptionType.COOKIE,
    OptionType.make(11),
    OptionType.PADDING,
}
"""Options that say nothing of the client: of a validator (RFC 6975), of each hop (RFC 7828, RFC 7830, RFC 7873)."""

ITEM = Item(
    id="P-added-options",
    role="proxy",
    group="Protection",
    requirement="The proxy adds no EDNS options to queries that tell who asks.",
    references=("RFC 7871 section 2", "RFC 7871 section 11.1", "RFC 5625 section 3"),
    severity=Severity.WARNING,
    consequence="Servers on the Internet learn the addresses or devices of the users, who were not asked.",
    procedure=(
        "Queries without EDNS, with it and with DO are sent; the upstream gets no options that the client did not send."
    ),
    dig=("dig @{server} -p {port} x.plain.rig.example A +nosubnet",),
    needs=("upstream",),
    faults=("proxy-adds-client-subnet",),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask, and look at what the upstream gets."""
    shown: tuple[Shown, ...] = ()
    ways = ((None, False), (1232, False), (1232, True)) if subject.lacks("edns") is None else ((None, False),)
    for payload, do in ways:
        query = Query(name=names.fresh(names.PLAIN), rtype=RdataType.A, rd=True, payload=payload, do=do)
        through = compare(subject, query, of_query=_added)
        if isinstance(through, Outcome):
            return through
        shown = at_upstream(through.upstream)
    return passed("The upstream gets no options but the client's.", *shown)


def _added(went_in: dns.message.Message, came_out: dns.message.Message) -> list[str]:
    known = {option.otype for option in went_in.options} | OF_THE_HOP
    return [f"the EDNS option {int(one.otype)} is added" for one in came_out.options if one.otype not in known]
