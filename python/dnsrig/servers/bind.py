"""BIND 9's named as an authoritative server."""

import re
from collections.abc import Mapping
from typing import ClassVar

from dnsrig.servers import programs
from dnsrig.servers.base import Installation, Server
from dnsrig.servers.startup import LogSigns
from dnsrig.servers.transports import EncryptedTransport


class Bind(Server):
    """BIND 9 (named), of 9.18 or later."""

    name = "bind"
    title = "BIND 9 (named)"
    package = "bind9"
    program = "named"
    files: ClassVar[Mapping[str, str]] = {"named.conf": "named.conf.j2"}
    signs = LogSigns(
        port_refused=re.compile(
            r"interface \S+ failed; interface ignored|creating (?:TCP|TLS|HTTPS) socket: |could not listen on"
            r"|(?:not|unable to) listen(?:ing)? on any"
        ),
        zone_refused=re.compile(r"zone \S+: not loaded due to errors"),
        complaint=re.compile(
            r"zone \S+: (?!loaded serial)|dns_(?:rdata|master)_\w+: |\.conf:\d+: |in use|failure|failed|fatal"
        ),
    )
    logs_queries = True
    can_limit_udp = True
    transfers_by_key = True
    takes_transfers = True
    iteration_limit = (
        "named 9.18 serves zones with any number of iterations; above 150 it logs 'excessive NSEC3PARAM iterations'"
    )

    @classmethod
    def find(cls) -> Installation | None:
        """Find named; `named -v` says "BIND 9.18.33-1~deb12u2-Debian (Extended Support Version) <id:>"."""
        return programs.installation(cls.program, "-v", re.compile(r"BIND (\d+\.\d+\.\d+)"))

    @classmethod
    def lacking(cls, installation: Installation) -> Mapping[EncryptedTransport, str]:
        """BIND has DoT, and DoH where it is built with libnghttp2, which `named -V` says."""
        lacking: dict[EncryptedTransport, str] = {"doq": "BIND has no DNS over QUIC"}
        _, said = programs.run_helper([str(installation.path), "-V"])
        if "libnghttp2" not in said:
            lacking["doh"] = "this named is built without libnghttp2"
        return lacking

    def _command(self) -> list[str]:
        return [str(self.installation.path), "-g", "-n", str(self.settings.threads), "-c", "named.conf"]

    def _checker(self) -> list[str]:
        return ["named-checkconf", "named.conf"]

    def remarks(self) -> list[str]:
        """List what is set apart from how Debian ships named."""
        settings = self.settings
        transfers = "transfers, " if settings.transfer_key is None else ""
        said = [
            "no response rate limiting (rate-limit is absent, as shipped)",
            f"{settings.threads} worker thread(s) (-n); as shipped, one for each CPU",
            f"room for {settings.tcp_clients} TCP clients (tcp-clients), and as many waiting to be accepted "
            "(tcp-listen-queue); as shipped 150 and 10",
            f"recursion, validation, empty zones, NOTIFY, {transfers}statistics and control channel off",
            "any zone is loaded (check-names ignore, check-integrity no); as shipped, names that are no host "
            "names, or name servers without address, keep it from being loaded",
            f"query logging {'on' if settings.log_queries else 'off'}; log to a file by standard error (-g)",
        ]
        if settings.encrypted:
            said.append(
                "DoT and DoH by the same worker threads as the rest, in the same room for TCP clients; HTTP/2 streams "
                "as shipped, 100 in a connection; session tickets on, as shipped"
            )
        if "doh" in settings.encrypted:
            said.append(f"room for {settings.tcp_clients} DoH clients (listener-clients); as shipped 300")
        if settings.udp_limit is not None:
            said.append(f"responses of up to {settings.udp_limit} octets by UDP (edns-udp-size, max-udp-size)")
        if settings.answers == "full":
            said.append("full answers: minimal-responses no, minimal-any no")
        return [*said, *self._transfer_remarks()]
