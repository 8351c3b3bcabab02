"""NLnet Labs' Unbound, serving zones from files as authority zones."""

import re
from collections.abc import Mapping
from typing import ClassVar

from dnsrig.errors import SubjectFailedError
from dnsrig.servers import programs
from dnsrig.servers.base import Installation, Server
from dnsrig.servers.readiness import serial_in_file
from dnsrig.servers.startup import LogSigns
from dnsrig.servers.transports import EncryptedTransport


class Unbound(Server):
    """Unbound, of 1.17 or later, with `auth-zone` alone: it resolves nothing.

    It is a resolver; as an authoritative server it is measured for its transports, not for its rank among servers
    that are made to be one.
    """

    name = "unbound"
    title = "Unbound"
    package = "unbound"
    program = "unbound"
    files: ClassVar[Mapping[str, str]] = {"unbound.conf": "unbound.conf.j2"}
    signs = LogSigns(
        port_refused=re.compile(r"could not open ports|can't bind socket|error: bind: "),
        zone_refused=re.compile(r"error: (?:error parsing|cannot open) zonefile|auth_zones could not be setup"),
        complaint=re.compile(r"(?:error|warn|warning): "),
    )
    logs_queries = True
    can_limit_udp = True
    iteration_limit = "Unbound has no limit on iterations of a zone that it serves; its limits are those of a validator"
    measured_by_default = False

    @classmethod
    def find(cls) -> Installation | None:
        """Find unbound; `unbound -V` says "Version 1.17.1"."""
        return programs.installation(cls.program, "-V", re.compile(r"Version (\d\S*)"))

    @classmethod
    def lacking(cls, installation: Installation) -> Mapping[EncryptedTransport, str]:
        """Look in `unbound -V`: DoT is always there, DoH with libnghttp2, DoQ from 1.22 on with libngtcp2."""
        _, said = programs.run_helper([str(installation.path), "-V"])
        lacking: dict[EncryptedTransport, str] = {}
        if "--with-libnghttp2" not in said:
            lacking["doh"] = "this unbound is built without libnghttp2"
        if not installation.at_least(1, 22):
            lacking["doq"] = "Unbound has DNS over QUIC from 1.22 on"
        elif "--with-libngtcp2" not in said:
            lacking["doq"] = "this unbound is built without libngtcp2"
        return lacking

    def _command(self) -> list[str]:
        return [str(self.installation.path), "-d", "-p", "-c", "unbound.conf"]

    def _checker(self) -> list[str]:
        return ["unbound-checkconf", "unbound.conf"]

    def _prepare(self) -> None:
        """Refuse a zone without SOA record, which Unbound would load without a word and not serve."""
        for zone in self.zones:
            if serial_in_file(zone.path, zone.origin) is None:
                raise SubjectFailedError(
                    f"{self._versioned_title()}: it would not serve {zone.origin} from {zone.path}, which has no SOA "
                    "record that can be read"
                )

    def remarks(self) -> list[str]:
        """List what is set apart from how Debian ships Unbound."""
        settings = self.settings
        said = [
            "a resolver that serves the zones as authority zones (auth-zone, for-downstream); it resolves nothing: "
            "all else is refused, and it may ask no address",
            "no rate limiting (ip-ratelimit 0, ratelimit 0, as shipped)",
            f"{settings.threads} thread(s) (num-threads), as shipped 1; each has sockets of its own (so-reuseport, "
            "as shipped)",
            f"room for {settings.tcp_clients} TCP clients in each thread (incoming-num-tcp); as shipped 10",
            "iterator module alone; remote control off; log to a file by standard error, errors only (verbosity 0); as "
            "shipped 1, which writes two lines for each TLS connection that comes to nothing",
            f"query logging {'on' if settings.log_queries else 'off'}",
        ]
        if settings.encrypted:
            said.append(
                "DoT and DoH by the same threads as the rest, in the same room for TCP clients; HTTP/2 streams as "
                "shipped, 100 in a connection; session tickets as shipped (tls-session-ticket-keys absent)"
            )
        if settings.udp_limit is not None:
            said.append(f"responses of up to {settings.udp_limit} octets by UDP (edns-buffer-size, max-udp-size)")
        if settings.answers == "full":
            said.append(
                "full answers: not available, authority zones are answered without additions; it answers as it ships"
            )
        return said
