"""dnsmasq as a proxy."""

import re
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from dnsrig.servers import programs
from dnsrig.servers.programs import Installation
from dnsrig.servers.resolvers.base import Resolver
from dnsrig.servers.startup import LogSigns


class Dnsmasq(Resolver):
    """dnsmasq, of 2.90 or later, as in home routers."""

    name = "dnsmasq"
    role: ClassVar[Literal["resolver", "proxy"]] = "proxy"
    title = "dnsmasq"
    package = "dnsmasq-base"
    can_limit_udp = True
    program = "dnsmasq"
    files: ClassVar[Mapping[str, str]] = {"dnsmasq.conf": "dnsmasq.conf.j2"}
    signs = LogSigns(
        port_refused=re.compile(r"failed to (?:create listening socket|bind)"),
        zone_refused=re.compile(r"(?!)"),
        complaint=re.compile(r"dnsmasq: |failed|warning"),
    )

    @classmethod
    def find(cls) -> Installation | None:
        """Find dnsmasq; `dnsmasq --version` says "Dnsmasq version 2.90  Copyright ..."."""
        return programs.installation(cls.program, "--version", re.compile(r"Dnsmasq version (\S+)"))

    def _values(self) -> dict[str, Any]:
        return super()._values() | {"ds_anchors": [anchor.ds() for anchor in self._anchors]}

    def _command(self) -> list[str]:
        return [str(self.installation.path), "--keep-in-foreground", "--conf-file=dnsmasq.conf"]

    def _checker(self) -> list[str]:
        return ["dnsmasq", "--test", "--conf-file=dnsmasq.conf"]

    def _own_remarks(self) -> list[str]:
        return [
            "neither /etc/resolv.conf nor /etc/hosts is read (no-resolv, no-hosts)",
            "it stays the user that starts it; as shipped it becomes the user dnsmasq",
            "no DHCP, as shipped; log to a file by standard error",
            "cache of 150 names, as shipped",
        ]
