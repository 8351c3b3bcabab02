"""CZ.NIC's Knot Resolver."""

import re
import shutil
import socket
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, ClassVar, Literal

from dnsrig.errors import InputError, SubjectFailedError
from dnsrig.hosts.host import Host
from dnsrig.hosts.local import LocalProcess
from dnsrig.servers import ports, programs, rendering
from dnsrig.servers.ports import PortState
from dnsrig.servers.programs import Installation
from dnsrig.servers.resolvers.base import CONTROL_ADDRESS, Resolver
from dnsrig.servers.resolvers.counts import KNOT_QUESTION, ResolverCounts, read_knot, together
from dnsrig.servers.resolvers.settings import SMALLEST_MEMORY_OCTETS, ResolverSettings
from dnsrig.servers.startup import LogSigns, Watch
from dnsrig.servers.transports import EncryptedTransport

CACHE = "cache"
CACHE_OCTETS = 100 << 20
"""Its cache's size as it ships."""
TEMPLATE = "kresd.conf.j2"
CONTROL_S = 10.0
PROMPT = b"> "


class KnotResolver(Resolver):
    """Knot Resolver (kresd), of 5.6 or later; a process has one thread.

    More threads are more processes, as Debian's kresd@1, kresd@2 ... are: they listen on the same addresses, the kernel
    divides what clients send among them (SO_REUSEPORT), and they share one cache.
    """

    name = "knot-resolver"
    role: ClassVar[Literal["resolver", "proxy"]] = "resolver"
    title = "Knot Resolver (kresd)"
    package = "knot-resolver"
    can_limit_udp = True
    program = "kresd"
    can_manage_anchors = True
    files: ClassVar[Mapping[str, str]] = {"kresd.conf": TEMPLATE}
    signs = LogSigns(
        port_refused=re.compile(r"bind to \S+ .*|error occurred here.*net\.listen|Address already in use"),
        zone_refused=re.compile(r"(?!)"),
        complaint=re.compile(r"[Ee]rror|ERROR|failed"),
    )

    def __init__(self, settings: ResolverSettings, folder: Path, host: Host | None = None) -> None:
        """Make the driver, as `Resolver` does."""
        super().__init__(settings, folder, host)
        self._further: list[LocalProcess] = []
        """Its processes but the first, in the order of `_further_ports`."""
        self._further_ports = [0] * (settings.threads - 1)
        """Where they take commands."""

    @classmethod
    def find(cls) -> Installation | None:
        """Find kresd; `kresd --version` says "Knot Resolver, version 5.6.0"."""
        return programs.installation(cls.program, "--version", re.compile(r"Knot Resolver, version (\S+)"))

    @classmethod
    def lacking(cls, installation: Installation) -> Mapping[EncryptedTransport, str]:
        """Knot Resolver has DoT, and DoH in the process itself since 5.3."""
        return {"doq": f"{cls.title} {installation.version} has no DNS over QUIC"}

    def _refuse_unfit_settings(self) -> None:
        super()._refuse_unfit_settings()
        settings = self.settings
        if settings.threads > 1 and settings.managed:
            raise InputError(f"{self.title} keeps trust anchors up to date (RFC 5011) in one process only: one thread")
        if settings.memory_octets is not None and self._part(settings.memory_octets) < SMALLEST_MEMORY_OCTETS:
            raise InputError(
                f"{settings.threads} processes of {self.title} cannot start with {settings.memory_octets} octets of "
                "memory together"
            )

    def _part(self, octets: int) -> int:
        """Give a process's part of something."""
        return octets // self.settings.threads

    @property
    def _is_controlled(self) -> bool:
        """Whether it takes commands: also to be asked whether its further processes are there."""
        return super()._is_controlled or self.settings.threads > 1

    def _choose_ports(self) -> None:
        super()._choose_ports()
        taken = {self._port, self._control_port, *self.settings.encrypted_ports.values()}
        self._further_ports = []
        while len(self._further_ports) < self.settings.threads - 1:
            port = self.host.call(lambda: ports.find_free_port(CONTROL_ADDRESS))
            if port not in taken:
                taken.add(port)
                self._further_ports.append(port)

    def render(self) -> dict[str, str]:
        """Give the configuration of each process, the root hints, and a file of trust anchors for each zone."""
        further = {
            _configuration(number): rendering.render(f"resolvers/{TEMPLATE}", self._values() | {"control_port": port})
            for number, port in self._numbered()
        }
        return super().render() | further | self._anchor_files()

    def _numbered(self) -> list[tuple[int, int]]:
        """Give the number of each process but the first, and where it takes commands."""
        return list(enumerate(self._further_ports, 2))

    def _kept_files(self) -> frozenset[str]:
        """Knot Resolver writes the states of managed keys into the file of trust anchors."""
        return frozenset(self._anchor_files() if self._managed else ())

    def _prepare(self) -> None:
        """Begin with an empty cache, as the others do: Knot Resolver's is in files, and would be found again."""
        shutil.rmtree(self.folder / CACHE, ignore_errors=True)

    def _values(self) -> dict[str, Any]:
        return super()._values() | {"cache_folder": CACHE, "controlled": self._is_controlled}

    def _environment(self) -> dict[str, str]:
        """Keep it from opening a control socket, whose path may be too long."""
        return super()._environment() | {"KRESD_NO_LISTEN": "1"}

    def _command(self) -> list[str]:
        return self._command_of(1)

    def _command_of(self, number: int) -> list[str]:
        verbose = ["-v"] if self.settings.verbose else []
        return [str(self.installation.path), "-n", *verbose, "-c", _configuration(number), "."]

    def _checker(self) -> list[str]:
        """Give nothing: kresd says what is wrong with its configuration when it starts."""
        return []

    def _launch(
        self,
        state: PortState,
        cpus: frozenset[int] | None,
        environment: Mapping[str, str],
        memory_octets: int | None = None,
    ) -> None:
        """Start the first process, and when it serves the others; they have equal parts of the memory."""
        part = None if memory_octets is None else self._part(memory_octets)
        try:
            super()._launch(state, cpus, environment, part)
            for number, port in self._numbered():
                self._launch_further(number, port, cpus, environment, part)
        except BaseException:
            self.stop()
            raise

    def _launch_further(
        self,
        number: int,
        port: int,
        cpus: frozenset[int] | None,
        environment: Mapping[str, str],
        memory_octets: int | None,
    ) -> None:
        log = self.folder / f"{self.name}-{number}.log"
        log_start = log.stat().st_size if log.exists() else 0
        process = self.host.spawn(self._command_of(number), folder=self.folder, log=log, cpus=cpus, env=environment)
        self._further.append(process)
        if memory_octets is not None:
            process.limit_memory(memory_octets)
        title = f"process {number} of {self._versioned_title()}"
        endpoints = {"udp": self.address, "tcp": (CONTROL_ADDRESS, port)}
        watch = Watch(process, title, endpoints, self.signs, log_start)
        self.host.call(
            lambda: watch.wait_until(
                lambda: _takes_commands(port), f"it takes commands at port {port}", deadline_s=self._deadline_s
            )
        )
        process.keep_to_cpus()

    def stop(self) -> None:
        """End all its processes; does nothing if it does not run."""
        further, self._further = self._further, []
        with ExitStack() as stack:
            stack.callback(super().stop)
            for process in further:
                stack.callback(process.stop)

    def check_running(self) -> None:
        """See that all its processes still run; raises as `DrivenServer` does."""
        super().check_running()
        self._check_further()

    def check_survived(self) -> None:
        """See that none of its processes ended by itself; raises as `DrivenServer` does."""
        super().check_survived()
        self._check_further()

    def _check_further(self) -> None:
        for process in tuple(self._further):
            if not process.alive() and process in self._further:
                raise self._ended(process)

    def pids(self) -> list[int]:
        """List the pids of all its processes, those of the first before the others."""
        return [*super().pids(), *(pid for process in tuple(self._further) for pid in process.pids())]

    def _read_counts(self) -> ResolverCounts:
        return together([read_knot(said) for said in self._ask_all(KNOT_QUESTION)])

    def _flush_cache(self) -> None:
        # The cache is one, but each process has it open.
        self._ask_all("cache.clear()")

    def _ask_all(self, command: str) -> list[str]:
        every = [self._control_port, *self._further_ports]
        return self.host.call(lambda: [self._ask_channel(command, port) for port in every])

    def _ask_channel(self, command: str, port: int) -> str:
        try:
            return _told(command, port)
        except OSError as error:
            raise SubjectFailedError(
                f"{self._versioned_title()} does not take the command {command}: {error}"
            ) from error

    def _own_remarks(self) -> list[str]:
        managed = self._managed
        processes = self.settings.threads
        said = [
            "one process; as shipped one too (kresd@1)"
            if processes == 1
            else f"{processes} processes, of one thread each, with one cache; as shipped one (kresd@1)",
            ", ".join(
                (
                    "control channel on the loopback device" if self._is_controlled else "no control socket",
                    "as shipped with DoT" if self.settings.encrypted_ports else "no DoT",
                )
            )
            + "; log to a file by standard error",
            f"cache of {(self.settings.cache_octets or CACHE_OCTETS) / 2**20:g} MiB in its folder, empty at each start "
            "(as shipped, it stays)",
        ]
        if processes > 1:
            said += _remarks_of_several(bool(self.settings.encrypted_ports), self.settings.memory_octets is not None)
        if managed:
            said.append(
                f"RFC 5011 with a hold-down time of {managed.hold_down_s} s (ta_update.hold_down_time; by default 30 "
                f"days), probing every {managed.probe_s} s (ta_update.refresh_time); Debian ships fixed anchors"
            )
        elif self.validates:
            said.append("trust anchors fixed, as Debian ships it")
        return said


def _configuration(number: int) -> str:
    """Name the configuration file of a process, which are numbered from 1."""
    return "kresd.conf" if number == 1 else f"kresd-{number}.conf"


def _remarks_of_several(is_encrypted: bool, is_limited: bool) -> list[str]:
    """Say what several processes do to figures."""
    said = ["memory is the sum of its processes': what of the cache's file several have mapped counts in each"]
    if is_limited:
        said.append("the limit of memory is divided among its processes")
    if is_encrypted:
        said.append("a TLS session can be resumed only with the process that it began with (net.tls_sticket_secret)")
    return said


def _takes_commands(port: int) -> bool:
    try:
        return PROMPT.decode() in _told("worker.pid", port)
    except OSError:
        return False


def _told(command: str, port: int) -> str:
    """Give a command to a control channel, which prompts with "> " before each answer and after it."""
    said = b""
    with socket.create_connection((CONTROL_ADDRESS, port), CONTROL_S) as channel:
        channel.sendall(f"{command}\n".encode())
        while said.count(PROMPT) < 2:
            part = channel.recv(65_536)
            if not part:
                break
            said += part
    return said.decode(errors="replace")
