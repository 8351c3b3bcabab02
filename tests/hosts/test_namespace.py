"""Namespaces carry traffic only among themselves, and none is left behind whatever happens to dnsrig."""

import errno
import os
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from dnsrig.errors import EnvironmentLacksError
from dnsrig.hosts import processes
from dnsrig.hosts.namespace import Namespace
from dnsrig.hosts.network import kernel, rules, users
from dnsrig.hosts.network.links import End, link
from dnsrig.hosts.network.topologies import Middle, PathNetwork, path_network, resolver_network
from dnsrig.servers import ports

DEADLINE_S = 30.0
SILENCE_S = 0.3
PACKAGE_ROOT = Path(users.__file__).parents[3]
MORE_ADDRESSES = ["203.0.113.1", "2001:db8::1"]


@pytest.fixture(autouse=True)
def needs_namespaces() -> None:
    if why := users.why_no_namespaces():
        pytest.skip(why)
    if shutil.which("ip") is None:
        pytest.skip("needs ip: install the Debian package iproute2")


@pytest.fixture
def needs_nft() -> None:
    if shutil.which("nft", path="/usr/sbin:/sbin:" + os.environ["PATH"]) is None:
        pytest.skip("needs nft: install the Debian package nftables")


def wait_until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not happen"
        time.sleep(0.02)


def family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def identity(descriptor: int) -> int:
    """The number by which the kernel knows a namespace."""
    return os.fstat(descriptor).st_ino


def held_namespaces() -> set[int]:
    """Those that this process holds."""
    found = set()
    for entry in Path("/proc/self/fd").iterdir():
        try:
            if str(entry.readlink()).startswith("net:"):
                found.add(entry.stat().st_ino)
        except OSError:
            continue
    return found


def processes_inside(inode: int) -> set[int]:
    """Those in a namespace, of other users of the machine too.

    A number is given to another namespace once the first is gone, so a test that others run beside asks for processes.
    """
    found = set()
    for pid in processes.parents():
        try:
            if (Path("/proc") / str(pid) / "ns" / "net").stat().st_ino == inode:
                found.add(pid)
        except OSError:
            continue
    return found


def reaches(sender: Namespace, receiver: Namespace, address: str, octets: int = 100, port: int = 53) -> bool:
    """Say whether a datagram arrives."""
    with (
        receiver.make_socket(family(address), socket.SOCK_DGRAM) as inbox,
        sender.make_socket(family(address), socket.SOCK_DGRAM) as outbox,
    ):
        inbox.bind((address, port))
        inbox.settimeout(SILENCE_S)
        try:
            outbox.sendto(bytes(octets), (address, port))
            return len(inbox.recv(65_535)) == octets
        except OSError:
            return False


def test_begins_with_loopback_and_no_way_out() -> None:
    with Namespace() as namespace:
        assert reaches(namespace, namespace, "127.0.0.1")
        assert namespace.run_ip("-o", "link").count("\n") == 1
        assert not namespace.run_ip("route")
        assert not namespace.run_ip("-6", "route", "show", "default")
        with (
            namespace.make_socket(socket.AF_INET, socket.SOCK_DGRAM) as channel,
            pytest.raises(OSError, match="unreach"),
        ):
            channel.connect(("192.0.2.1", 53))


def test_sockets_are_the_namespaces_and_this_process_stays_outside() -> None:
    with Namespace() as one, Namespace() as other:
        for namespace in (one, other):
            namespace.add_addresses(["203.0.113.53", "2001:db8::53"])
        sockets = [namespace.make_socket(socket.AF_INET, socket.SOCK_DGRAM) for namespace in (one, other)]
        for channel in sockets:
            channel.bind(("203.0.113.53", 53))
        assert one.call(lambda: ports.port_state("203.0.113.53", 53)) is ports.PortState.TAKEN
        assert one.call(lambda: len(ports.sockets_on("203.0.113.53", 53))) == 1
        assert ports.port_state("203.0.113.53", 53) is ports.PortState.NO_ADDRESS
        for channel in sockets:
            channel.close()


def test_many_threads_at_once() -> None:
    with Namespace() as one, Namespace() as other:
        wrong: list[str] = []

        def act(namespace: Namespace) -> None:
            for _ in range(20):
                inside = namespace.call(lambda: Path("/proc/thread-self/ns/net").stat().st_ino)
                if inside != identity(namespace.descriptor):
                    wrong.append(namespace.name)

        threads = [threading.Thread(target=act, args=(namespace,)) for namespace in (one, other) * 4]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong


def test_threads_that_make_sockets_stay_where_they_are() -> None:
    with Namespace() as one, Namespace() as other:
        one.add_addresses(["203.0.113.53"])
        outside = Path("/proc/thread-self/ns/net").stat().st_ino
        wrong: list[object] = []

        def act() -> None:
            for _ in range(20):
                with (
                    one.make_socket(socket.AF_INET, socket.SOCK_DGRAM) as inside,
                    other.make_socket(socket.AF_INET, socket.SOCK_DGRAM) as elsewhere,
                ):
                    inside.bind(("203.0.113.53", 0))
                    with pytest.raises(OSError, match="assign"):
                        elsewhere.bind(("203.0.113.53", 0))
            with pytest.raises(OSError, match="not supported"):
                one.make_socket(socket.AF_INET, socket.SOCK_RDM)
            wrong.extend({Path("/proc/thread-self/ns/net").stat().st_ino} - {outside})
            ended.append(True)

        ended: list[bool] = []
        threads = [threading.Thread(target=act) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (wrong, len(ended)) == ([], 4)


def test_programs_run_inside_and_end_with_it(tmp_path: Path) -> None:
    with Namespace() as namespace:
        process = namespace.spawn(["sleep", "600"], folder=tmp_path, log=tmp_path / "log", cpus=None)
        inside = Path(f"/proc/{process.pid}/ns/net").stat().st_ino
        assert inside == identity(namespace.descriptor)
        with pytest.raises(EnvironmentLacksError, match=r"no-such-program could not be started: No such file"):
            namespace.spawn(["no-such-program"], folder=tmp_path, log=tmp_path / "log", cpus=None)
        below = processes_inside(inside)
        assert process.pid in below
    assert not process.alive()
    wait_until(lambda: not any(processes.is_live(pid) for pid in below), "the end of what ran in the namespace")
    assert inside not in held_namespaces()
    namespace.close()
    with pytest.raises(RuntimeError, match="closed"):
        namespace.make_socket(socket.AF_INET, socket.SOCK_DGRAM)


def test_what_a_function_raises_arrives() -> None:
    def fail() -> None:
        raise ValueError("inside")

    with Namespace() as namespace, pytest.raises(ValueError, match="inside"):
        namespace.call(fail)


def test_what_comes_after_an_interruption_is_discarded() -> None:
    """A program that starts while the user interrupts must be ended by someone."""
    began, may_end, discarded = threading.Event(), threading.Event(), threading.Event()

    def function() -> str:
        began.set()
        assert may_end.wait(DEADLINE_S)
        return "a process"

    def interrupt() -> None:
        assert began.wait(DEADLINE_S)
        os.kill(os.getpid(), signal.SIGINT)

    with Namespace() as namespace:
        threading.Thread(target=interrupt).start()
        with pytest.raises(KeyboardInterrupt):
            namespace.call(function, discard=lambda given: discarded.set() if given == "a process" else None)
        assert not discarded.is_set()
        may_end.set()
        assert discarded.wait(DEADLINE_S)


@pytest.mark.parametrize(("program", "package"), [("ip", "iproute2"), ("nft", "nftables")])
def test_missing_programs_name_their_package(program: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Namespace() as namespace:
        monkeypatch.setenv("PATH", "/nowhere")
        monkeypatch.setattr("dnsrig.hosts.namespace.SBIN", ())
        with pytest.raises(
            EnvironmentLacksError, match=f"{program} is not installed: install the Debian package {package}"
        ):
            namespace.run([program])


def test_failed_commands_say_what_failed() -> None:
    with Namespace("client") as namespace:
        with pytest.raises(
            EnvironmentLacksError, match=r"client .*ip address add 192.0.2.1 dev absent failed: .*absent"
        ):
            namespace.add_addresses(["192.0.2.1"], "absent")
        with pytest.raises(EnvironmentLacksError, match="program no-such-program is not installed"):
            namespace.run(["no-such-program"])
        with pytest.raises(EnvironmentLacksError, match="no_such_setting"):
            namespace.set_kernel("net/ipv4/no_such_setting", "1")


def test_an_error_half_way_leaves_nothing() -> None:
    before = held_namespaces()
    with pytest.raises(EnvironmentLacksError), resolver_network(["192.0.2.1", "not an address"], linked=True):
        pass
    assert held_namespaces() == before


def test_links_are_never_on_the_machine() -> None:
    before = {name for _, name in socket.if_nameindex()}
    with Namespace() as one, Namespace() as other:
        link(End(one, "left", ["10.0.0.1/30"]), End(other, "right", ["10.0.0.2/30"]))
        assert {name for _, name in socket.if_nameindex()} == before
        assert reaches(one, other, "10.0.0.2")
        assert "right" in other.run_ip("-o", "link")


@pytest.mark.parametrize("linked", [False, True])
def test_resolver_network(linked: bool) -> None:
    with resolver_network(["192.0.2.1", "2001:db8::1"], linked=linked) as network:
        assert (network.resolver is network.tree) != linked
        for address in ("192.0.2.1", "2001:db8::1"):
            assert reaches(network.resolver, network.tree, address, octets=4000)
        with network.resolver.make_socket(socket.AF_INET, socket.SOCK_STREAM) as channel:
            channel.settimeout(DEADLINE_S)
            with pytest.raises(OSError, match="unreach"):
                channel.connect(("192.0.2.2", 53))


@pytest.fixture(params=["router", "bridge"])
def path(request: pytest.FixtureRequest) -> Iterator[PathNetwork]:
    with path_network(request.param, MORE_ADDRESSES) as network:
        yield network


def server_addresses(network: PathNetwork) -> list[str]:
    return [network.server_addresses.ipv4, network.server_addresses.ipv6, *MORE_ADDRESSES]


def test_path_carries_both_families_and_fragments(path: PathNetwork) -> None:
    for address in server_addresses(path):
        assert reaches(path.client, path.server, address)
        assert reaches(path.client, path.server, address, octets=4000)
    for address in (path.client_addresses.ipv4, path.client_addresses.ipv6):
        assert reaches(path.server, path.client, address)


def test_a_host_in_the_middle_forwards_nothing() -> None:
    with path_network("host") as network:
        assert network.inner_addresses is not None
        assert reaches(network.client, network.middle, network.inner_addresses.ipv4)
        assert reaches(network.middle, network.server, network.server_addresses.ipv6)
        for address in server_addresses(network)[:2]:
            assert not reaches(network.client, network.server, address)


def nft_family(network: PathNetwork) -> str:
    return "inet" if network.inner_addresses else "bridge"


@pytest.mark.usefixtures("needs_nft")
def test_rules_hold_on_the_path_and_go(path: PathNetwork) -> None:
    chosen = [*rules.DROP_FRAGMENTS, *rules.DROP_DNS_BY_TCP, *rules.DROP_PACKET_TOO_BIG]
    path.middle.set_rules(rules.ruleset(chosen, nft_family(path)))
    for address in server_addresses(path):
        assert reaches(path.client, path.server, address)
        assert not reaches(path.client, path.server, address, octets=4000)
    path.middle.set_rules("")
    for address in server_addresses(path):
        assert reaches(path.client, path.server, address, octets=4000)
    with pytest.raises(EnvironmentLacksError, match=r"nft refuses my\.nft:2:4-7: Error: syntax error"):
        path.middle.set_rules("# Two lines:\nno rule at all", "my.nft")


@pytest.mark.usefixtures("needs_nft")
def test_long_responses_are_lost(path: PathNetwork) -> None:
    path.middle.set_rules(rules.ruleset(rules.drop_dns_longer_than(1232), nft_family(path)))
    address = path.server_addresses.ipv4
    with (
        path.server.make_socket(socket.AF_INET, socket.SOCK_DGRAM) as server,
        path.client.make_socket(socket.AF_INET, socket.SOCK_DGRAM) as client,
    ):
        server.bind((address, 53))
        client.connect((address, 53))
        for channel in (server, client):
            channel.settimeout(SILENCE_S)
        client.send(b"query")
        _, sender = server.recvfrom(512)
        for octets, arrives in ((1232, True), (1233, False), (4000, False)):
            server.sendto(bytes(octets), sender)
            if arrives:
                assert len(client.recv(65_535)) == octets
            else:
                with pytest.raises(TimeoutError):
                    client.recv(65_535)


@pytest.mark.usefixtures("needs_nft")
def test_a_router_redirects_dns_to_itself() -> None:
    with path_network("router") as network:
        network.middle.set_rules(rules.ruleset(rules.REDIRECT_DNS))
        for address in (network.server_addresses.ipv4, network.server_addresses.ipv6):
            with (
                network.middle.make_socket(family(address), socket.SOCK_DGRAM) as router,
                network.client.make_socket(family(address), socket.SOCK_DGRAM) as client,
            ):
                router.bind(("", 53))
                router.settimeout(DEADLINE_S)
                client.connect((address, 53))
                client.settimeout(DEADLINE_S)
                client.send(b"query")
                message, sender = router.recvfrom(512)
                router.sendto(message, sender)
                assert client.recv(512) == b"query"


def test_packets_above_the_mtu_are_answered_with_icmp() -> None:
    with path_network("router") as network:
        network.set_mtu(outer=1280)
        address = network.server_addresses.ipv6
        assert not reaches(network.client, network.server, address, octets=1400)
        wait_until(
            lambda: reaches(network.client, network.server, address, octets=1400), "fragmentation after packet too big"
        )


@pytest.mark.parametrize("kind", ["router", "bridge", "host"])
def test_networks_leave_nothing(kind: Middle) -> None:
    before = held_namespaces()
    with path_network(kind, MORE_ADDRESSES):
        assert len(held_namespaces()) == len(before) + 3
    assert held_namespaces() == before


HELD = """
import os, sys, time
from pathlib import Path
from dnsrig.hosts.network.topologies import path_network
folder = Path(sys.argv[1])
with path_network() as network:
    process = network.server.spawn(["sleep", "600"], folder=folder, log=folder / "log", cpus=None)
    print(process.pid, os.fstat(network.server.descriptor).st_ino, flush=True)
    time.sleep(600)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_outlives_dnsrig(number: signal.Signals, tmp_path: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", HELD, str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=os.environ | {"PYTHONPATH": str(PACKAGE_ROOT)},
    )
    assert child.stdout is not None
    with child, child.stdout as said:
        pid, inode = map(int, said.readline().split())
        below = processes_inside(inode)
        assert pid in below
        child.send_signal(number)
        child.wait(DEADLINE_S)
    wait_until(lambda: not any(processes.is_live(pid) for pid in below), "the end of what ran in the namespace")


AS_ANYONE = textwrap.dedent("""
    import socket
    from concurrent.futures import ThreadPoolExecutor
    from dnsrig.hosts.network.users import enter_user_namespace
    from dnsrig.hosts.network.topologies import path_network
    enter_user_namespace()
    def socket_of(host):
        return host.make_socket(socket.AF_INET6, socket.SOCK_DGRAM)
    with path_network() as network, ThreadPoolExecutor() as threads:
        with socket_of(network.server) as inbox:
            inbox.bind((network.server_addresses.ipv6, 53))
            inbox.settimeout(10)
            for outbox in (socket_of(network.client), threads.submit(socket_of, network.client).result()):
                outbox.sendto(b"arrived", (network.server_addresses.ipv6, 53))
                outbox.close()
                print(inbox.recv(100).decode())
""")


AS_NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--", "env"]
"""setpriv still has the rights of root when it looks for its program; env has them no more."""


def python_of_nobody() -> str:
    """A Python of 3.11 or later that another user may run; namespaces need nothing beside the standard library."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("needs root and setpriv, of the Debian package util-linux, to be another user")
    test = f"import sys; sys.path.insert(0, {str(PACKAGE_ROOT)!r}); import dnsrig; assert sys.version_info >= (3, 11)"
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([*AS_NOBODY, python, "-c", test], capture_output=True, cwd="/", check=False).returncode == 0:
            return python
    pytest.skip("another user can run neither this Python nor /usr/bin/python3 with dnsrig")


def run_as_nobody(script: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*AS_NOBODY, python_of_nobody(), "-c", script],
        capture_output=True,
        text=True,
        cwd="/",
        timeout=DEADLINE_S,
        check=False,
        env=os.environ | {"PYTHONPATH": str(PACKAGE_ROOT), **environment},
    )


def test_without_root_in_a_user_namespace() -> None:
    done = run_as_nobody(AS_ANYONE)
    if "user namespaces do not help" in done.stderr:
        pytest.skip(done.stderr.splitlines()[-1])
    assert (done.stdout, done.stderr) == ("arrived\n" * 2, "")


def test_without_root_says_what_is_lacking() -> None:
    done = run_as_nobody("from dnsrig.hosts.namespace import Namespace\nNamespace()")
    assert "EnvironmentLacksError: no network namespace can be made: not root; run dnsrig as root" in done.stderr


def test_a_limit_of_namespaces_is_no_full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "unshare: No space left on device")

    monkeypatch.setattr(kernel, "_call", refuse)
    with pytest.raises(EnvironmentLacksError, match=r"as many as user.max_net_namespaces allows"):
        kernel.make_namespace()


def test_a_user_namespace_is_entered_once() -> None:
    done = run_as_nobody(
        "from dnsrig.hosts.network.users import enter_user_namespace\nenter_user_namespace()",
        DNSRIG_IN_USER_NAMESPACE="1",
    )
    assert "dnsrig is in a user namespace already" in done.stderr


def test_forbidden_user_namespaces_are_explained(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse() -> int:
        raise EnvironmentLacksError("no network namespace can be made")

    switch = tmp_path / "switch"
    switch.write_text("0\n")
    monkeypatch.setattr(kernel, "make_namespace", refuse)
    monkeypatch.setattr(users, "SWITCHES", ((str(switch), "0", "user.max_user_namespaces is 0"),))
    monkeypatch.setattr(
        users.subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], 1, "", "unshare: failed")
    )
    with pytest.raises(EnvironmentLacksError, match=r"user namespaces do not help: user.max_user_namespaces is 0"):
        users.enter_user_namespace()
