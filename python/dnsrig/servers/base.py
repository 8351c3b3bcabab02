"""What all drivers share: the life of a server from its configuration to its end."""

import signal
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Self

from dnsrig.errors import EnvironmentLacksError, InputError, SubjectFailedError
from dnsrig.hosts.local import LocalHost, LocalProcess
from dnsrig.servers import ports, programs, rendering
from dnsrig.servers.programs import Installation
from dnsrig.servers.readiness import serial_in_file
from dnsrig.servers.settings import ServedZone, ServerSettings
from dnsrig.servers.startup import LogSigns, PortRefusedError, Watch, command_failure, port_reason, retry_port
from dnsrig.servers.transports import DOH_PATH, ENCRYPTED_TRANSPORTS, LABELS, EncryptedTransport, in_order

__all__ = ["Installation", "ServedZone", "Server", "ServerSettings"]

PORT_ATTEMPTS = 5
"""How often a server is started again with another free port when something else took its port meanwhile."""
BASE_DEADLINE_S = 15.0
BYTES_PER_SECOND = 1_000_000
"""Rate at which even the slowest of the servers, on a busy machine, reads zone files."""


class Server(ABC):
    """A driver: one instance of one kind of server, in a folder of its own.

    Everything that the instance writes stays in its folder, which is also its working directory. Use it as a
    context manager, or call `start` and `stop`.
    """

    name: ClassVar[str]
    """The driver's name, as in `--server`."""
    title: ClassVar[str]
    """The server's name for readers, with its program."""
    package: ClassVar[str]
    """Debian packages that it needs; empty if it comes with dnsrig."""
    program: ClassVar[str]
    signs: ClassVar[LogSigns]
    files: ClassVar[Mapping[str, str]]
    """Names of its configuration files, with the template of each."""
    logs_queries: ClassVar[bool]
    """Whether it can log queries as text."""
    iteration_limit: ClassVar[str]
    """What the server does with many NSEC3 iterations (RFC 5155 section 10.3), in words."""
    measured_by_default: ClassVar[bool] = True
    """Whether a study of authoritative servers measures it when the user names no servers."""

    def __init__(self, zones: Sequence[ServedZone], settings: ServerSettings, folder: Path) -> None:
        if not zones:
            raise InputError("a server needs at least one zone to serve")
        if settings.log_queries and not self.logs_queries:
            raise InputError(f"{self.title} cannot log queries as text: leave query logging off")
        self.zones = tuple(zones)
        self.settings = settings
        self.folder = folder.absolute()
        self._port = settings.port
        self._encrypted_ports = self._wanted_ports()
        self._process: LocalProcess | None = None
        self._installation: Installation | None = None

    @classmethod
    @abstractmethod
    def find(cls) -> Installation | None:
        """Find the server on this machine; None if it, or a part that it needs, is not installed."""

    @classmethod
    @abstractmethod
    def lacking(cls, installation: Installation) -> Mapping[EncryptedTransport, str]:
        """Map each encrypted transport that this installation cannot serve to the reason, a clause of a sentence."""

    @classmethod
    def encrypted_transports(cls, installation: Installation) -> frozenset[EncryptedTransport]:
        """Give the encrypted transports that this installation can serve."""
        return frozenset(ENCRYPTED_TRANSPORTS) - cls.lacking(installation).keys()

    @abstractmethod
    def remarks(self) -> list[str]:
        """List, a sentence each, what is set apart from how the distribution ships the server."""

    @abstractmethod
    def _command(self) -> list[str]:
        """Give the program and arguments that run the server in the foreground, in its folder."""

    @abstractmethod
    def _checker(self) -> list[str]:
        """Give the program and arguments that check the configuration, in the server's folder."""

    def _prepare(self) -> None:  # noqa: B027 (most servers need nothing)
        """Do what must be done after the configuration is written and before the server starts."""

    def _examine(self, watch: Watch) -> None:  # noqa: B027 (most servers need nothing)
        """Look for faults in the zones that the running server has not said by itself."""

    def _request_reload(self) -> None:
        """Tell the running server to read its zone files again."""
        self._running().signal(signal.SIGHUP)

    def render(self) -> dict[str, str]:
        """Give the text of each configuration file by its name; depends on nothing but this object."""
        values = self._values()
        return {name: rendering.render(template, values) for name, template in self.files.items()}

    def _values(self) -> dict[str, Any]:
        settings = self.settings
        return {
            "address": settings.address,
            "address_is_ipv6": ":" in settings.address,
            "port": self._port,
            "encrypted": self._encrypted_ports,
            "certificate": settings.certificate,
            "doh_path": DOH_PATH,
            "threads": settings.threads,
            "answers": settings.answers,
            "log_queries": settings.log_queries,
            "answer_cache": settings.answer_cache,
            "raise_limits": settings.raise_limits,
            "tcp_clients": settings.tcp_clients,
            "zones": self.zones,
        }

    @property
    def installation(self) -> Installation:
        """The server on this machine.

        Raises:
            EnvironmentLacksError: it is not installed.

        """
        if self._installation is None:
            self._installation = self.find()
        if self._installation is None:
            raise EnvironmentLacksError(f"{self.title} is not installed: install the Debian package {self.package}")
        return self._installation

    @property
    def version(self) -> str:
        """The server's version, as the program says."""
        return self.installation.version

    @property
    def address(self) -> tuple[str, int]:
        """Address and port of the server; the port is known once it has been started or checked."""
        return self.settings.address, self._port

    def endpoints(self) -> dict[str, tuple[str, int]]:
        """Map "udp", "tcp" and each encrypted transport to its address and port, known as that of `address` is."""
        endpoints = {"udp": self.address, "tcp": self.address}
        for transport, port in self._encrypted_ports.items():
            endpoints[transport] = (self.settings.address, port)
        return endpoints

    @property
    def log(self) -> Path:
        """The file with all that the server wrote to standard output and standard error."""
        return self.folder / f"{self.name}.log"

    def check(self) -> None:
        """Write the configuration into the folder and have the server's own checker judge it.

        Raises:
            SubjectFailedError: the checker found fault; the message holds what it said.
            InputError: an encrypted transport is asked for that the server does not have.
            EnvironmentLacksError: the checker or the server is not installed.

        """
        lacking = self.lacking(self.installation)
        for transport in self._encrypted_ports:
            if transport in lacking:
                raise InputError(f"{self._versioned_title()} cannot serve {LABELS[transport]}: {lacking[transport]}")
        self._choose_ports()
        self._write()
        argv = self._checker()
        if programs.find_program(argv[0]) is None:
            raise EnvironmentLacksError(f"{argv[0]} is not installed: install the Debian package {self.package}")
        status, said = self._helper(argv)
        if status != 0:
            raise command_failure(self._versioned_title(), argv, said)

    def start(self) -> None:
        """Start the server and return when it answers for every zone, over each transport.

        Raises:
            InputError: a zone file cannot be read, or a setting is not for this server.
            EnvironmentLacksError: the server is not installed, or a port cannot be had.
            SubjectFailedError: the server ended, refused a zone or did not serve in time. The message holds
                its own lines and its command.

        """
        if self._process is not None:
            raise RuntimeError(f"{self.title} is already running in {self.folder}")
        for zone in self.zones:
            _check_readable(zone.path, f"the zone file {zone.path} of {zone.origin}")
        if self.settings.encrypted and (certificate := self.settings.certificate):
            _check_readable(certificate.chain, f"the certificate {certificate.chain}")
            _check_readable(certificate.key, f"the certificate's key {certificate.key}")
        retry_port(PORT_ATTEMPTS if self.settings.port == 0 else 1, self._start_once)

    def _start_once(self) -> None:
        self._port = self.settings.port
        self._encrypted_ports = self._wanted_ports()
        self.check()
        state = ports.port_state(*self.address)
        if state is ports.PortState.SHARED:
            raise PortRefusedError(f"{self._versioned_title()}: {port_reason(*self.address, state)}")
        self._check_encrypted_ports()
        self._prepare()
        log_start = self.log.stat().st_size if self.log.exists() else 0
        process = LocalHost().spawn(
            self._command(),
            folder=self.folder,
            log=self.log,
            cpus=self.settings.cpus,
            env=programs.clean_environment(),
        )
        try:
            watch = self._watch(process, log_start)
            if state is not ports.PortState.FREE:
                watch.refuse_port(state)
            watch.wait_serving(
                [zone.origin for zone in self.zones],
                lambda _, answer: answer.serial is not None,
                deadline_s=self._deadline_s(),
            )
            self._examine(watch)
            process.keep_to_cpus()
        except BaseException:
            process.stop()
            raise
        self._process = process

    def check_running(self) -> None:
        """See that the started server still runs.

        Raises:
            SubjectFailedError: it ended by itself; the message holds how, and its last lines.

        """
        process = self._running()
        if not process.alive():
            code = process.returncode
            how = f"by signal {-code}" if code is not None and code < 0 else f"with exit code {code}"
            raise SubjectFailedError(
                f"{self._versioned_title()} ended by itself {how}; {self.log} ends:\n{process.log_tail()}"
            )

    def stop(self) -> None:
        """End the server and all its processes; does nothing if it does not run."""
        process, self._process = self._process, None
        if process is not None:
            process.stop()

    def reload(self) -> None:
        """Have the server read its zone files again; return when it serves the SOA serials that they hold.

        A zone whose serial did not change counts as served at once.

        Raises:
            InputError: a zone file has no SOA record to be read.
            SubjectFailedError: the server refused a zone or did not serve it in time.

        """
        process = self._running()
        wanted = {zone.origin: _serial(zone) for zone in self.zones}
        watch = self._watch(process, self.log.stat().st_size)
        self._request_reload()
        watch.wait_serving(
            wanted,
            lambda origin, answer: answer.serial == wanted[origin],
            deadline_s=self._deadline_s(),
            agreeing=4 * self.settings.threads,
        )
        self._examine(watch)

    def pids(self) -> list[int]:
        """List the pids of all the server's processes; empty when it does not run."""
        return self._process.pids() if self._process is not None else []

    def pids_by_part(self) -> dict[str, list[int]]:
        """Divide `pids` among the programs that the server is made of, by their drivers' names."""
        return {self.name: self.pids()}

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _running(self) -> LocalProcess:
        if self._process is None:
            raise RuntimeError(f"{self.title} is not running")
        return self._process

    def _watch(self, process: LocalProcess, log_start: int) -> Watch:
        return Watch(process, self._versioned_title(), self.endpoints(), self.signs, log_start)

    def _versioned_title(self) -> str:
        return f"{self.title} {self.version}"

    def _wanted_ports(self) -> dict[EncryptedTransport, int]:
        wanted = self.settings.encrypted_ports
        return {transport: wanted.get(transport, 0) for transport in in_order(self.settings.encrypted)}

    def _choose_ports(self) -> None:
        """Find a free port for each 0; no two are the same."""
        if self._port == 0:
            self._port = self._free_port()
        for transport, port in self._encrypted_ports.items():
            if port == 0:
                self._encrypted_ports[transport] = self._free_port()

    def _free_port(self) -> int:
        own = {self._port, *self._encrypted_ports.values()}
        while (port := ports.find_free_port(self.settings.address)) in own:
            pass
        return port

    def _check_encrypted_ports(self) -> None:
        for address, port in dict.fromkeys(self.endpoints().values()):
            state = ports.port_state(address, port)
            if port != self._port and state is not ports.PortState.FREE:
                raise PortRefusedError(f"{self._versioned_title()}: {port_reason(address, port, state)}")

    def _write(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            for name, text in self.render().items():
                (self.folder / name).write_text(text, encoding="utf-8")
        except OSError as error:
            raise EnvironmentLacksError(f"the configuration of {self.title} cannot be written: {error}") from error

    def _helper(self, argv: Sequence[str], timeout_s: float = programs.HELPER_TIMEOUT_S) -> tuple[int, str]:
        path = programs.find_program(argv[0])
        try:
            return programs.run_helper([str(path or argv[0]), *argv[1:]], self.folder, timeout_s)
        except subprocess.TimeoutExpired:
            raise command_failure(self._versioned_title(), argv, f"it did not end within {timeout_s:.0f} s") from None

    def _deadline_s(self) -> float:
        if self.settings.ready_deadline_s is not None:
            return self.settings.ready_deadline_s
        return BASE_DEADLINE_S + sum(zone.path.stat().st_size for zone in self.zones) / BYTES_PER_SECOND


def _check_readable(path: Path, what: str) -> None:
    try:
        with path.open("rb"):
            pass
    except OSError as error:
        raise InputError(f"{what} cannot be read: {error.strerror}") from error


def _serial(zone: ServedZone) -> int:
    serial = serial_in_file(zone.path, zone.origin)
    if serial is None:
        raise InputError(f"the zone file {zone.path} of {zone.origin} has no SOA record that can be read")
    return serial
