"""dnsrig's own authoritative server, which needs nothing installed."""

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from dnsrig import __version__
from dnsrig.servers.base import Installation, Server
from dnsrig.servers.startup import LogSigns
from dnsrig.servers.transports import EncryptedTransport

CONFIGURATION = "embedded.json"


class Embedded(Server):
    """The server of dnsrig's core, in a process of its own so that its CPU time is its own."""

    name = "embedded"
    title = "dnsrig's embedded server"
    package = ""
    program = "dnsrig"
    files: ClassVar[Mapping[str, str]] = {}
    signs = LogSigns(
        port_refused=re.compile(r"^error 3: ", re.MULTILINE),
        zone_refused=re.compile(r"^error(?: [12]: |: not reloaded)", re.MULTILINE),
        complaint=re.compile(r"^error|Error"),
    )
    logs_queries = False
    iteration_limit = "the embedded server has no limit on iterations"

    @classmethod
    def find(cls) -> Installation | None:
        """Give this Python, which is always there, with dnsrig's version."""
        return Installation(Path(sys.executable), __version__)

    @classmethod
    def lacking(cls, installation: Installation) -> Mapping[EncryptedTransport, str]:
        """Give nothing: it has them all."""
        return {}

    def render(self) -> dict[str, str]:
        """Give the JSON configuration that embedded_main.py reads."""
        configuration: dict[str, Any] = {
            "zones": [{"origin": zone.origin, "path": str(zone.path)} for zone in self.zones],
            "address": self.settings.address,
            "port": self._port,
            "threads": self.settings.threads,
            "minimal": self.settings.answers == "server",
        }
        if certificate := self.settings.certificate:
            configuration["encrypted"] = self._encrypted_ports
            configuration["certificate"] = {"chain": str(certificate.chain), "key": str(certificate.key)}
        return {CONFIGURATION: json.dumps(configuration, indent=2) + "\n"}

    def _command(self) -> list[str]:
        return [str(self.installation.path), "-P", "-m", "dnsrig.servers.embedded_main", CONFIGURATION]

    def _checker(self) -> list[str]:
        return [*self._command(), "--check"]

    def remarks(self) -> list[str]:
        """Say what kind of server it is: nothing is set apart, for it ships with dnsrig."""
        said = [
            "dnsrig's own server, for trying the rig without others; no distribution ships it",
            "no rate limiting, no limit per client, no query log, no cache",
            f"{self.settings.threads} thread(s), and as many for each encrypted transport",
        ]
        if self.settings.encrypted:
            said.append("TLS 1.2 and 1.3 for DoT and DoH, TLS 1.3 for DoQ; session tickets on, no early data")
        if self.settings.answers == "full":
            said.append("full answers: authority and additional sections are filled")
        return said
