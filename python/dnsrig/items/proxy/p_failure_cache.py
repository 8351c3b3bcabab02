"""P-failure-cache: how long failures are kept."""

from dns.rdatatype import RdataType

from dnsrig.items.proxy._cache import ask_twice
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.stopping import pause
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

LONGEST_S = 300.0
"""How long a failure may be kept (RFC 9520 section 3.2)."""

ITEM = Item(
    id="P-failure-cache",
    role="proxy",
    group="Cache",
    requirement="SERVFAIL is kept in the cache for five minutes at most.",
    references=("RFC 9520 section 3.2", "RFC 2308 section 7.1"),
    severity=Severity.ERROR,
    consequence="A name whose servers failed for a moment stays away for all clients until the proxy is restarted.",
    procedure=(
        "A name to which the upstream responds with SERVFAIL is asked for twice, more than five minutes apart; the "
        "second time too the upstream is asked."
    ),
    dig=(
        "dig @{server} -p {port} x.servfail.rig.example A; sleep 301; dig @{server} -p {port} x.servfail.rig.example A",
    ),
    needs=("upstream",),
    faults=("proxy-caches-servfail",),
    is_slow=True,
)


def check(subject: ProxySubject) -> Outcome:
    """Ask twice, with a long time between."""
    query = Query(name=names.fresh(names.SERVFAIL), rtype=RdataType.A, rd=True, payload=None)
    twice = ask_twice(subject, query, query, between=lambda: pause(LONGEST_S + 1))
    if isinstance(twice, Outcome):
        return twice
    if twice.from_cache:
        return failed(f"{LONGEST_S:g} s later SERVFAIL is from the proxy's cache.", twice.second.client)
    return passed(f"{LONGEST_S:g} s later the upstream is asked again.", twice.second.client)
