"""P-private: addresses for private use."""

from dns.rdatatype import RdataType

from dnsrig.items.proxy._through import compare
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.transparency import section_differences
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, passed

ITEM = Item(
    id="P-private",
    role="proxy",
    group="Records",
    requirement="Addresses for private use pass the proxy like others.",
    references=("RFC 5625 section 3",),
    severity=Severity.NOTICE,
    consequence=(
        "Names of a private network, and lists that answer with addresses of loopback, do not work; "
        "protection against rebinding may be meant."
    ),
    procedure="A name with addresses of RFC 1918, RFC 4193 and loopback is asked for.",
    dig=("dig @{server} -p {port} x.private.rig.example A",),
    needs=("upstream",),
    faults=("proxy-drops-private", "proxy-rewrites-addresses"),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask, and compare."""
    shown: tuple[Exchange, ...] = ()
    for rtype in (RdataType.A, RdataType.AAAA):
        query = Query(name=names.fresh(names.PRIVATE), rtype=rtype, rd=True, payload=None)
        through = compare(subject, query, of_response=lambda sent, came: section_differences(sent, came, "answer"))
        if isinstance(through, Outcome):
            return through
        shown = (through.client,)
    return passed("The addresses pass.", *shown)
