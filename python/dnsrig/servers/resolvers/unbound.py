"""Unbound as a resolver, and as a proxy."""

import re
from collections.abc import Mapping
from typing import ClassVar, Literal

from dnsrig.servers import programs
from dnsrig.servers.programs import Installation
from dnsrig.servers.resolvers.base import Resolver
from dnsrig.servers.resolvers.counts import ResolverCounts, read_unbound
from dnsrig.servers.startup import LogSigns
from dnsrig.servers.transports import EncryptedTransport
from dnsrig.servers.unbound import Unbound


class UnboundResolver(Resolver):
    """Unbound, of 1.17 or later."""

    name = "unbound"
    role: ClassVar[Literal["resolver", "proxy"]] = "resolver"
    title = "Unbound"
    package = "unbound"
    can_limit_udp = True
    program = "unbound"
    can_manage_anchors = True
    files: ClassVar[Mapping[str, str]] = {"unbound.conf": "unbound.conf.j2"}
    signs = LogSigns(
        port_refused=re.compile(r"could not open ports|can't bind socket|error: bind: "),
        zone_refused=re.compile(r"error: (?:could not open autotrust|error reading (?:auto-)?trust|Could not set ?up)"),
        complaint=re.compile(r"(?:error|warn|warning): "),
    )

    @classmethod
    def find(cls) -> Installation | None:
        """Find unbound; `unbound -V` says "Version 1.17.1"."""
        return programs.installation(cls.program, "-V", re.compile(r"Version (\d\S*)"))

    @classmethod
    def lacking(cls, installation: Installation) -> Mapping[EncryptedTransport, str]:
        """Say what this unbound was built without."""
        return Unbound.lacking(installation)

    def render(self) -> dict[str, str]:
        """Give the configuration, the root hints, and a file of trust anchors for each zone."""
        return super().render() | self._anchor_files()

    def _kept_files(self) -> frozenset[str]:
        """Unbound writes the states of managed keys into the file of trust anchors."""
        return frozenset(self._anchor_files() if self._managed else ())

    def _command(self) -> list[str]:
        return [str(self.installation.path), "-d", "-p", "-c", "unbound.conf"]

    def _checker(self) -> list[str]:
        return ["unbound-checkconf", "unbound.conf"]

    def _read_counts(self) -> ResolverCounts:
        return read_unbound(self._control("stats_noreset"))

    def _flush_cache(self) -> None:
        """Empty the caches of records and messages and of keys below the root, that is all."""
        self._control("flush_zone", ".")

    def _control(self, *command: str) -> str:
        return self._ask_control(["unbound-control", "-c", "unbound.conf", *command])

    def _own_remarks(self) -> list[str]:
        managed = self._managed
        said = [
            "any client may ask (access-control); as shipped, this machine alone",
            "addresses of the loopback device may be asked (do-not-query-localhost no)",
            (
                "remote control without certificates on its host's loopback device"
                if self.settings.statistics
                else "remote control off"
            )
            + "; log to a file by standard error",
            f"{self.settings.threads} thread(s) (num-threads), as shipped 1",
        ]
        if managed:
            said.append(
                f"RFC 5011 with hold-down times of {managed.hold_down_s} s (add-holddown, del-holddown; as shipped 30 "
                "days), permit-small-holddown yes; it probes after half the DNSKEY RRset's TTL, or half the time until "
                "its signature expires, whatever comes first (RFC 5011 section 2.3): there is no setting for the "
                "interval, so the tree's root needs a short DNSKEY TTL"
            )
        elif self.validates:
            said.append("trust anchors fixed (trust-anchor-file); as shipped RFC 5011 (auto-trust-anchor-file)")
        return said


class UnboundForwarder(UnboundResolver):
    """Unbound, of 1.17 or later, that forwards everything."""

    name = "unbound-forwarder"
    role: ClassVar[Literal["resolver", "proxy"]] = "proxy"
    title = "Unbound (forwarding)"
