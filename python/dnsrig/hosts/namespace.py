"""A network namespace as a host: addresses, links and rules of its own, and no way out but the links it is given.

A namespace is not registered with `ip netns`: a descriptor in this process keeps it (see network/kernel.py), so there
is nothing that could be left behind when dnsrig is interrupted or killed. To look into one while dnsrig runs, see
`Namespace.look_inside`.
"""

import itertools
import os
import re
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from dnsrig.errors import EnvironmentLacksError
from dnsrig.hosts.connections import forget_connections
from dnsrig.hosts.local import LocalHost, LocalProcess
from dnsrig.hosts.network import kernel

COMMAND_S = 30.0
"""How long `ip` or `nft` may take."""
FLUSH, FLUSH_LINES = "flush ruleset\n", 1
"""What stands before the rules that are set."""
STDIN_LINE = re.compile(r"/dev/stdin:(\d+):")
"""How nft names a line of what it was given."""
PACKAGES = {"ip": "iproute2", "nft": "nftables"}
SBIN = ("/usr/sbin", "/sbin")
QUIET_IPV6 = {"accept_dad": "0", "dad_transmits": "0", "accept_ra": "0", "autoconf": "0", "router_solicitations": "0"}
"""Settings for every device: addresses work at once (RFC 4862 section 5.4 would take a second), no one is asked."""
NO_SOURCE_CHECK = {"rp_filter": "0"}
"""A namespace inherits reverse path filtering (RFC 3704) from the machine; here paths may be asymmetric."""

ADDRESS_S = 5.0
"""How long the kernel may take until an address is usable; IPv6 addresses get their route a moment later."""
ADDRESS_POLL_S = 0.001

Result = TypeVar("Result")
_numbers = itertools.count(1)


class ProgramFailedError(EnvironmentLacksError):
    """A program that was run in a namespace failed; `said` is what it wrote about that."""

    def __init__(self, message: str, said: str) -> None:
        super().__init__(message)
        self.said = said


class Namespace:
    """A network namespace. Use it as a context manager, or call `close`.

    It begins with its loopback device up, and without any route. Closing it ends the programs that were started in it.
    """

    def __init__(self, role: str = "host") -> None:
        """Make it.

        Args:
            role: a word for messages, such as "client".

        Raises:
            EnvironmentLacksError: namespaces cannot be made, or `ip` is not installed.

        """
        self.name = f"{role} (dnsrig-{os.getpid()}-{next(_numbers)})"
        self._processes: list[LocalProcess] = []
        self._descriptor = kernel.make_namespace()
        try:
            self.run_ip("link", "set", "lo", "up")
            for settings, family in ((NO_SOURCE_CHECK, "ipv4"), (QUIET_IPV6, "ipv6")):
                if family == "ipv4" or self.has_ipv6:
                    for setting, value in settings.items():
                        for device in ("all", "default"):
                            self.set_kernel(f"net/{family}/conf/{device}/{setting}", value)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End what runs in it and give it up; the kernel removes it, its links with it. Does nothing a second time."""
        try:
            for process in reversed(self._processes):
                process.stop()
        finally:
            self._processes.clear()
            descriptor, self._descriptor = self._descriptor, -1
            if descriptor >= 0:
                os.close(descriptor)

    @property
    def descriptor(self) -> int:
        """The descriptor that keeps the namespace.

        Raises:
            RuntimeError: it has been closed.

        """
        if self._descriptor < 0:
            raise RuntimeError(f"the namespace {self.name} has been closed")
        return self._descriptor

    @property
    def path(self) -> str:
        """Its path for a program that was started with `descriptor` handed down."""
        return f"/proc/self/fd/{self.descriptor}"

    def look_inside(self) -> str:
        """Give the command that opens a shell in the namespace while this process runs, for a person (as root)."""
        return f"nsenter --net=/proc/{os.getpid()}/fd/{self.descriptor}"

    @property
    def has_ipv6(self) -> bool:
        """Whether the kernel has IPv6."""
        return Path("/proc/sys/net/ipv6").is_dir()

    def call(self, function: Callable[[], Result], discard: Callable[[Result], object] | None = None) -> Result:
        """Run a function in a thread that is in the namespace (see `Host.call`)."""
        descriptor = self.descriptor
        outcome: Future[Result] = Future()
        try:
            return kernel.call(descriptor, function, outcome)
        except BaseException:
            if discard is not None and not (outcome.done() and outcome.exception() is not None):
                outcome.add_done_callback(lambda done: discard(done.result()) if done.exception() is None else None)
            raise

    def make_socket(self, family: socket.AddressFamily, kind: socket.SocketKind) -> socket.socket:
        """Give a socket of the namespace to this process; the socket keeps the namespace alive."""
        # Items make a socket for each query: starting a thread for it costs more than all else of a query.
        return kernel.inside(self.descriptor, lambda: socket.socket(family, kind))

    def spawn(
        self,
        argv: Sequence[str],
        *,
        folder: Path,
        log: Path,
        cpus: frozenset[int] | None,
        env: Mapping[str, str] | None = None,
    ) -> LocalProcess:
        """Start a program in the namespace as `LocalHost.spawn` does on this machine; `close` ends it at the latest."""
        process = self.call(
            lambda: LocalHost().spawn(argv, folder=folder, log=log, cpus=cpus, env=env),
            discard=LocalProcess.stop,
        )
        self._processes.append(process)
        return process

    def run(self, argv: Sequence[str], given: str = "", handed_down: Sequence[int] = ()) -> str:
        """Run a program in the namespace to its end; give what it wrote to standard output.

        Args:
            argv: the program and its arguments.
            given: its standard input.
            handed_down: descriptors that it inherits.

        Raises:
            ProgramFailedError: it failed; the message holds what it said.
            EnvironmentLacksError: it is not installed, or did not end in time.

        """
        path = os.pathsep.join((os.environ.get("PATH", os.defpath), *SBIN))

        def start() -> "subprocess.CompletedProcess[str]":
            return subprocess.run(
                argv,
                input=given,
                capture_output=True,
                text=True,
                timeout=COMMAND_S,
                check=False,
                pass_fds=tuple(handed_down),
                env=os.environ | {"PATH": path, "LC_ALL": "C.UTF-8"},
            )

        try:
            done = self.call(start)
        except FileNotFoundError:
            package = PACKAGES.get(argv[0])
            install = f": install the Debian package {package}" if package else ""
            raise EnvironmentLacksError(f"the program {argv[0]} is not installed{install}") from None
        except subprocess.TimeoutExpired:
            raise EnvironmentLacksError(f"{' '.join(argv)} did not end within {COMMAND_S:.0f} s") from None
        if done.returncode != 0:
            said = (done.stderr.strip() or done.stdout.strip()) or f"exit status {done.returncode}"
            raise ProgramFailedError(f"in the namespace {self.name}, {' '.join(argv)} failed: {said}", said)
        return done.stdout

    def run_ip(self, *arguments: str, handed_down: Sequence[int] = ()) -> str:
        """Run iproute2's program ip in the namespace; give what it wrote."""
        return self.run(["ip", *arguments], handed_down=handed_down)

    def run_ip_batch(self, family: str, commands: Sequence[str]) -> None:
        """Run many commands of `ip`, without its name, in one process; `family` is -4 or -6.

        Raises:
            ProgramFailedError: one failed; those before it have been done.

        """
        self.run(["ip", family, "-batch", "-"], given="".join(f"{command}\n" for command in commands))

    def set_kernel(self, name: str, value: str) -> None:
        """Set one of the namespace's sysctl(8) values, given as its path below /proc/sys."""
        path = Path("/proc/sys") / name
        try:
            self.call(lambda: path.write_text(value))
        except OSError as error:
            raise EnvironmentLacksError(f"{path} of {self.name} cannot be set to {value}: {error.strerror}") from error

    def add_addresses(self, addresses: Sequence[str], device: str = "lo") -> None:
        """Give a device that is up IPv4 and IPv6 addresses, each with or without prefix length; usable on return."""
        for address in addresses:
            self.run_ip("address", "add", address, "dev", device, *(["nodad"] if ":" in address else []))
        self.call(lambda: _wait_usable([address.partition("/")[0] for address in addresses]))

    def add_route(self, destination: str, via: str) -> None:
        """Send what goes to a prefix, or "default", to a neighbour; IPv6 if its address is that."""
        self.run_ip("-6" if ":" in via else "-4", "route", "add", destination, "via", via)

    def forward(self) -> None:
        """Make it a router: hand on packets that are not its own, IPv4 and IPv6."""
        self.set_kernel("net/ipv4/ip_forward", "1")
        if self.has_ipv6:
            self.set_kernel("net/ipv6/conf/all/forwarding", "1")

    def add_bridge(self, name: str, devices: Sequence[str]) -> None:
        """Join devices by an Ethernet bridge."""
        self.run_ip("link", "add", name, "type", "bridge")
        for device in devices:
            self.run_ip("link", "set", device, "master", name)
        self.run_ip("link", "set", name, "up")

    def set_mtu(self, device: str, mtu: int) -> None:
        """Set the largest packet, in octets, that a device sends; the other end of its link has an MTU of its own."""
        self.run_ip("link", "set", device, "mtu", str(mtu))

    def set_rules(self, rules: str, source: str = "rules") -> None:
        """Replace all nftables rules of the namespace by those of a nft(8) script; an empty one has none.

        `source` is what messages call the script: a file's path.

        They hold for what is under way as well: a translation of addresses is remembered for minutes otherwise, and
        given to whoever comes from the same port.

        Raises:
            ProgramFailedError: `nft` or the kernel refuses the rules; `said` names the source and its lines.
            EnvironmentLacksError: `nft` is not installed.

        """
        try:
            # One script: the old rules go and the new ones come at once.
            self.run(["nft", "-f", "-"], given=f"{FLUSH}{rules}")
        except ProgramFailedError as error:
            said = STDIN_LINE.sub(lambda found: f"{source}:{int(found[1]) - FLUSH_LINES}:", error.said)
            raise ProgramFailedError(f"in the namespace {self.name}, nft refuses {said}", said) from None
        self.call(forget_connections)


def _wait_usable(addresses: Sequence[str]) -> None:
    """Wait, in the thread's namespace, until addresses of its own can be sent to."""
    deadline = time.monotonic() + ADDRESS_S
    for address in addresses:
        while (reason := _why_unusable(address)) is not None:
            if time.monotonic() > deadline:
                raise EnvironmentLacksError(f"the address {address} is not usable after {ADDRESS_S:.0f} s: {reason}")
            time.sleep(ADDRESS_POLL_S)


def _why_unusable(address: str) -> str | None:
    """Say why a datagram that an address sends to itself does not come; it may leave before the way back is there."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.settimeout(ADDRESS_POLL_S)
        try:
            probe.bind((address, 0))
            probe.connect(probe.getsockname())
            probe.send(b"?")
            probe.recv(1)
        except OSError as error:
            return error.strerror or str(error)
    return None
