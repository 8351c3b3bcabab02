"""`dnsrig verify` as it is typed."""

import json
import signal
import socket
import subprocess
import sys
import threading
from dataclasses import replace

import dns.message
import dns.query
import pytest
from dnsrig.cli import verify_resolver
from dnsrig.cli.app import run_command_line
from dnsrig.cli.verify_options import Wishes
from dnsrig.errors import EnvironmentLacksError
from dnsrig.items.proxy.p_failure_cache import LONGEST_S
from dnsrig.servers.registry import driver
from dnsrig.servers.resolvers.registry import resolver_drivers
from dnsrig.servers.settings import ServedZone, ServerSettings
from dnsrig.verification import proxy_targets
from dnsrig.verification.exchange import Endpoint
from dnsrig.verification.faults.catalogue import fault_named
from dnsrig.verification.faults.fault import Fault
from dnsrig.verification.faults.relay import NO_FAULT, Relay
from dnsrig.verification.reach import LIMIT_S
from dnsrig.verification.tree import serve
from dnsrig.verification.tree.serve import TreeServer
from dnsrig.verification.verdicts import Severity
from dnsrig.verification.zones.making import VARIANTS, make_zone
from free_ports import free_port
from network_needs import skip_without_networks

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


@pytest.fixture
def namespaces():
    skip_without_networks()


def test_serve_upstream_answers_what_pages_of_items_ask_for():
    command = [sys.executable, "-m", "dnsrig", "verify", "serve-upstream", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as serving:
        told = [serving.stdout.readline() for _ in range(3)]
        port = int(told[0].rstrip(":\n").rsplit("#")[-1])
        query = dns.message.make_query("x.size-1220.rig.example", "TXT", want_dnssec=True, payload=4096)
        response = dns.query.udp(query, "127.0.0.1", timeout=30, port=port)
        serving.send_signal(signal.SIGINT)
        _, said = serving.communicate(timeout=60)
    assert len(response.to_wire()) == 1220 and "Ctrl-C" in said
    assert f"dig @127.0.0.1 -p {port} x.size-1220.rig.example. TXT" in told[2]
    assert serving.returncode == 0


def test_what_the_user_says_of_the_zone(capsys, tmp_path):
    zone = make_zone(tmp_path, VARIANTS["nsec"])
    ds = tmp_path / "dsset"
    ds.write_text("".join(f"{zone.name} IN DS {record}\n" for record in zone.ds))
    with (
        driver("embedded")([ServedZone(zone.name, zone.path)], ServerSettings(), tmp_path / "server") as server,
        Relay(Endpoint(*server.address)) as other,
    ):
        address, port = server.address
        command = [
            "verify",
            "authoritative",
            address,
            "-p",
            str(port),
            "--zone",
            zone.name,
            "--ns",
            str(other.endpoint),
        ]
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


def test_device_that_forwards_elsewhere(capsys):
    upstream = Endpoint("127.0.0.1", free_port())
    with Relay(Endpoint("127.0.0.1", free_port())) as device:
        command = ["verify", "proxy", device.endpoint.address, "-p", str(device.endpoint.port)]
        command += ["--upstream", upstream.address, "--upstream-port", str(upstream.port)]
        assert run_command_line(command) == 1
    assert f"Nothing has come to the rig at {upstream}: let the proxy forward to there" in capsys.readouterr().err


def test_device_whose_responses_are_lost(capsys):
    upstream = Endpoint("127.0.0.1", free_port())
    with Relay(upstream, Fault(name="mute", does="is mute", roles=(), on_response=lambda _: None)) as device:
        command = ["verify", "proxy", device.endpoint.address, "-p", str(device.endpoint.port)]
        command += ["--upstream", upstream.address, "--upstream-port", str(upstream.port)]
        assert run_command_line(command) == 1
    assert f"Its queries come to the rig at {upstream}, and are answered" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("outer", "said"),
    [
        ("127.0.0.2", "This machine asks 127.0.0.2 from 127.0.0.1, "),
        # Sources of two families are never the same.
        ("::1", "This machine asks ::1 over lo, as it does the inner side, "),
    ],
)
def test_outer_address_is_not_asked_from_the_inner_side(capsys, outer, said):
    """A device answers its clients at any of its addresses: that accuses nobody."""
    upstream = Endpoint("127.0.0.1", free_port())
    with Relay(upstream) as device:
        command = ["verify", "proxy", device.endpoint.address, "-p", str(device.endpoint.port), "--item", "P-wan"]
        command += ["--upstream", upstream.address, "--upstream-port", str(upstream.port), "--json"]
        run_command_line([*command, "--outer", outer])
    (item,) = json.loads(capsys.readouterr().out)["items"]
    assert item["verdict"] == "not_applicable"
    assert item["reason"].startswith(said)


def test_what_does_not_say_links_accuses_nobody(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    assert "iproute2" in proxy_targets._why_no_wan(Endpoint("127.0.0.1"), "::1")


def test_slow_items_of_devices_get_their_time():
    named = Wishes("proxy", ("P-failure-cache",), Severity.ERROR, evidence=False, html=None, junit=None, as_json=False)
    usual = replace(named, item_ids=())
    assert usual.limit_of(LIMIT_S) == LIMIT_S
    assert named.limit_of(LIMIT_S) > LIMIT_S + LONGEST_S
    assert named.limit_of(None) is None
    assert replace(named, limit_s=7.0).limit_of(LIMIT_S) == 7.0


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
    assert f"--rules: nft refuses {rules}:1:" in capsys.readouterr().err
    rules.write_text("table inet x { chain c { type filter hook forward priority 0; udp dport 53 drop } }\n")
    if run_command_line([*command, "--rules", str(rules)]) == 2:
        # nft(8) 1.0.6 does; a later one may take it.
        told = capsys.readouterr().err
        assert f"--rules: nft refuses {rules}:1:81-81: Error: syntax error" in told
        assert "wants a line's end or a semicolon before and after each closing brace" in told


def test_path_with_the_router_and_without(capsys, namespaces, tmp_path):
    page = tmp_path / "page.html"
    command = ["verify", "path", "router", "--direct", "--item", "N-tcp", "--item", "N-86", "--html", str(page)]
    rules = tmp_path / "rules.nft"
    rules.write_text(NO_TCP)
    assert run_command_line([*command, "--rules", str(rules), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [one["target"] for one in found["verifications"]] == ["router (direct)", "router"]
    assert {row["id"]: (row["differs"], row["verdicts"]) for row in found["comparison"]} == {
        "N-tcp": (True, {"router (direct)": "pass", "router": "fail"}),
        "N-86": (False, {"router (direct)": "pass", "router": "pass"}),
    }
    assert '<th scope="col">router (direct)</th><th scope="col">router</th>' in page.read_text()
    assert run_command_line([*command, "--rules", str(rules)]) == 1
    shown = capsys.readouterr().out
    assert "targets differ (1)" in shown and "router (direct)" in shown


@pytest.mark.parametrize("fault", [NO_FAULT, "clears-do"])
def test_device_with_the_proxy_and_without(capsys, fault):
    upstream = Endpoint("127.0.0.1", free_port())
    with Relay(upstream, fault if fault is NO_FAULT else fault_named(fault)) as device:
        command = ["verify", "proxy", device.endpoint.address, "-p", str(device.endpoint.port), "--json", "--direct"]
        command += ["--upstream", upstream.address, "--upstream-port", str(upstream.port), "--item", "P-1"]
        assert run_command_line(command) == int(fault is not NO_FAULT)
    verdict = "pass" if fault is NO_FAULT else "fail"
    assert list(json.loads(capsys.readouterr().out)["comparison"][0]["verdicts"].values()) == ["pass", verdict]


@pytest.fixture
def root_server(tmp_path, trees):
    """Serve the root of the rig's tree: it answers with signatures, and does not validate."""
    tree = trees.copy_to(tmp_path / "tree")
    with TreeServer(tree, port=free_port()) as server:
        yield server


def test_resolver_of_another_tree(capsys, tmp_path, root_server):
    anchor = tmp_path / "root.ds"
    anchor.write_text(root_server.tree.trust_anchor_ds)
    command = ["verify", "resolver", root_server.tree.addresses[0], "-p", str(root_server.port), "--json"]
    chosen = [word for id_ in ("F-do", "F-validates", "F-cd-data", "F-lame") for word in ("--item", id_)]
    assert run_command_line([*command, "--trust-anchor", str(anchor), *chosen]) == 1
    assert verdicts(capsys) == {
        "F-do": "pass",
        "F-validates": "fail",
        "F-cd-data": "not_applicable",
        "F-lame": "not_applicable",
    }
    anchor.write_text(". IN DS 1 13 2 " + "00" * 32 + "\n")
    assert run_command_line([*command, "--trust-anchor", str(anchor)]) == 2
    assert "its keys of . (key tag 1) are not among those that the resolver gives" in capsys.readouterr().err
    assert run_command_line([*command, *chosen]) == 2
    out, err = capsys.readouterr()
    assert {item["verdict"] for item in json.loads(out)["items"]} == {"not_applicable"}
    assert "nothing could be verified: name --trust-anchor FILE" in err


def test_without_any_resolver_the_packages_are_named(capsys, monkeypatch):
    monkeypatch.setattr(verify_resolver, "found_resolvers", lambda _: {})
    assert run_command_line(["verify", "resolver"]) == 3
    said = capsys.readouterr().err
    assert "no resolver is installed" in said
    assert all(f"{kind.package or kind.build} ({name})" in said for name, kind in resolver_drivers("resolver").items())


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["resolver", "127.0.0.1", "--bogus", "example"], "are names of the tree of a --trust-anchor"),
        (["resolver", "127.0.0.1", "--tree", "x", "--trust-anchor", __file__], "leave one out"),
        (["resolver", "unbound", "--trust-anchor", __file__], "unbound is started by the rig"),
        (
            ["resolver", "127.0.0.1", "--secure", "a..b", "--trust-anchor", __file__],
            "--secure a..b: no name with a type",
        ),
        (
            ["resolver", "127.0.0.1", "--secure", "a/B!", "--trust-anchor", __file__],
            "--secure a/B!: no name with a type",
        ),
        (["resolver", "127.0.0.1", "--trust-anchor", __file__], f"--trust-anchor {__file__}: "),
        (["proxy", "127.0.0.1", "--direct"], "only with --upstream"),
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
        (["path", "router", "--item", "P-1"], "--item P-1: it is an item of dnsrig verify proxy"),
        (["path", "--explain", "NOPE"], "--explain NOPE: no such item"),
        (["path", "router", "--server-namespace", "x"], "--server-namespace: it is for a path of yours"),
        (["path", "198.18.53.1", "--mtu", "1400"], "--mtu: it is for the rig's own router or bridge"),
        (["proxy", "dnsmasq", "--upstream", "127.0.0.1"], "--upstream: it is for a proxy at an address"),
        (["resolver", "unbound", "-p", "5300"], "--port: it is for a resolver at an address"),
        (["authoritative", "nsd", "-p", "5300"], "--port: a server that the rig starts has a free port"),
        (["authoritative", "127.0.0.1", "--zone", ""], "--zone is empty: "),
        (["authoritative", "nsdd"], "'nsdd' is no server of the rig (embedded, bind"),
        (["authoritative", ""], "a TARGET is empty: give an address"),
        (["resolver", " "], "a TARGET is empty: give an address"),
        (["proxy", "dnsmasq", ""], "a TARGET is empty: give an address"),
        (["serve-tree", ""], "the name is empty; name a folder"),
        (["serve-upstream", "here"], "here: it is no IPv4 or IPv6 address"),
        (["authoritative", "nsd", "--item", ""], "--item '': no such item"),
        (["authoritative", "bnid"], "unbound); did you mean bind or nsd? If it is a host name: --zone is missing"),
        (["authoritative", "pdns"], "did you mean powerdns? If"),
        (["resolver", "kresd."], "did you mean knot-resolver?"),
        (["proxy", "dnsmaq."], "did you mean dnsmasq?"),
        (["authoritative", "127.0.0.1"], "dnsrig: --zone is missing"),
        (["authoritative", "127.0.0.1#5300"], "dnsrig: --zone is missing"),
        (["authoritative", "[::1]:5300"], "dnsrig: --zone is missing"),
        (["authoritative", "127.0.0.1:0", "--zone", "x"], "'127.0.0.1:0': 0 is no port; they go from 1 to 65535"),
        (["resolver", "[::1]:65536"], "65536 is no port"),
        (["proxy", "::1#99999"], "99999 is no port"),
        (["proxy", "a" * 70 + ".example"], "as a host name: it is no host name"),
        (["resolver", "127.0.0.1", "--secure", "", "--trust-anchor", __file__], "no name with a type"),
    ],
)
def test_what_is_wrong_is_said(capsys, command, said):
    assert run_command_line(["verify", *command]) == 2
    assert said in capsys.readouterr().err


def test_a_zone_that_is_not_served_may_be_mistyped(capsys, served):
    address, port = served
    command = ["verify", "authoritative", f"{address}#{port}", "--item", "A-plain", "--json", "--zone"]
    assert run_command_line([*command, "exmaple.test"]) == 1
    reason = json.loads(capsys.readouterr().out)["items"][0]["reason"]
    assert reason.endswith("is REFUSED, not NOERROR; is exmaple.test. the name of a zone there?")
    assert run_command_line([*command, "example.test"]) == 0


def test_raised_limits_have_a_column_of_their_own(capsys):
    if driver("nsd").find() is None:
        pytest.skip("needs NSD: install the Debian package nsd")
    command = ["verify", "authoritative", "nsd", "--raised-limits", "--json"]
    command += ["--item", "A-86", "--item", "A-87", "--item", "A-soa"]
    assert run_command_line(command) == 0
    found = json.loads(capsys.readouterr().out)["verifications"]
    by_target = {one["target"]: {item["id"]: item["verdict"] for item in one["items"]} for one in found}
    assert by_target["nsd"].keys() == {"A-86", "A-87", "A-soa"}
    assert by_target["nsd (4096 octets)"] == {"A-86": "pass", "A-87": "pass"}


def test_limits_of_others_cannot_be_raised(capsys):
    assert run_command_line(["verify", "authoritative", "127.0.0.1", "--zone", "example", "--raised-limits"]) == 2
    assert "--raised-limits: the limit of 127.0.0.1" in capsys.readouterr().err


def test_a_narrow_path_is_warned_of(capsys, namespaces):
    assert run_command_line(["verify", "path", "router", "--mtu", "600", "--item", "N-answers", "--json"]) in {0, 1}
    assert "--mtu 600: IPv6 needs 1280 octets" in capsys.readouterr().err


def test_a_tree_whose_port_is_taken_is_not_made(tmp_path, monkeypatch):
    monkeypatch.setattr(serve, "make_tree", lambda *_: pytest.fail("it was made"))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("127.0.0.1", 0))
        port = other.getsockname()[1]
        with pytest.raises(EnvironmentLacksError, match=r"cannot be served on 127\.0\.0\.1 "):
            serve.prepare_tree(tmp_path, threading.Event(), prefix="127.0.0", port=port)
