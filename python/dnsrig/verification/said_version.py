"""Which program a server says it is: what is known of that version is then known of a server of the user's too."""

import re
from dataclasses import dataclass

import dns.name
import dns.rdataclass
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.TXT import TXT

from dnsrig.errors import InputError
from dnsrig.servers.registry import driver
from dnsrig.verification.asker import Asker
from dnsrig.verification.queries import Query

PATTERNS = {
    "nsd": re.compile(r"nsd (?P<version>[0-9][0-9.]*)", re.IGNORECASE),
    "knot": re.compile(r"knot(?: dns)? (?P<version>[0-9][0-9.]*)", re.IGNORECASE),
    "powerdns": re.compile(r"powerdns(?: authoritative server)? (?P<version>[0-9][0-9.]*)", re.IGNORECASE),
    "bind": re.compile(r"(?:bind )?(?P<version>9\.[0-9][0-9.]*)", re.IGNORECASE),
}
"""By the driver's name, what versions begin with as servers tell them; BIND gives its number alone."""
VERSION_BIND = dns.name.from_text("version.bind.")
UDP_WAITS_S = (1.0, 1.0)


@dataclass(frozen=True, slots=True)
class SaidVersion:
    """A program of a driver's, by its name and version."""

    server: str
    """The driver's name."""
    version: str

    @property
    def title(self) -> str:
        """Name and version for people."""
        return f"{driver(self.server).title} {self.version}"


def read_version(text: str) -> SaidVersion | None:
    """Find a version of a known program at the beginning of a text; None for others."""
    for server, pattern in PATTERNS.items():
        if found := pattern.match(text.strip()):
            return SaidVersion(server, found["version"].rstrip("."))
    return None


def told_version(text: str) -> SaidVersion:
    """Read a version that the user gave.

    Raises:
        InputError: it is none of a program that deviations are known of.

    """
    found = read_version(text)
    if found is None:
        wanted = "give the program and its number, such as 'NSD 4.6.1', 'BIND 9.18.28', 'Knot 3.2.6', 'PowerDNS 4.7.3'"
        raise InputError(f"--server-version '{text}': {wanted}")
    return found


def said_version(asker: Asker) -> SaidVersion | None:
    """Ask a server for its version (TXT of version.bind in class CH, as RFC 4892 section 2 tells of)."""
    asker = Asker(asker.server, asker.make_socket, UDP_WAITS_S)
    query = Query(name=VERSION_BIND, rtype=RdataType.TXT, rdclass=dns.rdataclass.CH, payload=None)
    message = asker.udp(query).message
    for rrset in [] if message is None else message.answer:
        for record in rrset:
            if isinstance(record, TXT):
                return read_version(b"".join(record.strings).decode(errors="replace"))
    return None
