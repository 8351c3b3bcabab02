"""F-ttl-passed: TTLs are counted down, and then asked again."""

from collections.abc import Sequence

import dns.name
import dns.rcode
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
    references=("RFC 1035 section 3.2.1", "RFC 1035 section 7.4", "RFC 2308 section 5", "RFC 8767 section 5"),
    severity=Severity.ERROR,
    consequence=(
        "Its clients are sent to hosts that are no longer there, for as long as they go on asking; what they cache in "
        "turn outlives the zone's changes. New names are not found for as long."
    ),
    procedure=(
        f"A name whose record has a TTL of {SHORT_TTL_S} s is asked for, and again after 2.5 s: the TTL is shorter "
        "then, or the tree was asked. When the TTL has passed it is asked for once more: the tree's servers are asked. "
        "So are they for a name and a type that do not exist, whose denials had the same TTL."
    ),
    dig=(f"dig @{{server}} -p {{port}} any.fresh.{SHORT} A +noedns   # again and again",),
    needs=("upstream", "seen"),
    faults=(
        "never-ages",
        "keeps-expired",
        "keeps-denials",
        "keeps-denials-too-long",
        "raises-all-ttls",
        "raises-short-ttls",
    ),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask three times, and for what does not exist at first and at last."""
    denials = [subject.asker.ask(query) for query in _denied(subject)]
    known = _times_asked(subject, denials)
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
    third, *later = [subject.asker.ask(one) for one in (query, *(denial.query for denial in denials))]
    pause(LATER_S)
    if len(subject.seen_of(query.name)) == again:
        return failed(f"A TTL of {after} s has passed, and nobody is asked again.", second, third)
    if kept := _kept_denials(denials, later, known, _times_asked(subject, denials)):
        said = f"Denials with a TTL of {SHORT_TTL_S} s are kept for longer: nobody is asked again"
        return failed(f"{said} for {' and '.join(one.title for one in kept)}.", *kept)
    said = f"After {AGED_S:g} s a TTL of {before} is {after}; once it has passed, the tree is asked, also for denials."
    return passed(said, second)


def _denied(subject: ResolverSubject) -> tuple[Query, ...]:
    """Make queries for a name that does not exist and for a type that a name has not.

    The name is right below the apex: what is denied above it would deny it too (RFC 8020).
    """
    absent = Query(name=subject.fresh_name(dns.name.from_text(SHORT)), rtype=RdataType.A, rd=True, payload=None)
    return absent, Query(name=fresh_in(subject, SHORT), rtype=RdataType.MX, rd=True, payload=None)


def _times_asked(subject: ResolverSubject, denials: Sequence[Exchange]) -> list[int]:
    return [len(subject.seen_of(one.query.name)) for one in denials]


def _kept_denials(
    denials: Sequence[Exchange], later: Sequence[Exchange], before: Sequence[int], after: Sequence[int]
) -> list[Exchange]:
    """Give what is denied again at last, and the tree was not asked for once more."""
    asked = zip(denials, later, before, after, strict=True)
    return [last for first, last, was, now in asked if _is_denial(first) and _is_denial(last) and was == now > 0]


def _is_denial(exchange: Exchange) -> bool:
    message = exchange.message
    return message is not None and message.rcode() in {dns.rcode.NOERROR, dns.rcode.NXDOMAIN} and not message.answer


def _ttl(exchange: Exchange) -> int | None:
    answer = [] if exchange.message is None else exchange.message.answer
    return next((int(rrset.ttl) for rrset in answer if rrset.rdtype == RdataType.A), None)
