"""NLnet Labs' NSD."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from dnsrig.errors import InputError
from dnsrig.hosts.host import Host
from dnsrig.servers import programs
from dnsrig.servers.base import Installation, Server
from dnsrig.servers.settings import ServedZone, ServerSettings
from dnsrig.servers.startup import LogSigns
from dnsrig.servers.transports import EncryptedTransport


class Nsd(Server):
    """NSD, of 4.6 or later."""

    name = "nsd"
    title = "NSD"
    package = "nsd"
    program = "nsd"
    files: ClassVar[Mapping[str, str]] = {"nsd.conf": "nsd.conf.j2"}
    signs = LogSigns(
        port_refused=re.compile(r"error: (?:can't (?:bind|listen)|server initialization failed)"),
        zone_refused=re.compile(r"error: (?:zone \S+ file .* read with \d+ errors|zonefile .* does not exist)"),
        complaint=re.compile(r"(?:error|critical|fatal): "),
    )
    logs_queries = False
    can_limit_udp = True
    transfers_by_key = True
    takes_transfers = True
    iteration_limit = "NSD has no limit on iterations; it hashes a zone's names when it loads, a query's when it comes"

    def __init__(
        self, zones: Sequence[ServedZone], settings: ServerSettings, folder: Path, host: Host | None = None
    ) -> None:
        """Make the driver, as `Server` does; NSD cannot read every path."""
        for zone in zones:
            if "%" in str(zone.path):
                raise InputError(
                    f"the path {str(zone.path)!r} holds '%', which NSD replaces by parts of the zone's name: "
                    "use a copy, or a symbolic link, with a plain name"
                )
        super().__init__(zones, settings, folder, host)

    @classmethod
    def find(cls) -> Installation | None:
        """Find nsd; `nsd -v` says "NSD version 4.6.1"."""
        return programs.installation(cls.program, "-v", re.compile(r"NSD version (\S+)"))

    @classmethod
    def lacking(cls, installation: Installation) -> Mapping[EncryptedTransport, str]:
        """NSD has DoT only."""
        return {"doh": "NSD has no DNS over HTTPS", "doq": "NSD has no DNS over QUIC"}

    def _command(self) -> list[str]:
        return [str(self.installation.path), "-d", "-c", "nsd.conf"]

    def _checker(self) -> list[str]:
        return ["nsd-checkconf", "nsd.conf"]

    def remarks(self) -> list[str]:
        """List what is set apart from how Debian ships NSD."""
        settings = self.settings
        said = [
            "response rate limiting off (rrl-ratelimit 0, rrl-whitelist-ratelimit 0); as shipped 200 and "
            "2000 queries a second from a source",
            f"{settings.threads} server process(es) (server-count); as shipped 1",
            f"room for {settings.tcp_clients} TCP clients in each process (tcp-count); as shipped 100",
            "remote control off; no database file; log to a file by standard error",
        ]
        if settings.threads > 1:
            said.append("a socket for each server process (reuseport yes); as shipped all share one")
        if settings.encrypted:
            said.append(
                "DoT by the same server processes as the rest, in the same room for TCP clients; tickets as shipped"
            )
        if settings.udp_limit is not None:
            said.append(f"responses of up to {settings.udp_limit} octets by UDP (ipv4-edns-size, ipv6-edns-size)")
        if settings.answers == "full":
            said.append("full answers: minimal-responses no, refuse-any no; both as shipped")
        return [*said, *self._transfer_remarks()]
