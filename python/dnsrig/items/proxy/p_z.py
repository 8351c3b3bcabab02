"""P-z: the header's reserved bit."""

from dns.rdatatype import RdataType

from dnsrig.items.proxy._through import at_upstream, compare
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.transparency import flag_differences, owner_differences
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, passed

ITEM = Item(
    id="P-z",
    role="proxy",
    group="EDNS and flags",
    requirement="A query with the header's last reserved bit passes the proxy, and with the bit.",
    references=("RFC 5625 section 4.1", "RFC 6895 section 2.1"),
    severity=Severity.NOTICE,
    consequence=(
        "A use that is found for the bit one day, as for AD and CD before, does not come to clients behind the proxy."
    ),
    procedure="A query has the bit Z.",
    dig=("dig @{server} -p {port} x.plain.rig.example A +zflag +noedns",),
    needs=("upstream",),
    faults=("proxy-clears-z", "proxy-drops-z"),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask, and compare."""
    query = Query(name=names.fresh(names.PLAIN), rtype=RdataType.A, rd=True, z=True, payload=None)
    through = compare(
        subject,
        query,
        of_query=lambda sent, came: flag_differences(sent, came, ("Z",)),
        of_response=owner_differences,
    )
    if isinstance(through, Outcome):
        return through
    return passed("The query comes to the upstream with Z.", through.client, *at_upstream(through.upstream))
