"""P-ttl-zero: TTL 0."""

from dns.rdatatype import RdataType

from dnsrig.items.proxy._cache import ask_twice
from dnsrig.items.proxy._through import changed, differences, no_difference
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.transparency import raised_ttls
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

ITEM = Item(
    id="P-ttl-zero",
    role="proxy",
    group="Cache",
    requirement="Records with TTL 0 are not kept in the cache, and come to the client with it.",
    references=("RFC 1035 section 3.2.1",),
    severity=Severity.WARNING,
    consequence=(
        "Services that steer clients by answers made for each query, or that fail over, are cut off from them."
    ),
    procedure=(
        "A name whose record has TTL 0 is asked for twice, and comes to the upstream twice, and to the client with "
        "TTL 0."
    ),
    dig=("dig @{server} -p {port} x.ttl-0.rig.example A", "dig @{server} -p {port} x.ttl-0.rig.example A"),
    needs=("upstream",),
    faults=("proxy-caches-ttl-zero", "proxy-raises-ttl-zero"),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask twice."""
    query = Query(name=names.fresh(names.living(0)), rtype=RdataType.A, rd=True, payload=None)
    twice = ask_twice(subject, query, query)
    if isinstance(twice, Outcome):
        return twice
    if twice.from_cache:
        return failed("The second response, for a record with TTL 0, is from the proxy's cache.", twice.second.client)
    found = differences(twice.second, no_difference, raised_ttls)
    if found:
        return changed(twice.second, found)
    return passed("The upstream is asked each time for a record with TTL 0.", twice.second.client)
