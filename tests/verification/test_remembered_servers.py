"""Items that rest on what comes to the tree's servers: what a resolver knows from before a run is no merit of it."""

from collections.abc import Callable

import dns.message
import dns.name
import dns.rrset
import pytest
from dns.rcode import NXDOMAIN
from dns.rdatatype import RdataType
from dnsrig.items.resolver import f_retries, f_special_names
from dnsrig.verification.exchange import Endpoint, Exchange
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.subjects.special_names import SPECIAL_NAMES
from dnsrig.verification.tree.seen import SeenQueries
from dnsrig.verification.verdicts import Verdict

RESOLVER = Endpoint("192.0.2.53")
SOA = "ns.example. hostmaster.example. 1 1 1 1 1"


class Resolver:
    """Denies everything, by an SOA record of a zone as told, and sends so many queries for each name in its turn."""

    server = RESOLVER

    def __init__(self, sends: list[int], zone_of: Callable[[dns.name.Name], dns.name.Name] | None = None) -> None:
        self.seen = SeenQueries()
        self.sends = sends
        self.zone_of = zone_of or (lambda _: dns.name.root)

    def udp(self, query: Query) -> Exchange:
        for _ in range(self.sends.pop(0) if self.sends else 0):
            wire = query.wire(1)
            self.seen.add(dns.message.from_wire(wire), wire, "udp", "127.0.0.1", ("127.0.0.2", 4711))
        response = dns.message.make_response(dns.message.from_wire(query.wire(1)), recursion_available=True)
        response.set_rcode(NXDOMAIN)
        response.authority.append(dns.rrset.from_text(self.zone_of(query.name), 300, "IN", "SOA", SOA))
        return Exchange(RESOLVER, "udp", query, query.wire(1), response.to_wire(), 1, 1.0)

    tcp = ask = udp


def subject_of(resolver: Resolver, *, is_seen_from_start: bool) -> ResolverSubject:
    return ResolverSubject(resolver, seen=resolver.seen, is_seen_from_start=is_seen_from_start)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("sends", "is_seen_from_start", "verdict"),
    [
        ([9], False, Verdict.FAIL),
        ([3], False, Verdict.PASS),
        ([1, 0, 0], False, Verdict.INCONCLUSIVE),
        ([1, 0, 9], False, Verdict.FAIL),
        ([1, 1, 1], False, Verdict.PASS),
        ([0, 0, 0], False, Verdict.INCONCLUSIVE),
        ([1], True, Verdict.PASS),
    ],
)
def test_a_server_that_is_known_to_be_silent_tells_nothing(
    monkeypatch: pytest.MonkeyPatch, sends: list[int], is_seen_from_start: bool, verdict: Verdict
) -> None:
    asks = lambda subject, name: subject.asker.udp(Query(name=name, rtype=RdataType.A, payload=None))  # noqa: E731
    monkeypatch.setattr(f_retries, "ask_once", asks)
    outcome = f_retries.check(subject_of(Resolver([*sends]), is_seen_from_start=is_seen_from_start))
    assert outcome.verdict == verdict, outcome.reason
    assert ("restart the resolver" in outcome.reason) == (verdict == Verdict.INCONCLUSIVE)


def _own_zone(name: dns.name.Name) -> dns.name.Name:
    return next(above for above in SPECIAL_NAMES if name.is_subdomain(above))


@pytest.mark.parametrize(
    ("sends", "zone_of", "is_seen_from_start", "verdict"),
    [
        ([1], None, False, Verdict.FAIL),
        ([], None, False, Verdict.INCONCLUSIVE),
        ([], None, True, Verdict.PASS),
        ([], _own_zone, False, Verdict.PASS),
    ],
)
def test_denials_that_are_kept_from_before_tell_nothing_of_special_names(
    sends: list[int],
    zone_of: Callable[[dns.name.Name], dns.name.Name] | None,
    is_seen_from_start: bool,
    verdict: Verdict,
) -> None:
    outcome = f_special_names.check(subject_of(Resolver(sends, zone_of), is_seen_from_start=is_seen_from_start))
    assert outcome.verdict == verdict, outcome.reason
