"""Servers start, reload and stop cleanly, and nothing of them outlives dnsrig."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from dnsrig.errors import EnvironmentLacksError, InputError, SubjectFailedError
from dnsrig.hosts import processes
from dnsrig.hosts.local import LocalHost
from dnsrig.servers import ports
from dnsrig.servers.base import Installation, ServedZone, Server, ServerSettings
from dnsrig.servers.readiness import ask_soa
from served_zones import ZONE
from signature_check import ask

START_SERVER = Path(__file__).with_name("start_server.py")
END_DEADLINE_S = 30.0


def wait_until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + END_DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not happen"
        time.sleep(0.02)


def nothing_left(pids: list[int], port: int) -> bool:
    gone = not any(processes.is_live(pid) for pid in pids)
    return gone and ports.port_state("127.0.0.1", port) is ports.PortState.FREE


@contextmanager
def held_port(kind: socket.SocketKind, *, reuse_port: bool = False) -> Iterator[int]:
    """Hold a port that nobody else has, for UDP or TCP; the other stays free."""
    with socket.socket(socket.AF_INET, kind) as holder:
        if reuse_port:
            holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        # Bound at once: a port that was found free before may be another's by then.
        holder.bind(("127.0.0.1", 0))
        if kind == socket.SOCK_STREAM:
            holder.listen()
        yield holder.getsockname()[1]


def test_stop_leaves_nothing(kind: type[Server], zones, tmp_path: Path) -> None:
    server = kind([zones("nsec")], ServerSettings(threads=2), tmp_path / "server")
    server.start()
    pids, port = server.pids(), server.address[1]
    assert pids
    server.stop()
    assert nothing_left(pids, port)
    assert server.pids() == []
    server.stop()


def test_start_again_after_stop(kind: type[Server], zones, tmp_path: Path) -> None:
    server = kind([zones("nsec3")], ServerSettings(), tmp_path / "server")
    for _ in range(2):
        with server:
            assert ask(server.address, "www.example.", "A").answer


def test_exception_stops_the_server(kind: type[Server], zones, tmp_path: Path) -> None:
    seen = {}
    with (
        pytest.raises(KeyboardInterrupt),
        kind([zones("unsigned")], ServerSettings(), tmp_path / "server") as server,
    ):
        seen.update(pids=server.pids(), port=server.address[1])
        raise KeyboardInterrupt
    assert nothing_left(seen["pids"], seen["port"])


def test_two_at_once(kind: type[Server], zones, tmp_path: Path) -> None:
    with (
        kind([zones("nsec")], ServerSettings(), tmp_path / "one") as one,
        kind([zones("nsec", serial=2)], ServerSettings(), tmp_path / "two") as two,
    ):
        assert one.address != two.address
        assert ask_soa(*one.address, "example", tcp=False).serial == 1
        assert ask_soa(*two.address, "example", tcp=False).serial == 2
        assert not set(one.pids()) & set(two.pids())


def test_writes_only_into_its_folder(kind: type[Server], zones, tmp_path: Path) -> None:
    """Each file that the server's processes have open for writing lies in its folder."""
    folder = tmp_path / "server"
    with kind([zones("nsec3")], ServerSettings(), folder) as server:
        written = [path for pid in server.pids() for path in files_open_for_writing(pid)]
        assert folder / server.log.name in written
        assert all(path.is_relative_to(folder) for path in written), written


def files_open_for_writing(pid: int) -> list[Path]:
    found = []
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            flags = int(Path(f"/proc/{pid}/fdinfo/{entry.name}").read_text().split()[3], 8)
            target = entry.readlink()
            if target.is_absolute() and target.is_file() and flags & (os.O_WRONLY | os.O_RDWR):
                found.append(target)
    return found


def test_long_and_odd_folder(kind: type[Server], zones, tmp_path: Path) -> None:
    """Paths of UNIX sockets hold 107 bytes; run folders may be longer, and hold spaces and quotes."""
    folder = tmp_path / ("l" * 120) / "with space and 'quote'"
    folder.mkdir(parents=True)
    source = folder / "zone file's.db"
    shutil.copy(zones("nsec3").path, source)
    with kind([ServedZone("example", source)], ServerSettings(), folder / "server") as server:
        assert ask(server.address, "www.example.", "A").answer


def test_ipv6(kind: type[Server], zones, tmp_path: Path) -> None:
    if ports.port_state("::1", 0) is not ports.PortState.FREE:
        pytest.skip("this machine has no ::1")
    with kind([zones("nsec")], ServerSettings(address="::1"), tmp_path / "server") as server:
        assert ask(server.address, "www.example.", "A").answer


def test_several_zones(kind: type[Server], zones, tmp_path: Path) -> None:
    other = tmp_path / "other.zone"
    other.write_text(ZONE.format(serial=7).replace("example.", "1.0/25.2.0.192.in-addr.arpa."))
    served = [zones("nsec3"), ServedZone("1.0/25.2.0.192.in-addr.arpa.", other)]
    with kind(served, ServerSettings(), tmp_path / "server") as server:
        assert ask_soa(*server.address, "1.0/25.2.0.192.in-addr.arpa.", tcp=True).serial == 7


@pytest.mark.parametrize("variant", ["unsigned", "nsec", "nsec3"])
def test_reload_serves_the_new_zone(kind: type[Server], variant: str, zones, tmp_path: Path) -> None:
    path = tmp_path / "live.zone"
    shutil.copy(zones(variant, serial=1).path, path)
    with kind([ServedZone("example", path)], ServerSettings(threads=2), tmp_path / "server") as server:
        assert ask(server.address, "new1.example.", "TXT").answer
        shutil.copy(zones(variant, serial=2).path, path)
        server.reload()
        for _ in range(20):
            assert ask_soa(*server.address, "example", tcp=False).serial == 2
        assert ask(server.address, "new2.example.", "TXT").answer
        assert not ask(server.address, "new1.example.", "TXT").answer


def test_reload_of_a_broken_zone(kind: type[Server], zones, tmp_path: Path) -> None:
    path = tmp_path / "live.zone"
    shutil.copy(zones("unsigned").path, path)
    with kind([ServedZone("example", path)], ServerSettings(), tmp_path / "server") as server:
        path.write_text(ZONE.format(serial=2) + "bad A 192.0.2.444\n")
        with pytest.raises(SubjectFailedError, match=r"192\.0\.2\.444|live\.zone"):
            server.reload()


def test_broken_zone_gives_the_servers_own_line(kind: type[Server], write_zone, tmp_path: Path) -> None:
    zone = write_zone(ZONE.format(serial=1) + "bad A 192.0.2.444\n")
    server = kind([zone], ServerSettings(), tmp_path / "server")
    with pytest.raises(SubjectFailedError, match=r"(?s)said:.*(own\.zone|bad\.example)") as caught:
        server.start()
    assert caught.value.exit_code == 1
    assert server.pids() == []
    assert nothing_left([], server.address[1])


def test_zone_without_soa(kind: type[Server], write_zone, tmp_path: Path) -> None:
    zone = write_zone("$ORIGIN example.\n$TTL 60\n@ NS ns1\nns1 A 192.0.2.1\n")
    with pytest.raises(SubjectFailedError, match="SOA"):
        kind([zone], ServerSettings(), tmp_path / "server").start()


def test_missing_zone_file(kind: type[Server], tmp_path: Path) -> None:
    zone = ServedZone("example", tmp_path / "absent.zone")
    with pytest.raises(InputError, match=r"absent\.zone.*No such file"):
        kind([zone], ServerSettings(), tmp_path / "server").start()


@pytest.mark.parametrize("transport", [socket.SOCK_DGRAM, socket.SOCK_STREAM])
def test_taken_port(kind: type[Server], transport: socket.SocketKind, zones, tmp_path: Path) -> None:
    with held_port(transport) as port:
        server = kind([zones("unsigned")], ServerSettings(port=port), tmp_path / "server")
        with pytest.raises(EnvironmentLacksError, match=rf"port {port} of 127\.0\.0\.1 is taken") as caught:
            server.start()
    assert caught.value.exit_code == 3
    assert "the server said:" in str(caught.value)
    assert f"pid {os.getpid()}" in str(caught.value)
    assert server.pids() == []


def test_port_shared_by_reuseport_is_refused(kind: type[Server], zones, tmp_path: Path) -> None:
    with held_port(socket.SOCK_DGRAM, reuse_port=True) as port:
        server = kind([zones("unsigned")], ServerSettings(port=port), tmp_path / "server")
        with pytest.raises(EnvironmentLacksError, match="taken"):
            server.start()


def test_port_grabbed_between(kind: type[Server], zones, tmp_path: Path, monkeypatch) -> None:
    find = ports.find_free_port
    with held_port(socket.SOCK_STREAM) as taken:
        offers = iter([taken])
        monkeypatch.setattr(ports, "find_free_port", lambda address: next(offers, None) or find(address))
        with kind([zones("unsigned")], ServerSettings(), tmp_path / "server") as server:
            assert server.address[1] != taken
            assert ask(server.address, "www.example.", "A").answer


def test_killed_during_start(kind: type[Server], zones, tmp_path: Path, monkeypatch) -> None:
    spawn = LocalHost.spawn

    def spawn_and_kill(self, *arguments, **options):
        process = spawn(self, *arguments, **options)
        os.kill(process.pid, signal.SIGKILL)
        return process

    monkeypatch.setattr(LocalHost, "spawn", spawn_and_kill)
    with pytest.raises(SubjectFailedError, match=r"(?s)ended by signal 9.*command: .*log: "):
        kind([zones("unsigned")], ServerSettings(), tmp_path / "server").start()


def test_killed_while_its_sockets_are_looked_at(kind: type[Server], zones, tmp_path: Path, monkeypatch) -> None:
    """Sockets of a server that has just died are no other process's: it died, and is not started again."""
    server = kind([zones("unsigned")], ServerSettings(), tmp_path / "server")
    spawn, sockets_on = LocalHost.spawn, ports.sockets_on
    started, killed = [], []

    def note_spawned(self, *arguments, **options):
        started.append(spawn(self, *arguments, **options))
        return started[-1]

    def look_and_kill(address, port):
        bound = sockets_on(address, port)
        if not started[-1].alive():
            # Somebody else took its port in the meantime: it is started again, on another.
            return bound
        killed.append(started[-1])
        os.kill(started[-1].pid, signal.SIGKILL)
        wait_until(lambda: not started[-1].alive(), "the end of the server")
        return bound

    monkeypatch.setattr(LocalHost, "spawn", note_spawned)
    monkeypatch.setattr(ports, "sockets_on", look_and_kill)
    with pytest.raises(SubjectFailedError, match="ended by signal 9"):
        server.start()
    assert killed == started[-1:]


def test_never_ready(kind: type[Server], zones, tmp_path: Path) -> None:
    settings = ServerSettings(ready_deadline_s=0.3)
    zone = ServedZone("other", zones("unsigned").path)
    with pytest.raises(SubjectFailedError):
        kind([zone], settings, tmp_path / "server").start()


def test_unknown_cpu(kind: type[Server], zones, tmp_path: Path) -> None:
    settings = ServerSettings(cpus=frozenset({1023}))
    with pytest.raises(EnvironmentLacksError, match="CPU 1023"):
        kind([zones("unsigned")], settings, tmp_path / "server").start()


def test_runs_on_the_given_cpu(kind: type[Server], zones, tmp_path: Path) -> None:
    cpu = max(os.sched_getaffinity(0))
    settings = ServerSettings(cpus=frozenset({cpu}), threads=2)
    with kind([zones("unsigned")], settings, tmp_path / "server") as server:
        for pid in server.pids():
            for task in Path(f"/proc/{pid}/task").iterdir():
                assert os.sched_getaffinity(int(task.name)) == {cpu}


def test_not_installed(zones, tmp_path: Path, monkeypatch, kind: type[Server]) -> None:
    monkeypatch.setattr(kind, "find", classmethod(lambda cls: None))
    with pytest.raises(EnvironmentLacksError, match=f"install the Debian package {kind.package}"):
        kind([zones("unsigned")], ServerSettings(), tmp_path / "server").start()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_end_of_dnsrig_ends_the_server(kind: type[Server], number: signal.Signals, zones, tmp_path: Path) -> None:
    argv = [sys.executable, START_SERVER, kind.name, zones("nsec").path, tmp_path / "server", "0"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as helper:
        told = json.loads(helper.stdout.readline())
        assert told.get("pids"), told
        assert all(processes.is_live(pid) for pid in told["pids"])
        helper.send_signal(number)
        helper.wait()
    wait_until(lambda: nothing_left(told["pids"], told["port"]), "the end of all processes")


def test_port_without_permission(kind: type[Server], zones, tmp_path: Path) -> None:
    first_unprivileged = int(Path("/proc/sys/net/ipv4/ip_unprivileged_port_start").read_text())
    if first_unprivileged <= 53:
        pytest.skip("any user may use port 53 on this machine (net.ipv4.ip_unprivileged_port_start)")
    argv = [sys.executable, START_SERVER, kind.name, zones("nsec").path, tmp_path / "server", "53"]
    if os.getuid() == 0:
        argv = ["setpriv", "--bounding-set", "-net_bind_service", *argv]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    told = json.loads(done.stdout)
    assert told["exit_code"] == 3
    assert "not permitted" in told["error"]
    assert "the server said:" in told["error"]


def test_iteration_limit_of_powerdns_is_said(zones, tmp_path: Path) -> None:
    from dnsrig.servers.powerdns import PowerDns

    if PowerDns.find() is None:
        pytest.skip(f"install the Debian package {PowerDns.package}")
    settings = ServerSettings(raise_limits=False)
    with pytest.raises(SubjectFailedError, match="above 'max-nsec3-iterations'"):
        PowerDns([zones.iterated(101)], settings, tmp_path / "over").start()
    with PowerDns([zones.iterated(100)], settings, tmp_path / "at") as server:
        assert ask(server.address, "www.example.", "A").answer


def test_find_gives_a_version(kind: type[Server]) -> None:
    found = kind.find()
    assert isinstance(found, Installation)
    assert found.version[0].isdigit()
    assert found.path.exists()


def test_starting_twice_is_refused(zones, tmp_path: Path, kind: type[Server]) -> None:
    with (
        kind([zones("unsigned")], ServerSettings(), tmp_path / "server") as server,
        pytest.raises(RuntimeError),
    ):
        server.start()
