"""dnsdist as a proxy."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from dnsrig.servers.dnsdist import Dnsdist, find_dnsdist
from dnsrig.servers.programs import Installation
from dnsrig.servers.resolvers.base import Resolver
from dnsrig.servers.startup import LogSigns


class DnsdistProxy(Resolver):
    """dnsdist, of 1.7 or later."""

    name = "dnsdist"
    role: ClassVar[Literal["resolver", "proxy"]] = "proxy"
    title = Dnsdist.title
    package = Dnsdist.package
    program = Dnsdist.program
    can_validate = False
    files: ClassVar[Mapping[str, str]] = {"dnsdist.conf": "dnsdist.conf.j2"}
    signs: ClassVar[LogSigns] = Dnsdist.signs

    @classmethod
    def find(cls) -> Installation | None:
        """Find dnsdist."""
        return find_dnsdist()

    def _command(self) -> list[str]:
        return [str(self.installation.path), "--supervised", "--disable-syslog", "-C", "dnsdist.conf"]

    def _checker(self) -> list[str]:
        return ["dnsdist", "--check-config", "-C", "dnsdist.conf"]

    def _own_remarks(self) -> list[str]:
        cached = self.settings.cache == "on"
        return [
            "any client may ask (setACL); as shipped, private networks alone",
            "no health checks, which would be queries that no client sent: servers count as up",
            "security polling, console and web server off; log to a file by standard output",
            "queries by TCP go on by TCP, as shipped",
            "a packet cache of 10000 answers; as shipped none" if cached else "no cache, as shipped",
        ]
