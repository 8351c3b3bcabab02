"""What items about remembered failures share (RFC 9520): the same question again, and what comes to the tree then."""

import time
from collections import Counter
from collections.abc import Sequence

import dns.name
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.verification.exchange import Exchange
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.tree.seen import SeenQuery
from dnsrig.verification.verdicts import Evidence, Outcome, Verdict, failed, inconclusive, passed

AGAIN = 3
NAMES, DECIDING = 3, 2
SHORTEST_S = 1.0
"""Failures are to be remembered at least so long (RFC 9520 section 3.2)."""
LONGEST_WAIT_S = 12.0
"""So long a single query is waited for."""


def ask_once(subject: ResolverSubject, name: dns.name.Name) -> Exchange:
    """Ask by one datagram without EDNS, and wait."""
    asker = type(subject.asker)(subject.asker.server, subject.asker.make_socket, (LONGEST_WAIT_S,))
    return asker.udp(Query(name=name, rtype=RdataType.A, rd=True, payload=None))


def list_of(queries: list[SeenQuery]) -> str:
    """Give queries as lines."""
    return "\n".join(f"{one.server} {one.transport} {one.name} {one.rtype.name}" for one in queries) or "none"


def check_remembered(subject: ResolverSubject, place: dns.name.Name, what: str) -> Outcome:
    """Ask for a fresh name that fails, then the same again at once; nothing of it may come to the tree then.

    A query may still be on its way when the first response comes: what two names of three show decides.
    """
    found: list[Outcome] = []
    while not found or (len(found) < NAMES and _most_alike(found) < DECIDING):
        outcome = _remembered(subject, subject.fresh_name(place), what)
        found.append(outcome)
        if outcome.verdict == Verdict.PASS and len(found) == 1:
            break
    deciding = [one for one in found if one.verdict != Verdict.FAIL]
    return deciding[0] if deciding and sum(one.verdict == Verdict.FAIL for one in found) < DECIDING else found[-1]


def _most_alike(found: Sequence[Outcome]) -> int:
    return max(Counter(one.verdict for one in found).values())


def _remembered(subject: ResolverSubject, name: dns.name.Name, what: str) -> Outcome:
    query = Query(name=name, rtype=RdataType.A, rd=True, payload=None)
    first = subject.asker.udp(query)
    answered_s = time.monotonic()
    if first.message is None:
        return inconclusive(f"The resolver does not say in time that {name}, {what}, cannot be resolved.", first)
    if first.rcode != dns.rcode.SERVFAIL:
        said = dns.rcode.to_text(first.rcode or dns.rcode.NOERROR)
        return inconclusive(f"{name} is answered with {said}, so there is no failure to remember.", first)
    if not subject.seen_of(name):
        return inconclusive(f"No query for {name} came to the tree, so there is no failure of its servers.", first)
    for _ in range(AGAIN):
        again = subject.asker.udp(query)
    taken_s = time.monotonic() - answered_s
    came = [one for one in subject.seen_of(name) if answered_s < one.at_s < answered_s + SHORTEST_S]
    shown = Evidence("queries for it at the tree's servers after the first response", list_of(came))
    if came:
        return failed(
            f"Asked for again within a second, {name}, {what}, led to {len(came)} more queries upstream.", again, shown
        )
    if taken_s > SHORTEST_S:
        return inconclusive(f"{AGAIN} queries took {taken_s:.1f} s, longer than failures must be remembered.", again)
    return passed(f"Asked for {AGAIN} times again, {name}, {what}, led to no more queries upstream.", again, shown)
