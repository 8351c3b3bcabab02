"""P-unknown-class: unknown classes."""

import dns.rdataclass
from dns.rdatatype import RdataType

from dnsrig.items.proxy._through import compare
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.transparency import section_differences
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, passed

ITEM = Item(
    id="P-unknown-class",
    role="proxy",
    group="Records",
    requirement="Queries and records of a class that the proxy does not know pass it unchanged.",
    references=("RFC 5625 section 4.3", "RFC 3597 section 3"),
    severity=Severity.NOTICE,
    consequence="Other classes than IN, which few use, cannot be used behind the proxy.",
    procedure="Type 65281 of class 65280, both for private use, is asked for.",
    dig=("dig @{server} -p {port} -c CLASS65280 -t TYPE65281 -q x.plain.rig.example",),
    needs=("upstream",),
    faults=("proxy-refuses-classes", "drops-unknown-types", "notimp-to-unknown-types"),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask, and compare."""
    rdclass = dns.rdataclass.RdataClass.make(65_280)
    query = Query(name=names.fresh(names.PLAIN), rtype=RdataType.make(65_281), rdclass=rdclass, rd=True, payload=None)
    through = compare(subject, query, of_response=lambda sent, came: section_differences(sent, came, "answer"))
    if isinstance(through, Outcome):
        return through
    return passed("The record passes.", through.client)
