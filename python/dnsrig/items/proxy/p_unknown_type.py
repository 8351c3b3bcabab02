"""P-unknown-type: unknown types."""

from dns.rdatatype import RdataType

from dnsrig.items.proxy._through import compare
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
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
    procedure="Type 65280, for private use, is asked for.",
    dig=("dig @{server} -p {port} x.plain.rig.example TYPE65280",),
    needs=("upstream",),
    faults=("drops-unknown-types", "notimp-to-unknown-types"),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask, and compare."""
    query = Query(name=names.fresh(names.PLAIN), rtype=RdataType.make(65_280), rd=True, payload=None)
    through = compare(subject, query, of_response=lambda sent, came: section_differences(sent, came, "answer"))
    if isinstance(through, Outcome):
        return through
    return passed("The record passes.", through.client)
