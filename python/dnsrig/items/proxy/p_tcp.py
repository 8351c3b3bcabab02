"""P-tcp: TCP."""

from dns.rdatatype import RdataType

from dnsrig.items.proxy._through import compare
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.transparency import owner_differences
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, passed

ITEM = Item(
    id="P-tcp",
    role="proxy",
    group="Size and TCP",
    requirement="The proxy answers queries by TCP.",
    references=("RFC 5625 section 4.4.1", "RFC 7766 section 5"),
    severity=Severity.ERROR,
    consequence="Clients that get TC, and those that use TCP from the start, get no answer.",
    procedure="An address is asked for by TCP, without EDNS.",
    dig=("dig @{server} -p {port} x.plain.rig.example A +noedns +tcp",),
    needs=("upstream",),
    faults=("no-tcp", "proxy-drops-tcp"),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask by TCP."""
    query = Query(name=names.fresh(names.PLAIN), rtype=RdataType.A, rd=True, payload=None)
    through = compare(subject, query, of_response=owner_differences, transport="tcp")
    if isinstance(through, Outcome):
        return through
    how = "" if through.upstream is None else f"; the proxy asks by {through.upstream.transport.upper()}"
    return passed(f"The query by TCP is answered{how}.", through.client)
