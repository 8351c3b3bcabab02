"""PowerDNS's dnsdist in front of another server."""

import functools
import os
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from dnsrig.hosts.host import Host
from dnsrig.servers import programs
from dnsrig.servers.base import Installation, Server
from dnsrig.servers.settings import ServedZone, ServerSettings
from dnsrig.servers.startup import LogSigns
from dnsrig.servers.transports import EncryptedTransport

FEATURES: Mapping[EncryptedTransport, re.Pattern[str]] = {
    "dot": re.compile(r" dns-over-tls\("),
    "doh": re.compile(r" dns-over-https\("),
    "doq": re.compile(r" dns-over-quic\b"),
}
"""What `dnsdist --version` lists for each transport that it is built with."""
TICKET_KEYS = "tickets.key"
TICKET_KEY_BYTES = 80
"""A key's name, cipher key and HMAC key, of 16, 32 and 32 bytes."""


class Dnsdist(Server):
    """dnsdist, of 1.7 or later, in front of one server of its own; it neither caches nor limits.

    `in_front_of` makes the class for a kind of server behind it. The front offers the encrypted transports; the
    server behind has UDP and TCP. Both run on the same CPUs and count as one server; `pids_by_part` tells them apart.
    """

    name = "dnsdist"
    title = "dnsdist"
    package = "dnsdist"
    program = "dnsdist"
    files: ClassVar[Mapping[str, str]] = {"dnsdist.conf": "dnsdist.conf.j2"}
    signs = LogSigns(
        port_refused=re.compile(r"Fatal error: binding socket to"),
        zone_refused=re.compile(r"(?!)"),
        complaint=re.compile(r"[Ee]rror|[Ww]arning"),
    )
    backend_kind: ClassVar[type[Server]]
    measured_by_default = False

    def __init__(
        self, zones: Sequence[ServedZone], settings: ServerSettings, folder: Path, host: Host | None = None
    ) -> None:
        """Make the drivers of both, as `Server` does."""
        super().__init__(zones, settings, folder, host)
        behind = replace(settings, port=0, encrypted=frozenset(), encrypted_ports={}, certificate=None)
        self.backend = self.backend_kind(zones, behind, self.folder / "behind", host)

    @classmethod
    def find(cls) -> Installation | None:
        """Find dnsdist and the server behind it; the version names both, such as "1.7.3+4.6.1"."""
        own, behind = find_dnsdist(), cls.backend_kind.find()
        if own is None or behind is None:
            return None
        return Installation(own.path, f"{own.version}+{behind.version}")

    @classmethod
    def lacking(cls, installation: Installation) -> Mapping[EncryptedTransport, str]:
        """Look in the features that `dnsdist --version` lists; DoQ came with 1.9."""
        _, said = programs.run_helper([str(installation.path), "--version"])
        return {
            transport: "dnsdist has DNS over QUIC from 1.9 on"
            if transport == "doq" and not installation.at_least(1, 9)
            else "this dnsdist is built without it"
            for transport, feature in FEATURES.items()
            if not feature.search(said)
        }

    def _values(self) -> dict[str, Any]:
        return super()._values() | {
            "backend": self.backend.name,
            "backend_port": self.backend.address[1],
            "ticket_keys": TICKET_KEYS,
        }

    def _prepare(self) -> None:
        """Write the ticket key that several DoH listeners share, for its owner only."""
        path = self.folder / TICKET_KEYS
        path.unlink(missing_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(secrets.token_bytes(TICKET_KEY_BYTES))

    def _command(self) -> list[str]:
        return [str(self.installation.path), "--supervised", "--disable-syslog", "-C", "dnsdist.conf"]

    def _checker(self) -> list[str]:
        return ["dnsdist", "--check-config", "-C", "dnsdist.conf"]

    def check(self) -> None:
        """Check the configuration of dnsdist, and of the server behind it if that does not run yet."""
        if not self.backend.pids():
            self.backend.check()
        super().check()

    def start(self) -> None:
        """Start the server behind, then dnsdist; return when it answers for every zone through dnsdist."""
        self.backend.start()
        try:
            super().start()
        except BaseException:
            self.backend.stop()
            raise

    def stop(self) -> None:
        """End both; does nothing if they do not run."""
        try:
            super().stop()
        finally:
            self.backend.stop()

    def check_running(self) -> None:
        """See that both still run."""
        self.backend.check_running()
        super().check_running()

    def _request_reload(self) -> None:
        """Have the server behind reload; dnsdist keeps no answers."""
        self.backend.reload()

    def pids(self) -> list[int]:
        """List the pids of dnsdist's and the other server's processes."""
        return [*super().pids(), *self.backend.pids()]

    def pids_by_part(self) -> dict[str, list[int]]:
        """Divide `pids` between dnsdist and the server behind it."""
        return {Dnsdist.name: super().pids(), self.backend.name: self.backend.pids()}

    def remarks(self) -> list[str]:
        """List what is set apart from how Debian ships dnsdist, then the same for the server behind it."""
        settings = self.settings
        said = [
            "dnsdist: no rate limiting, no cache, no rules (as shipped); it hands each query on",
            f"dnsdist: {settings.threads} thread(s) for UDP, and as many for TCP and DoT together (as shipped up to 10)"
            + (f", and {settings.threads} for DoH" if "doh" in settings.encrypted else ""),
            f"dnsdist: {settings.tcp_clients} TCP connections may wait for a thread (setMaxTCPQueuedConnections); as "
            "shipped 1000",
            "dnsdist: no health checks; security polling, console and web server off; log to a file by standard output",
            "dnsdist: TCP and DoT queries go on over TCP, UDP and DoH queries over UDP",
        ]
        if settings.encrypted:
            said.append(
                "dnsdist: session tickets (5 keys, changed every 12 h) and a cache of 20480 sessions, as shipped; over "
                "TLS 1.3 it sends no ticket after a resumption, so that a client that uses each ticket once (RFC 8446 "
                "appendix C.4) makes full handshakes in between"
            )
        if "doh" in settings.encrypted and settings.threads > 1:
            said.append(
                "dnsdist: one ticket key for all DoH listeners (ticketKeyFile); as shipped, keys of each its own"
            )
        behind = self.backend.remarks()
        full = [remark for remark in behind if remark.startswith("full answers")]
        return [*said, *(f"{self.backend.name}: {remark}" for remark in behind if remark not in full), *full]


@functools.cache
def in_front_of(kind: type[Server]) -> type[Dnsdist]:
    """Make the driver for dnsdist in front of a kind of server."""
    return type(
        f"DnsdistInFrontOf{kind.__name__}",
        (Dnsdist,),
        {
            "__doc__": f"dnsdist in front of {kind.title}.",
            "backend_kind": kind,
            "name": f"{Dnsdist.name}+{kind.name}",
            "title": f"{Dnsdist.title}+{kind.title}",
            "package": f"{Dnsdist.package} {kind.package}".strip(),
            "logs_queries": kind.logs_queries,
            "iteration_limit": kind.iteration_limit,
            "transfers_by_key": kind.transfers_by_key,
        },
    )


def find_dnsdist() -> Installation | None:
    """Find dnsdist alone; `dnsdist --version` says "dnsdist 1.7.3 (Lua 5.1.4 [LuaJIT 2.1.0-beta3])"."""
    return programs.installation(Dnsdist.program, "--version", re.compile(r"dnsdist (\d\S*)"))
