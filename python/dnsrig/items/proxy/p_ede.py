"""P-ede: extended DNS errors."""

from dns.rdatatype import RdataType

from dnsrig.items.proxy._through import compare
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.transparency import option_differences
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, passed

ITEM = Item(
    id="P-ede",
    role="proxy",
    group="Response codes",
    requirement="Extended DNS errors of the upstream come to the client.",
    references=("RFC 8914 section 3", "RFC 5625 section 4.4.2"),
    severity=Severity.NOTICE,
    consequence="Users and operators do not learn why a name cannot be resolved.",
    procedure="A name is asked for to which the upstream responds with SERVFAIL and an extended DNS error.",
    dig=("dig @{server} -p {port} x.explained.rig.example A",),
    needs=("edns",),
    faults=(
        "proxy-strips-ede",
        "proxy-strips-options-of-responses",
        "proxy-drops-servfail",
        "proxy-drops-failures-with-edns",
    ),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask, and compare."""
    query = Query(name=names.fresh(names.EXPLAINED), rtype=RdataType.A, rd=True)
    through = compare(subject, query, of_response=option_differences)
    if isinstance(through, Outcome):
        return through
    return passed("The extended DNS error passes.", through.client)
