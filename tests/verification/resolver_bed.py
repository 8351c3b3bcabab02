"""A namespace with the tree and a real resolver in it, for tests that run as root."""

import ctypes
import os
import secrets
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import dns.name
import pytest
from dns.rdatatype import RdataType
from dnsrig.verification.asker import Asker
from dnsrig.verification.exchange import Endpoint
from dnsrig.verification.queries import Query
from dnsrig.verification.tree.making import Tree

CLONE_NEWNET = 0x40000000
RESOLVER = Endpoint("127.0.0.1")
READY_S = 30.0
UNBOUND = """
server:
    directory: "{folder}"
    chroot: ""
    username: ""
    pidfile: ""
    use-syslog: no
    logfile: "{folder}/log"
    verbosity: 1
    val-log-level: 2
    interface: 127.0.0.1
    do-ip6: no
    do-not-query-localhost: no
    root-hints: "{folder}/root.hints"
    trust-anchor-file: "{folder}/anchor.ds"
    num-threads: 1
    infra-host-ttl: 5
    ede: yes
remote-control:
    control-enable: no
"""
NAMED = """
options {{
    directory "{folder}";
    pid-file none;
    session-keyfile none;
    listen-on {{ 127.0.0.1; }};
    listen-on-v6 {{ none; }};
    dnssec-validation yes;
    empty-zones-enable no;
    recursion yes;
    allow-query {{ any; }};
}};
controls {{ }};
trust-anchors {{ {anchor} }};
zone "." {{ type hint; file "{folder}/root.hints"; }};
"""


@dataclass(frozen=True)
class Bed:
    """A namespace of its own, with its loopback up."""

    name: str

    def make_socket(self, family: socket.AddressFamily, kind: socket.SocketKind) -> socket.socket:
        """Make a socket in the namespace: a thread goes there for it."""
        made: Future[socket.socket] = Future()

        def make() -> None:
            try:
                with Path("/var/run/netns", self.name).open("rb") as place:
                    failed = ctypes.CDLL(None, use_errno=True).setns(place.fileno(), CLONE_NEWNET)
                made.set_result(socket.socket(family, kind) if not failed else _refused())
            except OSError as error:
                made.set_exception(error)

        thread = threading.Thread(target=make)
        thread.start()
        thread.join()
        return made.result()

    @property
    def asker(self) -> Asker:
        """Ask the resolver; slow machines are given time."""
        return Asker(RESOLVER, make_socket=self.make_socket, udp_waits_s=(8.0, 8.0))


def _refused() -> socket.socket:
    raise OSError(ctypes.get_errno(), "setns")


@contextmanager
def namespace() -> Iterator[Bed]:
    """Make a namespace, or skip."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("network namespaces take root and the package iproute2")
    name = f"dnsrig-{secrets.token_hex(4)}"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True, check=False)
    if made.returncode:
        pytest.skip(f"ip netns add: {made.stderr.strip()}")
    try:
        subprocess.run(["ip", "-n", name, "link", "set", "lo", "up"], check=True)
        yield Bed(name)
    finally:
        subprocess.run(["ip", "netns", "delete", name], check=False)


@contextmanager
def resolver(bed: Bed, server: str, tree: Tree, folder: Path) -> Iterator[str]:
    """Run Unbound or BIND in the namespace, resolving from the tree; gives its version."""
    program = shutil.which({"unbound": "unbound", "bind": "named"}[server], path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None:
        pytest.skip(f"{server} is not installed: apt install {'bind9' if server == 'bind' else server}")
    folder.mkdir(exist_ok=True)
    (folder / "root.hints").write_text(tree.root_hints)
    (folder / "anchor.ds").write_text(tree.trust_anchor_ds)
    words = tree.trust_anchor_ds.split()
    anchor = f'. static-ds {" ".join(words[4:7])} "{"".join(words[7:])}";'
    text = (UNBOUND if server == "unbound" else NAMED).format(folder=folder, anchor=anchor)
    (folder / "configuration").write_text(text)
    options = ["-d", "-c"] if server == "unbound" else ["-g", "-n", "1", "-c"]
    with (folder / "output").open("wb") as output:
        command = ["ip", "netns", "exec", bed.name, program, *options, str(folder / "configuration")]
        process = subprocess.Popen(command, stdout=output, stderr=output)
    try:
        _wait_until_ready(bed, process, folder)
        shown = subprocess.run([program, "-V"], capture_output=True, text=True, check=False).stdout
        yield shown.split()[1]
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_ready(bed: Bed, process: subprocess.Popen[bytes], folder: Path) -> None:
    deadline = time.monotonic() + READY_S
    asker = Asker(RESOLVER, make_socket=bed.make_socket, udp_waits_s=(0.5,))
    query = Query(name=dns.name.root, rtype=RdataType.SOA, rd=True)
    while time.monotonic() < deadline and process.poll() is None:
        if asker.udp(query).message is not None:
            return
    raise AssertionError(f"the resolver did not start: {(folder / 'output').read_text()[-2000:]}")
