"""CZ.NIC's Knot Resolver."""

import re
import shutil
import socket
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from dnsrig.errors import InputError, SubjectFailedError
from dnsrig.servers import programs
from dnsrig.servers.programs import Installation
from dnsrig.servers.resolvers.base import CONTROL_ADDRESS, Resolver
from dnsrig.servers.resolvers.counts import KNOT_QUESTION, ResolverCounts, read_knot
from dnsrig.servers.startup import LogSigns
from dnsrig.servers.transports import EncryptedTransport

CACHE = "cache"
CACHE_OCTETS = 100 << 20
"""Its cache's size as it ships."""
CONTROL_S = 10.0
PROMPT = b"> "


class KnotResolver(Resolver):
    """Knot Resolver (kresd), of 5.6 or later; one process, which has one thread."""

    name = "knot-resolver"
    role: ClassVar[Literal["resolver", "proxy"]] = "resolver"
    title = "Knot Resolver (kresd)"
    package = "knot-resolver"
    can_limit_udp = True
    program = "kresd"
    can_manage_anchors = True
    files: ClassVar[Mapping[str, str]] = {"kresd.conf": "kresd.conf.j2"}
    signs = LogSigns(
        port_refused=re.compile(r"bind to \S+ .*|error occurred here.*net\.listen|Address already in use"),
        zone_refused=re.compile(r"(?!)"),
        complaint=re.compile(r"[Ee]rror|ERROR|failed"),
    )

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
        if self.settings.threads != 1:
            raise InputError(f"{self.title} is one process, which has one thread, not {self.settings.threads}")

    def render(self) -> dict[str, str]:
        """Give the configuration, the root hints, and a file of trust anchors for each zone."""
        return super().render() | self._anchor_files()

    def _kept_files(self) -> frozenset[str]:
        """Knot Resolver writes the states of managed keys into the file of trust anchors."""
        return frozenset(self._anchor_files() if self._managed else ())

    def _prepare(self) -> None:
        """Begin with an empty cache, as the others do: Knot Resolver's is in files, and would be found again."""
        shutil.rmtree(self.folder / CACHE, ignore_errors=True)

    def _values(self) -> dict[str, Any]:
        return super()._values() | {"cache_folder": CACHE}

    def _environment(self) -> dict[str, str]:
        """Keep it from opening a control socket, whose path may be too long."""
        return super()._environment() | {"KRESD_NO_LISTEN": "1"}

    def _command(self) -> list[str]:
        return [str(self.installation.path), "-n", *(["-v"] if self.settings.verbose else []), "-c", "kresd.conf", "."]

    def _checker(self) -> list[str]:
        """Give nothing: kresd says what is wrong with its configuration when it starts."""
        return []

    def _read_counts(self) -> ResolverCounts:
        return read_knot(self.host.call(lambda: self._ask_channel(KNOT_QUESTION)))

    def _flush_cache(self) -> None:
        self.host.call(lambda: self._ask_channel("cache.clear()"))

    def _ask_channel(self, command: str) -> str:
        """Give a command to the control channel, which prompts with "> " before each answer and after it."""
        said = b""
        try:
            with socket.create_connection((CONTROL_ADDRESS, self._control_port), CONTROL_S) as channel:
                channel.sendall(f"{command}\n".encode())
                while said.count(PROMPT) < 2:
                    part = channel.recv(65_536)
                    if not part:
                        break
                    said += part
        except OSError as error:
            raise SubjectFailedError(
                f"{self._versioned_title()} does not take the command {command}: {error}"
            ) from error
        return said.decode(errors="replace")

    def _own_remarks(self) -> list[str]:
        managed = self._managed
        said = [
            "one process; as shipped one too (kresd@1)",
            ", ".join(
                (
                    "control channel on the loopback device" if self.settings.statistics else "no control socket",
                    "as shipped with DoT" if self.settings.encrypted_ports else "no DoT",
                )
            )
            + "; log to a file by standard error",
            f"cache of {(self.settings.cache_octets or CACHE_OCTETS) / 2**20:g} MiB in its folder, empty at each start "
            "(as shipped, it stays)",
        ]
        if managed:
            said.append(
                f"RFC 5011 with a hold-down time of {managed.hold_down_s} s (ta_update.hold_down_time; by default 30 "
                f"days), probing every {managed.probe_s} s (ta_update.refresh_time); Debian ships fixed anchors"
            )
        elif self.validates:
            said.append("trust anchors fixed, as Debian ships it")
        return said
