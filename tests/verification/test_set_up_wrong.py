"""Paths and proxies of the user's that are not set up as the rig needs them: what is to be done is said."""

import json
import socket
from collections.abc import Callable, Iterator

import dns.flags
import dns.rcode
import pytest
from dnsrig.cli.app import run_command_line
from dnsrig.hosts.network.topologies import PathNetwork, path_network
from dnsrig.items.catalogue import chosen
from dnsrig.verification.asker import Asker
from dnsrig.verification.faults.changes import refusing
from dnsrig.verification.faults.fault import Fault
from dnsrig.verification.faults.relay import NO_FAULT, Relay
from dnsrig.verification.proxy_targets import failing_names
from dnsrig.verification.runner import run_items
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.upstream import names
from dnsrig.verification.upstream.server import Upstream
from free_ports import free_port
from network_needs import skip_without_networks

NO_TCP_ON_LO = (
    "table inet test {\n chain input {\n type filter hook input priority 0\n iif lo tcp dport 53 drop\n }\n}\n"
)
Prepare = Callable[[PathNetwork], object]


@pytest.fixture
def network() -> Iterator[PathNetwork]:
    skip_without_networks()
    with path_network("router") as made:
        yield made


def command(network: PathNetwork) -> list[str]:
    ends = ["--server-namespace", network.server.path, "--client-namespace", network.client.path]
    return ["verify", "path", network.server_addresses.ipv4, *ends, "--item", "N-tcp", "--json"]


def narrow_route(network: PathNetwork) -> None:
    network.client.run_ip("route", "del", "default")
    assert network.inner_addresses is not None
    network.client.add_route(network.server_addresses.ipv4, network.inner_addresses.ipv4)


@pytest.mark.parametrize(
    ("prepare", "ending"),
    [
        (lambda _: None, " by the gateway 192.168.53.1, its default route: does that lead through the path?"),
        (narrow_route, "."),
    ],
    ids=["default", "of its own"],
)
def test_by_which_way_the_client_asks_is_told(
    capsys: pytest.CaptureFixture[str], network: PathNetwork, prepare: Prepare, ending: str
) -> None:
    prepare(network)
    assert run_command_line(command(network)) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert found["items"][0]["verdict"] == "pass" and f"dnsrig: {found['remark']}" == err.splitlines()[0]
    said = f"dnsrig: 198.18.53.1 is asked from 192.168.53.2 of {network.client.path}, over inner"
    assert err.startswith(said) and err.splitlines()[0].endswith(ending), err


@pytest.mark.parametrize(
    ("prepare", "said"),
    [
        (lambda found: found.server.run_ip("link", "set", "lo", "down"), ", which is down: `nsenter --net="),
        (lambda found: found.server.set_rules(NO_TCP_ON_LO), "itself, without the path, there is no response to "),
        (lambda found: found.client.run_ip("route", "del", "default"), " has no route to it; let it go by the path"),
        (lambda found: found.client.add_addresses(["198.18.53.1"]), " too, which packets to it do not leave"),
        (lambda found: found.server.run_ip("address", "flush", "dev", "outer"), "is it an address of that namespace?"),
    ],
    ids=["lo down", "lo filtered", "no route", "own address", "no address"],
)
def test_a_path_that_cannot_be_tried_is_refused(
    capsys: pytest.CaptureFixture[str], network: PathNetwork, prepare: Prepare, said: str
) -> None:
    prepare(network)
    assert run_command_line(command(network)) == 3
    err = capsys.readouterr().err.splitlines()[-1]
    assert err.startswith("dnsrig: 198.18.53.1: ") and said in err


def test_a_server_beyond_the_path_has_port_53(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["verify", "path", "198.18.53.1#5300", "--server-namespace", "x"]) == 2
    assert "'198.18.53.1#5300': name the address without a port" in capsys.readouterr().err


def bound() -> socket.socket:
    taken = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    taken.bind(("127.0.0.1", 0))
    return taken


@pytest.mark.parametrize("rcode", [None, dns.rcode.REFUSED], ids=["an address", "REFUSED"])
def test_a_proxy_that_answers_by_itself_is_told_from_one_without_upstream(
    capsys: pytest.CaptureFixture[str], rcode: dns.rcode.Rcode | None
) -> None:
    fault = NO_FAULT
    if rcode is not None:
        fault = Fault(name="refuses", does="refuses", roles=(), on_response=refusing(lambda _: True, rcode))
    with Upstream() as other, Relay(other.endpoint, fault) as proxy:
        port = free_port()
        named = ["--upstream", "127.0.0.1", "--upstream-port", str(port)]
        assert run_command_line(["verify", "proxy", str(proxy.endpoint), *named, "--item", "P-1"]) == 2
    out, err = capsys.readouterr()
    given = "198.18.2.53" if rcode is None else "REFUSED"
    said = f"The proxy answers the rig's names by {given}, and nothing has come to the rig at 127.0.0.1#{port}"
    assert f"nothing could be verified: {said}: let the proxy forward to there." in err
    assert "--upstream" not in out + err


def test_a_port_that_is_taken_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with bound() as taken:
        named = ["--upstream", "127.0.0.1", "--upstream-port", str(taken.getsockname()[1])]
        assert run_command_line(["verify", "proxy", "127.0.0.1", *named]) == 3
    assert "Address already in use; something else listens there" in capsys.readouterr().err
    assert run_command_line(["verify", "proxy", "127.0.0.1", "--upstream", "203.0.113.1"]) == 3
    assert capsys.readouterr().err.endswith("; name an address of this machine\n")


def has_cd(message: dns.message.Message) -> bool:
    return bool(message.flags & dns.flags.CD)


def is_signed(message: dns.message.Message) -> bool:
    return any(names.zone_of(one.name) == names.ORIGIN for one in message.question)


@pytest.mark.parametrize(
    ("is_meant", "which", "by_cd"),
    [
        (lambda message: not has_cd(message), "names, signed or not,", True),
        (lambda message: not has_cd(message) and is_signed(message), "signed names", True),
        (lambda _: True, "names, signed or not,", False),
    ],
    ids=["all but CD", "signed but CD", "all"],
)
def test_a_proxy_that_seems_to_validate_is_told(
    is_meant: Callable[[dns.message.Message], bool], which: str, by_cd: bool
) -> None:
    change = refusing(is_meant, dns.rcode.SERVFAIL)
    fault = Fault(name="fails", does="fails", roles=(), on_response=change)
    with Upstream() as upstream, Relay(upstream.endpoint, fault) as proxy:
        subject = ProxySubject(Asker(proxy.endpoint), upstream)
        said = failing_names(subject)
        results = run_items(chosen("proxy", ["P-2", "P-3", "P-4", "P-large", "P-large-tcp", "P-512"]), subject)
    assert said.startswith(f"The proxy answers the rig's {which} by SERVFAIL") and "Does it validate?" in said
    assert ("to queries with CD the answer comes" in said) == by_cd
    found = {result.item.id: result.outcome for result in results}
    assert found.pop("P-512").reason.startswith("The response is SERVFAIL, whose size tells nothing")
    assert {outcome.reason.replace(" by TCP", "") for id_, outcome in found.items() if outcome.verdict == "fail"} == {
        "The response is SERVFAIL, and the upstream's is NOERROR."
    }, found


def test_a_right_proxy_is_not_said_to_validate() -> None:
    with Upstream() as upstream, Relay(upstream.endpoint) as proxy:
        assert failing_names(ProxySubject(Asker(proxy.endpoint), upstream)) == ""
