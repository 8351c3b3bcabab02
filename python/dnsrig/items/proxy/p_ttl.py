"""P-ttl: the age of cached records."""

from dns.rdatatype import RdataType

from dnsrig.items.proxy._through import compare
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.stopping import pause
from dnsrig.verification.subjects.proxy import ProxySubject, Through
from dnsrig.verification.transparency import raised_ttls
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

PAUSE_S = 2.1
SHORT_TTL_S = 1
LATER_S = 1.0
"""Some give what has expired at once, with a TTL of seconds, and ask the upstream behind that."""
STALE_MOST_S = 300
"""As for resolvers (F-stale): 30 s are recommended, and minutes are still no harm."""

ITEM = Item(
    id="P-ttl",
    role="proxy",
    group="Cache",
    requirement="TTLs in responses are not higher than the upstream's, and in the cache they run down and end.",
    references=(
        "RFC 1035 section 3.2.1",
        "RFC 2181 section 8",
        "RFC 2308 section 5",
        "RFC 5625 section 3",
        "RFC 8767 section 5",
    ),
    severity=Severity.ERROR,
    consequence=(
        "Clients use addresses that have changed, signatures that have expired, and denials of names that are there "
        "by now, longer than their owner said."
    ),
    procedure=(
        "Names that exist and names that do not are asked for twice, two seconds apart; where the second response is "
        "from the cache, its TTLs are lower by at least one second. What has a TTL of one second is asked for anew, "
        "before the client has its answer or right behind it; in that case what has expired has a TTL of "
        f"{STALE_MOST_S} s at most."
    ),
    dig=(
        "dig @{server} -p {port} x.plain.rig.example A; sleep 2; dig @{server} -p {port} x.plain.rig.example A",
        "dig @{server} -p {port} x.absent-1.rig.example A; sleep 2; dig @{server} -p {port} x.absent-1.rig.example A",
    ),
    needs=("upstream",),
    faults=(
        "proxy-cache-keeps-ttl",
        "proxy-raises-ttl",
        "proxy-caches-nxdomain-for-ever",
        "proxy-caches-empty-for-ever",
    ),
    # dnsmasq 2.90 keeps one SOA record for all denials of a zone: those of other items would renew its TTL.
    runs_alone=True,
)


def check(subject: ProxySubject) -> Outcome:
    """Ask for all twice, some time apart."""
    shorts = (names.living(SHORT_TTL_S), names.absent_for(SHORT_TTL_S), names.empty_for(SHORT_TTL_S))
    whats = (names.PLAIN, names.ABSENT, *shorts)
    firsts: list[Through] = []
    for what in whats:
        query = Query(name=names.fresh(what), rtype=RdataType.A, rd=True, payload=None)
        first = compare(subject, query, of_response=raised_ttls)
        if isinstance(first, Outcome):
            return first
        firsts.append(first)
    if not _ttls(firsts[0]):
        return inconclusive("The response has no records whose TTL could be looked at.", firsts[0].client)
    pause(PAUSE_S)
    seconds = [subject.ask(first.client.query) for first in firsts]
    if any(not second.forwarded for second in seconds[-len(shorts) :]):
        pause(LATER_S)
    for first, second, is_short in zip(firsts, seconds, (False, False, True, True, True), strict=True):
        if second.client.message is None:
            return subject.unanswered(second)
        is_stale = is_short and len(subject.seen(first.client.query.name)) > len(first.forwarded)
        wrong = None if second.forwarded else _wrong_from_cache(first, second, is_short=is_short, is_stale=is_stale)
        if wrong is not None:
            return wrong
    if seconds[0].forwarded:
        return passed("The second response is not from a cache.", seconds[0].client)
    before, after = min(_ttls(firsts[0])), max(_ttls(seconds[0]), default=0)
    return passed(f"{PAUSE_S:g} s later the TTL from the cache is {after} instead of {before}.", seconds[0].client)


def _wrong_from_cache(first: Through, second: Through, *, is_short: bool, is_stale: bool) -> Outcome | None:
    """Judge what the proxy answered itself; a denial that it gives without SOA record shows no TTL."""
    if is_stale:
        longest = max(_ttls(second), default=0)
        reason = f"What has expired is given with a TTL of {longest} s."
        return failed(reason, first.client, second.client) if longest > STALE_MOST_S else None
    if is_short:
        reason = f"{PAUSE_S:g} s later a response that may be kept for {SHORT_TTL_S} s comes from the cache."
        return failed(reason, first.client, second.client)
    before, after = min(_ttls(first), default=0), max(_ttls(second), default=0)
    if before and after >= before:
        return failed(f"{PAUSE_S:g} s later the TTL from the cache is {after}, as before.", first.client, second.client)
    return None


def _ttls(through: Through) -> list[int]:
    """Give the TTLs of an answer, or of the SOA record of a denial."""
    message = through.client.message
    if message is None:
        return []
    return [rrset.ttl for rrset in message.answer or message.authority]
