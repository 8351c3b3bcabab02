"""PowerDNS Recursor."""

import re
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from dnsrig.servers import programs
from dnsrig.servers.programs import Installation
from dnsrig.servers.resolvers.base import Resolver
from dnsrig.servers.resolvers.counts import ResolverCounts, read_powerdns
from dnsrig.servers.startup import LogSigns

ENTRY_OCTETS = 512
"""About what an entry of its caches takes; their sizes can be set in entries only."""
CACHES = ("cache-bytes", "packetcache-bytes")
"""Statistics of what memory its caches take."""


class PowerDnsRecursor(Resolver):
    """PowerDNS Recursor (pdns_recursor), of 4.8 or later."""

    name = "powerdns-recursor"
    role: ClassVar[Literal["resolver", "proxy"]] = "resolver"
    title = "PowerDNS Recursor"
    package = "pdns-recursor"
    can_limit_udp = True
    program = "pdns_recursor"
    files: ClassVar[Mapping[str, str]] = {"recursor.conf": "recursor.conf.j2", "recursor.lua": "recursor.lua.j2"}
    signs = LogSigns(
        port_refused=re.compile(
            r"[Uu]nable to (?:bind|listen)|Binding TCP server socket for .* failed|Resolver binding"
        ),
        zone_refused=re.compile(r"(?!)"),
        complaint=re.compile(r"[Ee]rror|[Ee]xception|[Ff]ailed|Unable"),
    )

    @classmethod
    def find(cls) -> Installation | None:
        """Find pdns_recursor; `pdns_recursor --version` says "PowerDNS Recursor 4.8.8 (C) 2001-2022 ..."."""
        return programs.installation(cls.program, "--version", re.compile(r"PowerDNS Recursor (\d\S*)"))

    def _values(self) -> dict[str, Any]:
        octets = self.settings.cache_octets
        return super()._values() | {
            "ds_anchors": [anchor.ds() for anchor in self._anchors],
            "cache_entries": octets and octets // ENTRY_OCTETS,
        }

    def _read_counts(self) -> ResolverCounts:
        return read_powerdns(self._control("get-all"), self._control("get", *CACHES))

    def counts_in_load(self) -> ResolverCounts:
        """Ask for the counts but the octets of its caches: to tell these, it looks at each entry."""
        return read_powerdns(self._control("get-all"), "")

    def _flush_cache(self) -> None:
        """Empty the caches of records, of denials and of packets: of all names at and below the root."""
        self._control("wipe-cache", ".$")

    def _control(self, *command: str) -> str:
        return self._ask_control(["rec_control", "--config-dir=.", "--socket-dir=.", *command])

    def _command(self) -> list[str]:
        # From 5.2 on settings are YAML unless this is said.
        old = ["--enable-old-settings"] if self.installation.at_least(5, 2) else []
        return [str(self.installation.path), *old, "--config-dir=.", "--daemon=no"]

    def _checker(self) -> list[str]:
        old = ["--enable-old-settings"] if self.installation.at_least(5, 2) else []
        return ["pdns_recursor", *old, "--config-dir=.", "--config=check"]

    def _own_remarks(self) -> list[str]:
        said = [
            f"{self.settings.threads} thread(s) (threads), which take queries themselves (pdns-distributes-queries "
            "no); as shipped 2",
            "any client may ask (allow-from); as shipped, private networks alone",
            "private and reserved addresses may be asked (dont-query empty)",
            "security polling off; control socket in its folder; log to a file by standard error",
        ]
        if self.settings.cache_octets is not None:
            said.append(f"its caches are limited by entries, counted as {ENTRY_OCTETS} octets each")
        if self.validates:
            said.append("dnssec=validate: every answer is validated; as shipped `process`, for clients with DO or AD")
        return said
