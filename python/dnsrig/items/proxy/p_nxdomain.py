"""P-nxdomain: NXDOMAIN."""

import dns.message
from dns.rdatatype import RdataType

from dnsrig.items.proxy._through import compare
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.transparency import rcode_differences, section_differences
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, passed

ITEM = Item(
    id="P-nxdomain",
    role="proxy",
    group="Response codes",
    requirement="NXDOMAIN, and the absence of a type, pass the proxy unchanged.",
    references=("RFC 5625 section 3", "RFC 2308 section 2"),
    severity=Severity.ERROR,
    consequence=(
        "Clients are led to a host that has nothing to do with the name; search lists, mail and validation go wrong."
    ),
    procedure="A name that does not exist, and a type that a name has not, are asked for.",
    dig=("dig @{server} -p {port} x.absent.rig.example A", "dig @{server} -p {port} x.empty.rig.example A"),
    needs=("upstream",),
    faults=("proxy-rewrites-nxdomain", "proxy-hides-nxdomain"),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask, and compare."""
    shown: tuple[Exchange, ...] = ()
    for what in (names.ABSENT, names.EMPTY):
        query = Query(name=names.fresh(what), rtype=RdataType.A, rd=True, payload=None)
        through = compare(subject, query, of_response=_differences)
        if isinstance(through, Outcome):
            return through
        shown = (through.client,)
    return passed("NXDOMAIN and empty answers pass.", *shown)


def _differences(went_in: dns.message.Message, came_out: dns.message.Message) -> list[str]:
    return rcode_differences(went_in, came_out) + section_differences(went_in, came_out, "answer")
