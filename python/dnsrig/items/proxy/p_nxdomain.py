"""P-nxdomain: NXDOMAIN."""

import dns.message
import dns.name
from dns.rdatatype import RdataType

from dnsrig.items.proxy._through import compare
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.transparency import rcode_differences, section_differences
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, passed

TYPES = (RdataType.A, RdataType.AAAA, RdataType.MX)

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
    procedure=(
        "Names that do not exist, one of them with `www` at its front, and types that a name has not are asked for: "
        "addresses of both versions of IP, and MX."
    ),
    dig=("dig @{server} -p {port} x.absent.rig.example A", "dig @{server} -p {port} x.empty.rig.example A"),
    needs=("upstream",),
    faults=(
        "proxy-rewrites-nxdomain",
        "proxy-rewrites-nxdomain-by-ipv6",
        "proxy-rewrites-nxdomain-of-www",
        "proxy-hides-nxdomain",
        "proxy-denies-names-without-aaaa",
    ),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask, and compare."""
    shown: tuple[Exchange, ...] = ()
    for name, rtype in _questions():
        query = Query(name=name, rtype=rtype, rd=True, payload=None)
        through = compare(subject, query, of_response=_differences)
        if isinstance(through, Outcome):
            return through
        shown = (through.client,)
    return passed("NXDOMAIN and empty answers pass.", *shown)


def _questions() -> list[tuple[dns.name.Name, RdataType]]:
    found = [(names.fresh(what), rtype) for what in (names.ABSENT, names.EMPTY) for rtype in TYPES]
    return [*found, (dns.name.Name((b"www", *names.fresh(names.ABSENT).labels)), RdataType.A)]


def _differences(went_in: dns.message.Message, came_out: dns.message.Message) -> list[str]:
    return rcode_differences(went_in, came_out) + section_differences(went_in, came_out, "answer")
