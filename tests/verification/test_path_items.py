"""Items about paths: a router that is right fails none, and each fault of one fails exactly the items that name it."""

import contextlib
import os
import platform
import shutil
from collections.abc import Iterator
from dataclasses import replace

import pytest
from dnsrig.hosts.network import users
from dnsrig.hosts.network.rules import REDIRECT_DNS, REDIRECT_DNS_IPV6, Rule, ruleset
from dnsrig.hosts.network.topologies import PathNetwork, path_network
from dnsrig.items.catalogue import items
from dnsrig.verification.asker import Asker
from dnsrig.verification.exchange import Endpoint
from dnsrig.verification.faults.catalogue import fault_named
from dnsrig.verification.faults.paths import PATH_FAULTS, PathFault
from dnsrig.verification.faults.relay import NO_FAULT, Relay
from dnsrig.verification.path_targets import NOWHERE
from dnsrig.verification.runner import Result, run_items
from dnsrig.verification.subjects.path import PathSubject, Way
from dnsrig.verification.upstream.server import Upstream
from matrix_record import keep

ETHERNET_MTU = 1500
ROUTER = "Linux router", ".".join(platform.release().split(".")[:2])
UDP_WAITS_S = (0.4, 0.6, 0.8)
TCP_WAIT_S = 2.0
LOSS_PERCENT = 8
KNOWN = {known.item.id for known in items("path")}


@pytest.fixture(scope="module")
def network() -> Iterator[PathNetwork]:
    if why := users.why_no_namespaces():
        pytest.skip(why)
    for program, package in (("ip", "iproute2"), ("nft", "nftables")):
        if shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin:/sbin") is None:
            pytest.skip(f"needs {program}: install the Debian package {package}")
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


def failures(results: list[Result]) -> dict[str, str]:
    return {result.item.id: result.outcome.reason for result in results if result.outcome.verdict == "fail"}


def test_right_router_fails_nothing(subject: PathSubject) -> None:
    results = run_items(items("path"), subject)
    said = {result.item.id: f"{result.outcome.verdict}: {result.outcome.reason}" for result in results}
    keep("path", NO_FAULT.name, ROUTER, failures(results))
    lacking = {known.item.id for known in items("path") if "ipv6" in known.item.needs and "ipv6" not in subject.ways}
    assert {id_ for id_, text in said.items() if text.startswith("pass")} == KNOWN - lacking, said


@pytest.mark.parametrize("fault", PATH_FAULTS, ids=lambda fault: fault.name)
def test_each_fault_fails_its_items(network: PathNetwork, subject: PathSubject, fault: PathFault) -> None:
    if fault.ipv6_alone and "ipv6" not in subject.ways:
        pytest.skip("needs IPv6")
    # What was found out of the path before does not hold with the fault.
    fresh = PathSubject(subject.ways, subject.nowhere)
    with faulty(network, fault):
        found = failures(run_items(items("path"), fresh))
    keep("path", fault.name, ROUTER, found)
    assert set(found) == {known.item.id for known in items("path") if fault.name in known.item.faults}, found


def test_lost_packets_accuse_nobody(network: PathNetwork, subject: PathSubject) -> None:
    network.middle.set_rules(
        ruleset((Rule("arriving", f"meta l4proto udp numgen random mod 100 < {LOSS_PERCENT} drop"),))
    )
    try:
        results = run_items(items("path"), PathSubject(subject.ways, subject.nowhere))
    finally:
        network.middle.set_rules("")
    assert failures(results) == {}
    assert any(result.outcome.verdict == "pass" for result in results)


def test_items_name_known_faults() -> None:
    names = {fault.name for fault in PATH_FAULTS}
    named = {fault for known in items("path") for fault in known.item.faults}
    assert named == names
