"""F-ttl-passed: TTLs are counted down, and then asked again."""

from dns.rdatatype import RdataType

from dnsrig.items.resolver._forged import fresh_in
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.stopping import pause
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.tree.zones_ttls import SHORT, SHORT_TTL_S
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

AGED_S = 2.5
LATER_S = 1.0
"""A resolver that gives what has expired at once asks behind the response (RFC 8767 section 5)."""
SPARE_S = 2.0
ITEM = Item(
    id="F-ttl-passed",
    role="resolver",
    group="Messages",
    requirement="The resolver counts TTLs down, and asks again when they have passed.",
    references=("RFC 1035 section 3.2.1", "RFC 1035 section 7.4", "RFC 8767 section 5"),
    severity=Severity.ERROR,
    consequence=(
        "Its clients are sent to hosts that are no longer there, for as long as they go on asking; what they cache in "
        "turn outlives the zone's changes."
    ),
    procedure=(
        f"A name whose record has a TTL of {SHORT_TTL_S} s is asked for, and again after 2.5 s: the TTL is shorter "
        "then, or the tree was asked. When the TTL has passed it is asked for once more: the tree's servers are asked."
    ),
    dig=(f"dig @{{server}} -p {{port}} any.fresh.{SHORT} A +noedns   # again and again",),
    needs=("upstream", "seen"),
    faults=("never-ages", "keeps-expired", "raises-all-ttls"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask three times."""
    query = Query(name=fresh_in(subject, SHORT), rtype=RdataType.A, rd=True, payload=None)
    first = subject.asker.ask(query)
    before = _ttl(first)
    asked = len(subject.seen_of(query.name))
    if before is None or not asked:
        return inconclusive("A fresh name is not answered with a record from the tree.", first)
    pause(AGED_S)
    second = subject.asker.ask(query)
    after = _ttl(second)
    if after is None:
        return inconclusive("What was answered at first is not any more.", first, second)
    again = len(subject.seen_of(query.name))
    if again == asked and after >= before:
        return failed(f"After {AGED_S:g} s the TTL is {after}, as it was {before} before.", first, second)
    if after > SHORT_TTL_S:
        return inconclusive(f"The TTL of {SHORT_TTL_S} s is given as {before} s; F-ttl is about that.", first, second)
    pause(SHORT_TTL_S + SPARE_S)
    third = subject.asker.ask(query)
    pause(LATER_S)
    if len(subject.seen_of(query.name)) == again:
        return failed(f"A TTL of {after} s has passed, and nobody is asked again.", second, third)
    return passed(f"After {AGED_S:g} s a TTL of {before} is {after}; once it has passed, the tree is asked.", second)


def _ttl(exchange: Exchange) -> int | None:
    answer = [] if exchange.message is None else exchange.message.answer
    return next((int(rrset.ttl) for rrset in answer if rrset.rdtype == RdataType.A), None)
