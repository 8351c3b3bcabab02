"""What the drivers of authoritative servers share, from configuration to reload."""

import signal
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from dnsrig.errors import InputError
from dnsrig.hosts.host import Host
from dnsrig.hosts.local import LocalProcess
from dnsrig.servers import ports, programs
from dnsrig.servers.driven import BASE_DEADLINE_S, PORT_ATTEMPTS, DrivenServer, check_readable
from dnsrig.servers.programs import Installation
from dnsrig.servers.readiness import serial_in_file
from dnsrig.servers.settings import ServedZone, ServerSettings
from dnsrig.servers.startup import PortRefusedError, Watch, port_reason, retry_port
from dnsrig.servers.transports import DOH_PATH, ENCRYPTED_TRANSPORTS, LABELS, EncryptedTransport, in_order

__all__ = ["Installation", "ServedZone", "Server", "ServerSettings"]

BYTES_PER_SECOND = 1_000_000
"""Rate at which even the slowest of the servers, on a busy machine, reads zone files."""


class Server(DrivenServer):
    """A driver of authoritative servers: see `DrivenServer`."""

    logs_queries: ClassVar[bool]
    """Whether it can log queries as text."""
    iteration_limit: ClassVar[str]
    """What the server does with many NSEC3 iterations (RFC 5155 section 10.3), in words."""
    can_limit_udp: ClassVar[bool] = False
    """Whether `udp_limit` of its settings can be set."""
    transfers_by_key: ClassVar[bool] = False
    """Whether `transfer_key` of its settings can be set."""
    takes_transfers: ClassVar[bool] = False
    """Whether `primary` of its settings can be set."""
    measured_by_default: ClassVar[bool] = True
    """Whether a study of authoritative servers measures it when the user names no servers."""

    def __init__(
        self, zones: Sequence[ServedZone], settings: ServerSettings, folder: Path, host: Host | None = None
    ) -> None:
        """Make the driver; nothing is written or started yet.

        Args:
            zones: what it serves.
            settings: how it runs.
            folder: where everything of it goes.
            host: where it runs; None is this machine.

        """
        super().__init__(folder, host)
        if not zones:
            raise InputError("a server needs at least one zone to serve")
        if settings.log_queries and not self.logs_queries:
            raise InputError(f"{self.title} cannot log queries as text: leave query logging off")
        if settings.transfer_key is not None and not self.transfers_by_key:
            raise InputError(f"{self.title} cannot be given a key for zone transfers: leave it out")
        if settings.primary is not None and not self.takes_transfers:
            raise InputError(f"{self.title} cannot be a secondary: have it read the zones from their files")
        self.zones = tuple(zones)
        self.settings = settings
        self._port = settings.port
        self._encrypted_ports = self._wanted_ports()

    @classmethod
    @abstractmethod
    def lacking(cls, installation: Installation) -> Mapping[EncryptedTransport, str]:
        """Map each encrypted transport that this installation cannot serve to the reason, a clause of a sentence."""

    @classmethod
    def encrypted_transports(cls, installation: Installation) -> frozenset[EncryptedTransport]:
        """Give the encrypted transports that this installation can serve."""
        return frozenset(ENCRYPTED_TRANSPORTS) - cls.lacking(installation).keys()

    def _examine(self, watch: Watch) -> None:
        """Look for faults in the zones that the running server has not said by itself."""

    def _request_reload(self) -> None:
        """Tell the running server to read its zone files again."""
        self._running().signal(signal.SIGHUP)

    def _transfer_remarks(self) -> list[str]:
        """Say, as `remarks` does, what the settings have about zone transfers."""
        said = []
        if self.settings.transfer_key is not None:
            said.append("zone transfers for those that sign with a TSIG key of this run (HMAC-SHA256)")
        if self.settings.primary is not None:
            address, port = self.settings.primary
            said.append(f"a secondary: it takes the zones by AXFR from {address} port {port}, and has no files of them")
        return said

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
            "udp_limit": settings.udp_limit,
            "transfer_key": settings.transfer_key,
            "primary": settings.primary,
            "zones": self.zones,
        }

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
        self.host.call(self._choose_ports)
        self._write()
        self._run_checker()

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
            check_readable(zone.path, f"the zone file {zone.path} of {zone.origin}")
        if self.settings.encrypted and (certificate := self.settings.certificate):
            check_readable(certificate.chain, f"the certificate {certificate.chain}")
            check_readable(certificate.key, f"the certificate's key {certificate.key}")
        retry_port(PORT_ATTEMPTS if self.settings.port == 0 else 1, self._start_once)

    def _start_once(self) -> None:
        self._port = self.settings.port
        self._encrypted_ports = self._wanted_ports()
        self.check()
        state = self.host.call(lambda: ports.port_state(*self.address))
        if state is ports.PortState.SHARED:
            raise PortRefusedError(f"{self._versioned_title()}: {port_reason(*self.address, state)}")
        self.host.call(self._check_encrypted_ports)
        self._prepare()
        self._launch(state, self.settings.cpus, programs.clean_environment())

    def _await_serving(self, watch: Watch) -> None:
        watch.wait_serving(
            [zone.origin for zone in self.zones],
            lambda _, answer: answer.serial is not None,
            deadline_s=self._deadline_s(),
        )
        self._examine(watch)

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

        def await_reloaded() -> None:
            watch.wait_serving(
                wanted,
                lambda origin, answer: answer.serial == wanted[origin],
                deadline_s=self._deadline_s(),
                agreeing=4 * self.settings.threads,
            )
            self._examine(watch)

        self.host.call(await_reloaded)

    def pids_by_part(self) -> dict[str, list[int]]:
        """Divide `pids` among the programs that the server is made of, by their drivers' names."""
        return {self.name: self.pids()}

    def _watch(self, process: LocalProcess, log_start: int) -> Watch:
        return Watch(process, self._versioned_title(), self.endpoints(), self.signs, log_start)

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

    def _deadline_s(self) -> float:
        if self.settings.ready_deadline_s is not None:
            return self.settings.ready_deadline_s
        return BASE_DEADLINE_S + sum(zone.path.stat().st_size for zone in self.zones) / BYTES_PER_SECOND


def _serial(zone: ServedZone) -> int:
    serial = serial_in_file(zone.path, zone.origin)
    if serial is None:
        raise InputError(f"the zone file {zone.path} of {zone.origin} has no SOA record that can be read")
    return serial
