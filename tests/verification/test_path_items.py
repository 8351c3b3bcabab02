"""Items about paths: a router that is right fails none, and each fault of one fails the items that name it, no others.

Of the others a share is run with each fault (turns.py).
"""

import contextlib
import platform
from collections.abc import Iterator
from dataclasses import replace

import dns.flags
import dns.message
import pytest
from dnsrig.hosts.network.rules import FEW_SOURCE_PORTS, REDIRECT_DNS, REDIRECT_DNS_IPV6, Rule, ruleset
from dnsrig.hosts.network.topologies import PathNetwork, path_network
from dnsrig.items.catalogue import chosen, items
from dnsrig.items.path import n85_edns, n_answers, n_port, n_queries, n_same_port, n_sizes_4
from dnsrig.items.path._changes import changes
from dnsrig.verification.asker import Asker
from dnsrig.verification.exchange import Endpoint
from dnsrig.verification.faults.catalogue import fault_named
from dnsrig.verification.faults.fault import Fault, Passage, wire_of
from dnsrig.verification.faults.paths import PATH_FAULTS, PathFault
from dnsrig.verification.faults.relay import NO_FAULT, Relay
from dnsrig.verification.path_targets import NOWHERE
from dnsrig.verification.runner import Result, run_items
from dnsrig.verification.subjects.path import PathSubject, Way
from dnsrig.verification.upstream.server import Upstream
from dnsrig.verification.verdicts import Verdict
from matrix_record import keep, keep_right, passed_of
from network_needs import skip_without_networks
from turns import PATH_SHARES, TIMEOUT_S, chosen_with

pytestmark = pytest.mark.timeout(TIMEOUT_S)

ETHERNET_MTU = 1500
ROUTER = "Linux router", ".".join(platform.release().split(".")[:2])
UDP_WAITS_S = (0.4, 0.6, 0.8)
TCP_WAIT_S = 2.0
LOSS_PERCENT = 8
KNOWN = {known.item.id for known in items("path")}
NO_RESPONSES = Rule("arriving", "udp sport 53 drop")


@pytest.fixture(scope="module")
def network() -> Iterator[PathNetwork]:
    skip_without_networks()
    with path_network("router", NOWHERE) as made:
        yield made


@pytest.fixture(scope="module")
def subject(network: PathNetwork) -> Iterator[PathSubject]:
    addresses = {"ipv4": network.server_addresses.ipv4}
    if network.client.has_ipv6:
        addresses["ipv6"] = network.server_addresses.ipv6
    with contextlib.ExitStack() as stack:
        ways = {}
        for family, address in addresses.items():
            server = stack.enter_context(Upstream(address, 53, network.server.make_socket))
            asker = Asker(server.endpoint, network.client.make_socket, UDP_WAITS_S, TCP_WAIT_S)
            ways[family] = Way(asker, replace(asker, make_socket=network.server.make_socket), server)
        there = [Endpoint(address) for address in NOWHERE if network.client.has_ipv6 or ":" not in address]
        nowhere = [Asker(one, network.client.make_socket, UDP_WAITS_S[:1], TCP_WAIT_S) for one in there]
        yield PathSubject(ways, nowhere)


def subject_addresses(network: PathNetwork) -> list[str]:
    pair = network.server_addresses
    return [pair.ipv4, pair.ipv6] if network.client.has_ipv6 else [pair.ipv4]


def in_the_way(network: PathNetwork, fault: PathFault, server: str) -> Relay | Upstream:
    """Give what takes queries to a server to the router itself."""
    assert network.inner_addresses is not None
    address = network.inner_addresses.ipv6 if ":" in server else network.inner_addresses.ipv4
    if fault.own_server:
        return Upstream(address, 53, network.middle.make_socket)
    change = NO_FAULT if fault.relay in {None, NO_FAULT.name} else fault_named(fault.relay or "")
    return Relay(Endpoint(server), change, address, 53, network.middle.make_socket)


@contextlib.contextmanager
def faulty(network: PathNetwork, fault: PathFault) -> Iterator[None]:
    """Let the router have a fault for a while."""
    with contextlib.ExitStack() as stack:
        rules: tuple[Rule, ...] = fault.rules
        if fault.mtu is not None:
            # The client's own device stays wide: it would make the server send less by TCP.
            network.middle.set_mtu("inner", fault.mtu)
            stack.callback(network.middle.set_mtu, "inner", ETHERNET_MTU)
        if fault.own_server or fault.relay is not None:
            rules += REDIRECT_DNS_IPV6 if fault.ipv6_alone else REDIRECT_DNS
            taken = [one for one in subject_addresses(network) if ":" in one or not fault.ipv6_alone]
            for server in taken:
                stack.enter_context(in_the_way(network, fault, server))
        network.middle.set_rules(ruleset(rules))
        stack.callback(network.middle.set_rules, "")
        yield


@contextlib.contextmanager
def ruled(network: PathNetwork, *rules: Rule) -> Iterator[None]:
    network.middle.set_rules(ruleset(rules))
    try:
        yield
    finally:
        network.middle.set_rules("")


def failures(results: list[Result]) -> dict[str, str]:
    return {result.item.id: result.outcome.reason for result in results if result.outcome.verdict == "fail"}


def test_right_router_fails_nothing(subject: PathSubject) -> None:
    results = run_items(items("path"), subject)
    said = {result.item.id: f"{result.outcome.verdict}: {result.outcome.reason}" for result in results}
    keep_right("path", ROUTER, failures(results), passed_of(results))
    lacking = {known.item.id for known in items("path") if "ipv6" in known.item.needs and "ipv6" not in subject.ways}
    assert {id_ for id_, text in said.items() if text.startswith("pass")} == KNOWN - lacking, said


@pytest.mark.parametrize("fault", PATH_FAULTS, ids=lambda fault: fault.name)
def test_each_fault_fails_its_items(network: PathNetwork, subject: PathSubject, fault: PathFault) -> None:
    if fault.ipv6_alone and "ipv6" not in subject.ways:
        pytest.skip("needs IPv6")
    # What was found out of the path before does not hold with the fault.
    fresh = PathSubject(subject.ways, subject.nowhere)
    with faulty(network, fault):
        found = failures(run_items(chosen_with(fault.name, items("path"), PATH_SHARES), fresh))
    keep("path", fault.name, ROUTER, found)
    assert set(found) == {known.item.id for known in items("path") if fault.name in known.item.faults}, found


WORDS = {
    "path-clears-cd": "CD is cleared",
    "path-clears-ad-in-denials": "AD is cleared",
    "path-clears-do-in-responses": "DO is cleared",
    "path-strips-options-of-responses": "the EDNS option 65001 is removed",
    "path-strips-ede": "the EDNS option 15 is removed",
    "path-strips-proofs": "is missing in the authority section",
    "path-strips-signatures-of-keys": "is missing in the answer section",
    "path-strips-opt-of-unsigned": "OPT is removed",
    "path-lowers-ttl": "in the answer section is 60 s, not 300 s",
    "path-lower-cases-responses": "letters of names are upper or lower case that were not",
}
"""How N-answers says what a path changes in responses, by fault."""
WORDS_OF_QUERIES = {
    "path-clears-do": "DO is cleared",
    "path-strips-options": "the EDNS option 65001 is removed",
    "path-lower-cases-queries": "letters of names are upper or lower case that were not",
    "path-sets-rd": "RD is set",
}
"""How N-queries says what it changes in queries."""


@pytest.mark.parametrize("name", [*WORDS, *WORDS_OF_QUERIES])
def test_what_is_changed_is_told(network: PathNetwork, subject: PathSubject, name: str) -> None:
    fault = next(fault for fault in PATH_FAULTS if fault.name == name)
    check, words = (n_answers.check, WORDS[name]) if name in WORDS else (n_queries.check, WORDS_OF_QUERIES[name])
    with faulty(network, fault):
        outcome = check(PathSubject(subject.ways, subject.nowhere))
    assert outcome.verdict is Verdict.FAIL and words in outcome.reason, outcome


def test_where_only_the_form_is_changed_that_is_told() -> None:
    message = dns.message.make_query("x.example.", "A")
    assert changes(message, message).startswith("its form, not what it says")


def test_the_largest_size_that_passes_is_told(network: PathNetwork, subject: PathSubject) -> None:
    ipv4 = PathSubject({"ipv4": subject.way("ipv4")})
    assert "up to 1452 octets" in n_sizes_4.check(ipv4).reason
    fault = next(fault for fault in PATH_FAULTS if fault.name == "path-drops-over-512")
    with faulty(network, fault):
        outcome = n_sizes_4.check(ipv4)
    assert outcome.verdict is Verdict.FAIL
    assert outcome.reason.startswith("Responses of up to 512 octets come by UDP. With 800, the next size "), outcome
    with ruled(network, NO_RESPONSES):
        outcome = n_sizes_4.check(ipv4)
    assert outcome.reason.startswith("With 512, the smallest size that was tried: no response "), outcome
    assert "The query reaches the server; sent without the path, it is answered." in outcome.reason


def test_queries_of_the_same_name_by_udp_are_not_those_by_tcp(network: PathNetwork, subject: PathSubject) -> None:
    fault = next(fault for fault in PATH_FAULTS if fault.name == "path-blocks-tcp")
    with faulty(network, fault):
        outcome = n85_edns.check(PathSubject(subject.ways, subject.nowhere))
    assert " by TCP " in outcome.reason and "The query does not reach the server; " in outcome.reason, outcome


def test_lost_packets_accuse_nobody(network: PathNetwork, subject: PathSubject) -> None:
    with ruled(network, Rule("arriving", f"meta l4proto udp numgen random mod 100 < {LOSS_PERCENT} drop")):
        results = run_items(items("path"), PathSubject(subject.ways, subject.nowhere))
    assert failures(results) == {}
    assert any(result.outcome.verdict == "pass" for result in results)


def test_where_nothing_comes_through_no_crowd_is_sent(network: PathNetwork, subject: PathSubject) -> None:
    """A hundred queries, each waited for, took two minutes and showed no more than ten."""
    with ruled(network, Rule("arriving", "meta l4proto { tcp, udp } th dport 53 drop")):
        results = run_items(items("path"), PathSubject(subject.ways, subject.nowhere))
    crowds = {"N-port", "N-rate", "N-same-port", "N-source-ports", "N-late"}
    others = {result.item.id: result.outcome for result in results if result.item.id not in crowds}
    assert {outcome.verdict for outcome in others.values()} <= {"fail", "not_applicable"}, others
    said = {result.outcome.reason for result in results if result.item.id in crowds}
    assert said == {"None of 10 simple queries by UDP over IPv4 is answered through the path."}
    assert {str(result.outcome.verdict) for result in results if result.item.id in crowds} == {"inconclusive"}


NO_IPV4 = Rule("arriving", "meta nfproto ipv4 udp dport 53 drop")


@pytest.mark.parametrize(("rule", "version"), [(NO_RESPONSES, "IPv4"), (NO_IPV4, "IPv6")], ids=["responses", "ipv4"])
def test_few_ports_are_seen_by_whatever_queries_arrive(
    network: PathNetwork, subject: PathSubject, rule: Rule, version: str
) -> None:
    if version == "IPv6" and "ipv6" not in subject.ways:
        pytest.skip("needs IPv6")
    with ruled(network, rule, *FEW_SOURCE_PORTS):
        outcome = n_port.check(PathSubject(subject.ways, subject.nowhere))
    assert outcome.verdict is Verdict.FAIL and outcome.reason.startswith(f"By {version} they can be guessed"), outcome


def test_ports_of_unanswered_queries_may_be_right(network: PathNetwork, subject: PathSubject) -> None:
    with ruled(network, NO_RESPONSES):
        outcome = n_port.check(PathSubject(subject.ways, subject.nowhere))
    assert outcome.verdict is Verdict.PASS, outcome


def all_truncated(passage: Passage) -> bytes:
    message = passage.answer
    message.answer.clear()
    message.flags |= dns.flags.TC
    return wire_of(message) if passage.transport == "udp" else passage.response


def test_truncated_responses_are_responses(network: PathNetwork, subject: PathSubject) -> None:
    """A path that sends all to TCP is not shut."""
    change = Fault(name="truncates", does="truncates", roles=("path",), on_response=all_truncated)
    assert network.inner_addresses is not None
    way = subject.way("ipv4")
    with (
        Relay(way.server.endpoint, change, network.inner_addresses.ipv4, 53, network.middle.make_socket),
        ruled(network, *REDIRECT_DNS),
    ):
        only_ipv4 = PathSubject({"ipv4": way})
        assert only_ipv4.shut("ipv4") == ""
        assert n_same_port.check(only_ipv4).verdict is Verdict.PASS


WITHOUT_IPV4 = {
    None: set(),
    "path-blocks-tcp-ipv6": {"N-tcp", "N-large-tcp"},
    "path-drops-over-512": {"N-86", "N-87"},
    "path-drops-fragments-ipv6": {"N-87"},
    "path-other-server": {"N-intercept"},
}
"""What fails of the items that judge IPv6 by itself, by fault."""


@pytest.mark.parametrize("name", WITHOUT_IPV4, ids=lambda name: name or "none")
def test_an_address_of_ipv6_is_judged_as_one_of_ipv4(
    network: PathNetwork, subject: PathSubject, name: str | None
) -> None:
    """Only one address is verified of a path of the user's, and --nowhere may be missing."""
    if "ipv6" not in subject.ways:
        pytest.skip("needs IPv6")
    only_ipv6 = PathSubject({"ipv6": subject.way("ipv6")})
    with contextlib.ExitStack() as stack:
        if name is not None:
            fault = next(fault for fault in PATH_FAULTS if fault.name == name)
            stack.enter_context(faulty(network, fault))
        results = run_items(chosen("path", ["N-tcp", "N-large-tcp", "N-86", "N-87", "N-intercept"]), only_ipv6)
    assert failures(results).keys() == WITHOUT_IPV4[name]
    open_ = {result.item.id: result.outcome.reason for result in results if result.outcome.verdict == "inconclusive"}
    assert "(--nowhere)" in open_.pop("N-intercept", "(--nowhere)") and not open_
    said = {result.item.id: result.outcome.reason for result in results if result.outcome.verdict == "pass"}
    assert said.keys() == {result.item.id for result in results} - WITHOUT_IPV4[name] - {"N-intercept"}
    assert all("over IPv6" in one for one in said.values()), said


def test_items_name_known_faults() -> None:
    names = {fault.name for fault in PATH_FAULTS}
    named = {fault for known in items("path") for fault in known.item.faults}
    assert named == names
