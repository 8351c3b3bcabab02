"""`dnsrig verify` as it is typed."""

import json
import os
import shutil
import socket

import pytest
from dnsrig.cli.app import run_command_line
from dnsrig.hosts.network import users
from dnsrig.servers.registry import driver
from dnsrig.servers.resolvers.registry import resolver_drivers
from dnsrig.servers.settings import ServedZone, ServerSettings
from dnsrig.verification.exchange import Endpoint
from dnsrig.verification.faults.catalogue import fault_named
from dnsrig.verification.faults.relay import NO_FAULT, Relay
from dnsrig.verification.zones.making import VARIANTS, make_zone

NO_TCP = """\
table inet test {
  chain forward {
    type filter hook forward priority 0
    tcp dport 53 reject with tcp reset
  }
}
"""


def verdicts(capsys):
    return {item["id"]: item["verdict"] for item in json.loads(capsys.readouterr().out)["items"]}


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def namespaces():
    if why := users.why_no_namespaces():
        pytest.skip(why)
    for program, package in (("ip", "iproute2"), ("nft", "nftables")):
        if shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin:/sbin") is None:
            pytest.skip(f"needs {program}: install the Debian package {package}")


def test_what_the_user_says_of_the_zone(capsys, tmp_path):
    zone = make_zone(tmp_path, VARIANTS["nsec"])
    ds = tmp_path / "dsset"
    ds.write_text("".join(f"{zone.name} IN DS {record}\n" for record in zone.ds))
    with driver("embedded")([ServedZone(zone.name, zone.path)], ServerSettings(), tmp_path / "server") as server:
        address, port = server.address
        command = ["verify", "authoritative", address, "-p", str(port), "--zone", zone.name, "--ns", address]
        items = ["--item", "A-47", "--item", "A-peers-dnskey", "--json"]
        assert run_command_line([*command, "--ds", str(ds), *items]) == 0
        assert verdicts(capsys) == {"A-47": "pass", "A-peers-dnskey": "pass"}
        ds.write_text("other. IN DS 1 13 2 00\n")
        assert run_command_line([*command, "--ds", str(ds), *items]) == 2
        assert capsys.readouterr().err.startswith(f"dnsrig: --ds {ds}: ")


@pytest.mark.parametrize(("fault", "code", "verdict"), [(NO_FAULT, 0, "pass"), ("clears-do", 1, "fail")])
def test_device_that_forwards_to_the_rig(capsys, fault, code, verdict):
    upstream = Endpoint("127.0.0.1", free_port())
    with Relay(upstream, fault if fault is NO_FAULT else fault_named(fault)) as device:
        command = ["verify", "proxy", device.endpoint.address, "-p", str(device.endpoint.port), "--json"]
        command += ["--upstream", upstream.address, "--upstream-port", str(upstream.port), "--item", "P-1"]
        assert run_command_line(command) == code
    assert verdicts(capsys) == {"P-1": verdict}


def test_device_whose_upstream_is_not_the_rigs(capsys):
    upstream = Endpoint("127.0.0.1", free_port())
    with Relay(upstream) as rig, Relay(rig.endpoint) as device:
        address = ["verify", "proxy", device.endpoint.address, "-p", str(device.endpoint.port)]
        assert run_command_line([*address, "--upstream", "203.0.113.1"]) == 3
        assert "--upstream 203.0.113.1: port 53 cannot be taken: " in capsys.readouterr().err
        served = ["--upstream", upstream.address, "--upstream-port", str(upstream.port)]
        assert run_command_line([*address, *served, "--item", "P-wan", "--item", "P-1", "--json"]) == 0
    assert verdicts(capsys) == {"P-1": "pass", "P-wan": "not_applicable"}


@pytest.mark.parametrize("name", resolver_drivers("proxy"))
def test_proxy_that_the_rig_starts(capsys, namespaces, name):
    kind = resolver_drivers("proxy")[name]
    if kind.find() is None:
        pytest.skip(f"{kind.title} is not installed: install the Debian package {kind.package}")
    assert run_command_line(["verify", "proxy", name, "--item", "P-tcp", "--json"]) == 0
    assert verdicts(capsys) == {"P-tcp": "pass"}


def test_router_with_rules(capsys, namespaces, tmp_path):
    rules = tmp_path / "rules.nft"
    rules.write_text(NO_TCP)
    command = ["verify", "path", "router", "--item", "N-tcp", "--item", "N-86", "--json"]
    assert run_command_line([*command, "--rules", str(rules)]) == 1
    assert verdicts(capsys) == {"N-86": "pass", "N-tcp": "fail"}
    rules.write_text("table inet {")
    assert run_command_line([*command, "--rules", str(rules)]) == 2
    assert f"--rules {rules}: in the namespace router" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["proxy"], "name a TARGET: one of dnsmasq"),
        (["proxy", "127.0.0.1", "--upstream", "here"], "--upstream here: it is no IPv4 or IPv6 address"),
        (["proxy", "127.0.0.1", "--outer", "there"], "--outer there: it is no IPv4 or IPv6 address"),
        (["path"], "name a TARGET: router, bridge, or the address"),
        (["path", "switch"], "'switch' is neither router or bridge nor"),
        (["path", "198.18.53.1"], "--server-namespace is missing"),
        (
            ["path", "198.18.53.1", "--server-namespace", "no-such"],
            "no-such: no network namespace at /run/netns/no-such",
        ),
        (["path", "router", "--item", "P-1"], "--item p-1: no such item"),
    ],
)
def test_what_is_wrong_is_said(capsys, command, said):
    assert run_command_line(["verify", *command]) == 2
    assert said in capsys.readouterr().err
