"""P-ttl: the age of cached records."""

from dns.rdatatype import RdataType

from dnsrig.items.proxy._through import compare
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.stopping import pause
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.transparency import raised_ttls
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

PAUSE_S = 2.1

ITEM = Item(
    id="P-ttl",
    role="proxy",
    group="Cache",
    requirement="TTLs in responses are not higher than the upstream's, and in the cache they run down.",
    references=("RFC 1035 section 3.2.1", "RFC 2181 section 8", "RFC 5625 section 3"),
    severity=Severity.ERROR,
    consequence=(
        "Clients use addresses that have changed, and signatures that have expired, longer than their owner said."
    ),
    procedure=(
        "A name is asked for twice, two seconds apart; where the second response is from the cache, its TTL "
        "is lower by at least one second."
    ),
    dig=("dig @{server} -p {port} x.plain.rig.example A", "sleep 2", "dig @{server} -p {port} x.plain.rig.example A"),
    needs=("upstream",),
    faults=("proxy-cache-keeps-ttl", "proxy-raises-ttl"),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask twice, some time apart."""
    query = Query(name=names.fresh(names.PLAIN), rtype=RdataType.A, rd=True, payload=None)
    first = compare(subject, query, of_response=raised_ttls)
    if isinstance(first, Outcome):
        return first
    pause(PAUSE_S)
    second = subject.ask(query)
    if first.client.message is None or second.client.message is None:
        return subject.unanswered(second)
    if not first.client.message.answer:
        return inconclusive("The response has no records whose TTL could be looked at.", first.client)
    if second.forwarded:
        return passed("The second response is not from a cache.", second.client)
    before = min((rrset.ttl for rrset in first.client.message.answer), default=0)
    after = max((rrset.ttl for rrset in second.client.message.answer), default=0)
    if after >= before:
        return failed(f"{PAUSE_S:g} s later the TTL from the cache is {after}, as before.", first.client, second.client)
    return passed(f"{PAUSE_S:g} s later the TTL from the cache is {after} instead of {before}.", second.client)
