"""CZ.NIC's Knot DNS."""

import re
import signal
from collections.abc import Mapping
from typing import ClassVar

from dnsrig.servers import programs
from dnsrig.servers.base import Installation, Server
from dnsrig.servers.startup import LogSigns
from dnsrig.servers.transports import EncryptedTransport


class Knot(Server):
    """Knot DNS (knotd), of 3.2 or later."""

    name = "knot"
    title = "Knot DNS (knotd)"
    package = "knot"
    program = "knotd"
    files: ClassVar[Mapping[str, str]] = {"knot.conf": "knot.conf.j2"}
    signs = LogSigns(
        port_refused=re.compile(r"error: cannot bind address"),
        zone_refused=re.compile(r"error: \[\S+\] zone event '\w+' failed"),
        complaint=re.compile(r"(?:error|critical): "),
    )
    logs_queries = False
    can_limit_udp = True
    transfers_by_key = True
    takes_transfers = True
    iteration_limit = "Knot DNS has no limit on iterations of a zone that it serves as it is"

    @classmethod
    def find(cls) -> Installation | None:
        """Find knotd; `knotd -V` says "knotd (Knot DNS), version 3.2.6"."""
        return programs.installation(cls.program, "-V", re.compile(r"version (\S+)"))

    @classmethod
    def lacking(cls, installation: Installation) -> Mapping[EncryptedTransport, str]:
        """Knot DNS has DoQ on ordinary sockets from 3.3 on, and DoT from 3.4 on."""
        lacking: dict[EncryptedTransport, str] = {"doh": "Knot DNS has no DNS over HTTPS"}
        if not installation.at_least(3, 3):
            lacking["doq"] = "it has QUIC over XDP only; Knot DNS 3.3 and later have it on ordinary sockets"
        if not installation.at_least(3, 4):
            lacking["dot"] = "Knot DNS has DNS over TLS from 3.4 on"
        return lacking

    def _command(self) -> list[str]:
        return [str(self.installation.path), "-c", "knot.conf"]

    def _checker(self) -> list[str]:
        return ["knotc", "-c", "knot.conf", "conf-check"]

    def _request_reload(self) -> None:
        """Send SIGUSR1: SIGHUP reads the configuration again, but only SIGUSR1 reads all zones (knotd(8))."""
        self._running().signal(signal.SIGUSR1)

    def remarks(self) -> list[str]:
        """List what is set apart from how Debian ships Knot DNS."""
        settings = self.settings
        said = [
            "no response rate limiting (mod-rrl is absent, as shipped)",
            f"{settings.threads} UDP, TCP and background worker(s) each; as shipped, by the number of CPUs",
            f"room for {settings.tcp_clients} TCP clients (tcp-max-clients); as shipped half as many as "
            "file descriptors",
            "zones served from their files as they are: no journal, no signing",
            "log to a file by standard error",
            "UDP workers bound to the chosen CPUs after start: knotd itself binds each to a CPU of its own",
        ]
        if settings.encrypted:
            said.append(
                "DoT by the TCP workers, in the same room for TCP clients; DoQ by the UDP workers; tickets as shipped"
            )
        if settings.udp_limit is not None:
            said.append(f"responses of up to {settings.udp_limit} octets by UDP (udp-max-payload)")
        if settings.answers == "full":
            said.append("full answers: not available, Knot DNS has no setting for them; it answers as it ships")
        return [*said, *self._transfer_remarks()]
