"""Items about proxies: one that is right fails none, and each fault of one fails exactly the items that name it."""

import ipaddress
import random
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from dns.rdatatype import RdataType
from dnsrig.items.catalogue import chosen, items
from dnsrig.items.proxy import p_failure_cache, p_ttl
from dnsrig.items.proxy.p_names import longest
from dnsrig.servers.resolvers.registry import found_resolvers, resolver_driver
from dnsrig.servers.resolvers.settings import Forwarder, ResolverSettings
from dnsrig.servers.resolvers.unbound import UnboundForwarder
from dnsrig.verification.asker import Asker
from dnsrig.verification.deviations import deviating_items
from dnsrig.verification.exchange import HEADER_OCTETS, Endpoint
from dnsrig.verification.faults.catalogue import fault_named, faults_of
from dnsrig.verification.faults.changes import dropping
from dnsrig.verification.faults.fault import Change, Fault, Passage, wire_of
from dnsrig.verification.faults.relay import NO_FAULT, Relay
from dnsrig.verification.queries import Query
from dnsrig.verification.runner import run_items
from dnsrig.verification.stopping import pause
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.upstream import answering, names
from dnsrig.verification.upstream.server import Upstream
from dnsrig.verification.verdicts import Outcome, passed
from matrix_record import keep, keep_right, keep_unable
from rate_limits import BY_THE_CLOCK, FROM_A_BUCKET
from turns import TIMEOUT_S, chosen_with, in_turn

pytestmark = pytest.mark.timeout(TIMEOUT_S)

WAN = ("127.0.0.2", "::1")
"""Addresses that a proxy on 127.0.0.1 has no reason to listen on."""
SHORT_WAITS_S, LONG_WAITS_S = (0.5, 1.0), (2.0, 3.0)
TCP_WAIT_S, LONG_TCP_WAIT_S = 1.5, 5.0
AT_ONCE = 6
LOSS, LOSS_SEED = 0.1, 53
RARE = {"P-ttl", "P-parallel", "P-failure-short", "P-same-id"}
"""They wait, or ask more at once than dnsmasq takes from several runs; they run without fault, or with their own."""
TOWARDS_UPSTREAM = {
    "proxy-fixed-source-port",
    "proxy-sequential-ids",
    "proxy-believes-any-id",
    "proxy-believes-any-question",
    "proxy-believes-any-source",
    "proxy-believes-any-address",
    "proxy-needs-whole-responses",
    "proxy-dies-of-malformed-responses",
}
"""Faults that do not show before a proxy that is right, which asks by itself."""
NOT_SHOWN = {
    "unbound-forwarder": {
        "P-tc",
        "P-payload",
        "P-added-options",
        "P-failure-short",
        "P-cache-subnet",
        "P-rd",
        "P-opcode",
    },
    "dnsmasq": {"P-payload"},
}
"""Items that a proxy passes in another way than by what the faults change: Unbound goes on by TCP itself and asks with
EDNS options of its own, both have payload sizes of their own, and Unbound gives SERVFAIL for REFUSED, REFUSED for
what it does not do, and passes no client subnets on."""
USUAL = [known for known in items("proxy") if not known.item.is_slow]
ALL = {known.item.id for known in USUAL}
SERVERS = ("relay", "dnsmasq", "dnsdist", "unbound-forwarder")
KEPT_BACK = (
    *("10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.2.0/24"),
    *("192.168.0.0/16", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32", "fc00::/7", "fe80::/10"),
)
"""Addresses that protection against rebinding takes out of responses."""
Outcomes = Mapping[str, tuple[str, str]]


@dataclass(frozen=True)
class Bed:
    """A proxy that is right but for its deviations, and its upstream."""

    upstream: Upstream
    proxy: Endpoint
    server: str
    version: str

    def run(self, fault: Fault, *, is_patient: bool = False) -> Outcomes:
        usual = [known for known in USUAL if known.item.id not in RARE or fault.name in known.item.faults]
        chosen = USUAL if fault is NO_FAULT else chosen_with(fault.name, usual)
        waits_s = LONG_WAITS_S if is_patient else SHORT_WAITS_S
        with Relay(self.proxy, fault, outer=WAN) as relay:
            wan = [Asker(Endpoint(one, relay.endpoint.port), udp_waits_s=(0.5,), tcp_wait_s=0.5) for one in WAN]
            asker = Asker(relay.endpoint, udp_waits_s=waits_s, tcp_wait_s=LONG_TCP_WAIT_S if is_patient else TCP_WAIT_S)
            results = run_items(chosen, ProxySubject(asker, self.upstream, wan))
        return {result.item.id: (str(result.outcome.verdict), result.outcome.reason) for result in results}


@pytest.fixture(scope="module", params=SERVERS)
def bed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    with Upstream() as upstream:
        if request.param == "relay":
            yield Bed(upstream, upstream.endpoint, "relay", "")
            return
        driver = resolver_driver(request.param)
        if driver.find() is None:
            pytest.skip(f"{driver.title} is not installed: install the Debian package {driver.package}")
        forwarder = Forwarder(upstream.endpoint.address, upstream.endpoint.port)
        folder: Path = tmp_path_factory.mktemp(request.param)
        with driver(ResolverSettings(forwarders=(forwarder,)), folder) as server:
            yield Bed(upstream, Endpoint(*server.address), request.param, server.version)


@pytest.fixture(scope="module")
def right(bed: Bed) -> Outcomes:
    return bed.run(NO_FAULT, is_patient=True)


def of_verdict(outcomes: Outcomes, verdict: str) -> set[str]:
    return {item for item, (found, _) in outcomes.items() if found == verdict}


def said(outcomes: Outcomes, ids: set[str]) -> str:
    return "\n".join(f"  {item}: {': '.join(outcomes.get(item, ('not run', '')))}" for item in sorted(ids))


def test_right_proxy_fails_only_by_known_deviations(bed: Bed, right: Outcomes) -> None:
    known = set(deviating_items("proxy", bed.server, bed.version))
    failed = of_verdict(right, "fail")
    keep_right("proxy", (bed.server, bed.version), failed, of_verdict(right, "pass"))
    assert failed == known, f"{bed.server} {bed.version}\n{said(right, failed ^ known)}"
    assert not of_verdict(right, "inconclusive") | of_verdict(right, "not_applicable"), said(right, ALL)


def test_denials_that_other_items_ask_for_accuse_no_proxy(bed: Bed) -> None:
    """Dnsmasq 2.90 gives all denials of a zone from its cache with one SOA record, and the TTL of the newest."""
    aging = chosen("proxy", ["P-ttl"])

    def keep_denying(subject: ProxySubject) -> Outcome:
        until = time.monotonic() + 2 * p_ttl.PAUSE_S
        while time.monotonic() < until:
            subject.ask(Query(name=names.fresh(names.ABSENT), rtype=RdataType.A, rd=True, payload=None))
            # As many as dnsmasq has room for would drive out of its cache what is looked at.
            pause(p_ttl.PAUSE_S / 10)
        return passed("Denials were asked for.")

    denying = replace(aging[0], item=replace(aging[0].item, id="P-denying", runs_alone=False), check=keep_denying)
    asker = Asker(bed.proxy, udp_waits_s=LONG_WAITS_S, tcp_wait_s=TCP_WAIT_S)
    results = run_items([denying, *aging], ProxySubject(asker, bed.upstream))
    assert [result.outcome.verdict for result in results] == ["pass", "pass"], results[1].outcome.reason


def wrong_with(bed: Bed, right: Outcomes, fault: Fault) -> str:
    """Run with a fault; what a proxy does not pass without it, it cannot show."""
    comparable = of_verdict(right, "pass") - NOT_SHOWN.get(bed.server, set())
    named = {known.item.id for known in items("proxy") if fault.name in known.item.faults} & comparable
    outcomes: Outcomes = {}
    for is_patient in (False, True):
        outcomes = bed.run(fault, is_patient=is_patient)
        keep("proxy", fault.name, (bed.server, bed.version), of_verdict(outcomes, "fail") - of_verdict(right, "fail"))
        differing = (of_verdict(outcomes, "fail") & comparable) ^ named
        if not differing:
            return ""
    return f"{fault.name}: expected {sorted(named)}\n{said(outcomes, differing)}"


def faults_before(bed: Bed) -> list[Fault]:
    """Give the faults that are put before a proxy: they take turns, and the bare relay shows all."""
    proxies = {"relay": "", **{name: found.version for name, found in found_resolvers("proxy").items()}}
    found = []
    for place, fault in enumerate(faults_of("proxy")):
        able = {"relay": ""} if fault.name in TOWARDS_UPSTREAM else proxies
        if bed.server in in_turn("proxy", "", (place, fault.name), able):
            found.append(fault)
        if bed.server not in able:
            keep_unable("proxy", fault.name, (bed.server, bed.version))
    return found


def test_each_fault_fails_its_items(bed: Bed, right: Outcomes) -> None:
    faults = faults_before(bed)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = list(pool.map(lambda fault: wrong_with(bed, right, fault), faults))
    # Many at once on few processors lose messages: what seems wrong is tried alone.
    doubtful = [fault for fault, text in zip(faults, found, strict=True) if text]
    assert [wrong for fault in doubtful if (wrong := wrong_with(bed, right, fault))] == []


def one_before(passage: Passage) -> bytes:
    """Give the response to the query before, with the ID of this one."""
    before, _ = passage.cache.get(passage.transport, (passage.response, 0.0))
    passage.cache[passage.transport] = (passage.response, 0.0)
    return passage.query[:2] + before[2:]


@pytest.mark.parametrize("item_id", ["P-id", "P-port", "P-tcp", "P-z", "P-question", "P-unchanged", "P-answer"])
def test_responses_to_other_queries_are_noticed(item_id: str) -> None:
    fault = Fault(name="one-before", does="gives the response to the query before", roles=(), on_response=one_before)
    query = Query(name=names.fresh(names.PLAIN), rtype=RdataType.A, rd=True, payload=None)
    with Upstream() as upstream, Relay(upstream.endpoint, fault) as relay:
        asker = Asker(relay.endpoint, udp_waits_s=SHORT_WAITS_S, tcp_wait_s=TCP_WAIT_S)
        assert asker.udp(query).message is not None
        assert asker.tcp(query).message is not None
        outcome = run_items(chosen("proxy", [item_id]), ProxySubject(asker, upstream))[0].outcome
    assert outcome.verdict == "fail", outcome.reason


def losing(change: Change) -> Fault:
    """Lose one message by UDP in ten, in each direction, and change queries."""
    chance = random.Random(LOSS_SEED)

    def on_query(passage: Passage) -> bytes | None:
        return None if passage.transport == "udp" and chance.random() < LOSS else change(passage)

    def on_response(passage: Passage) -> bytes | None:
        return None if passage.transport == "udp" and chance.random() < LOSS else passage.response

    return Fault(name="loses", does="loses", roles=(), on_query=on_query, on_response=on_response)


def test_lost_messages_accuse_nobody() -> None:
    with Upstream() as upstream, Relay(upstream.endpoint, losing(lambda passage: passage.query)) as relay:
        asker = Asker(relay.endpoint, udp_waits_s=(0.4, 0.4), tcp_wait_s=TCP_WAIT_S)
        results = run_items(USUAL, ProxySubject(asker, upstream))
    said = {result.item.id: (str(result.outcome.verdict), result.outcome.reason) for result in results}
    assert not of_verdict(said, "fail"), said
    assert len(of_verdict(said, "pass")) > len(said) / 2, said


def test_what_is_always_dropped_is_told_from_what_is_lost() -> None:
    fault = losing(dropping(lambda query: any(one.rdtype == RdataType.ANY for one in query.question)))
    with Upstream() as upstream, Relay(upstream.endpoint, fault) as relay:
        asker = Asker(relay.endpoint, udp_waits_s=(0.4, 0.4, 0.4), tcp_wait_s=TCP_WAIT_S)
        outcome = run_items(chosen("proxy", ["P-any"]), ProxySubject(asker, upstream))[0].outcome
    assert outcome.verdict == "fail", outcome.reason


@pytest.mark.parametrize(("name", "verdict"), [("none", "pass"), ("proxy-caches-servfail", "fail")])
def test_failures_that_are_kept_are_noticed(name: str, verdict: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(p_failure_cache, "LONGEST_S", -0.9)
    fault = NO_FAULT if name == NO_FAULT.name else fault_named(name)
    with Upstream() as upstream, Relay(upstream.endpoint, fault) as relay:
        asker = Asker(relay.endpoint, udp_waits_s=SHORT_WAITS_S, tcp_wait_s=TCP_WAIT_S)
        outcome = run_items(chosen("proxy", ["P-failure-cache"]), ProxySubject(asker, upstream))[0].outcome
    if fault is NO_FAULT and outcome.verdict == "pass":
        keep_right("proxy", ("relay", ""), [], ["P-failure-cache"])
    assert outcome.verdict == verdict, outcome.reason


@pytest.mark.parametrize("limit", [BY_THE_CLOCK, FROM_A_BUCKET], ids=lambda limit: limit.name)
def test_a_limit_of_the_rate_is_no_want_of_room(limit: Fault) -> None:
    with Upstream() as upstream, Relay(upstream.endpoint, limit) as relay:
        asker = Asker(relay.endpoint, udp_waits_s=LONG_WAITS_S, tcp_wait_s=TCP_WAIT_S)
        outcome = run_items(chosen("proxy", ["P-parallel"]), ProxySubject(asker, upstream))[0].outcome
    assert outcome.verdict == "inconclusive" and "limit its rate" in outcome.reason, outcome.reason


def test_longest_names_have_255_octets_or_one_less() -> None:
    assert len(longest(names.fresh(names.PLAIN)).to_wire() or b"") in {254, 255}


def test_items_name_known_faults() -> None:
    names = {fault.name for fault in faults_of("proxy")}
    named = {fault for known in items("proxy") for fault in known.item.faults}
    assert named <= names
    assert names == named


def test_without_upstream_nothing_is_claimed() -> None:
    with Upstream() as upstream:
        began = time.monotonic()
        results = run_items(items("proxy"), ProxySubject(Asker(upstream.endpoint)))
    assert {str(result.outcome.verdict) for result in results} == {"not_applicable"}, time.monotonic() - began


def test_without_a_proxy_nothing_is_accused() -> None:
    with Upstream() as upstream:
        direct = Asker(upstream.endpoint)
        results = run_items(USUAL, ProxySubject(direct, upstream, direct=direct).without())
    assert {one.item.id: one.outcome for one in results if str(one.outcome.verdict) == "fail"} == {}


def mix_case(passage: Passage) -> bytes:
    """Spell the question's name by chance (0x20), and let nothing of that come back."""
    octets, at = bytearray(passage.query), HEADER_OCTETS
    while octets[at]:
        end = at + 1 + octets[at]
        octets[at + 1 : end] = bytes(
            one ^ 0x20 if chr(one).isalpha() and secrets.randbelow(2) else one for one in octets[at + 1 : end]
        )
        at = end
    return bytes(octets)


def own_question(passage: Passage) -> bytes:
    answer = passage.answer
    answer.question = list(passage.asked.question)
    return wire_of(answer)


def test_a_proxy_that_mixes_case_itself_is_right() -> None:
    mixing = Fault(name="mixes", does="mixes case", roles=(), on_query=mix_case, on_response=own_question)
    with Upstream() as upstream, Relay(upstream.endpoint, mixing) as relay:
        subject = ProxySubject(Asker(relay.endpoint, udp_waits_s=SHORT_WAITS_S, tcp_wait_s=TCP_WAIT_S), upstream)
        outcome = run_items(chosen("proxy", ["P-case"]), subject)[0].outcome
    assert outcome.verdict == "pass", outcome.reason


class StalesAtOnce(UnboundForwarder):
    """Unbound that gives what has expired at once, with a TTL of 30 s, and asks behind that (RFC 8767 section 5)."""

    def render(self) -> dict[str, str]:
        return {name: text + "\nserver:\n    serve-expired: yes\n" for name, text in super().render().items()}


class AsksByTcp(UnboundForwarder):
    """Unbound that asks its upstream by TCP alone."""

    def render(self) -> dict[str, str]:
        return {name: text + "\nserver:\n    tcp-upstream: yes\n" for name, text in super().render().items()}


@pytest.mark.parametrize(
    ("kind", "ids", "verdict"),
    [
        (StalesAtOnce, ("P-ttl",), "pass"),
        (AsksByTcp, ("P-id", "P-port", "P-forged", "P-garbage-upstream"), "not_applicable"),
        (AsksByTcp, ("P-tcp-parts", "P-parallel"), "pass"),
    ],
)
def test_proxies_that_are_set_up_otherwise_are_right_too(
    kind: type[UnboundForwarder], ids: Sequence[str], verdict: str, tmp_path: Path
) -> None:
    if kind.find() is None:
        pytest.skip(f"{kind.title} is not installed: install the Debian package {kind.package}")
    with Upstream() as upstream:
        forwarder = Forwarder(upstream.endpoint.address, upstream.endpoint.port)
        with kind(ResolverSettings(forwarders=(forwarder,)), tmp_path) as server:
            asker = Asker(Endpoint(*server.address), udp_waits_s=LONG_WAITS_S, tcp_wait_s=LONG_WAITS_S[-1])
            results = run_items(chosen("proxy", ids), ProxySubject(asker, upstream))
    assert {one.item.id: str(one.outcome.verdict) for one in results} == dict.fromkeys(ids, verdict), [
        one.outcome.reason for one in results
    ]


@pytest.mark.parametrize("kind", [RdataType.A, RdataType.AAAA])
def test_protection_against_rebinding_finds_nothing_in_the_usual_answers(kind: RdataType) -> None:
    """Dnsmasq (stop-dns-rebind), and lists of addresses for Unbound, take those for documentation for private ones."""
    texts = (answering.DATA[kind], *answering.MANY_DATA[kind], answering.FORGED_ADDRESS)
    kept_back = [ipaddress.ip_network(one) for one in KEPT_BACK]
    for address in map(ipaddress.ip_address, texts):
        assert not [network for network in kept_back if address.version == network.version and address in network]
