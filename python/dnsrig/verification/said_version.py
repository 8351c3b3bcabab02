"""Which program a server says it is: what is known of that version is then known of a server of the user's too."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import dns.name
import dns.rdataclass
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.TXT import TXT

from dnsrig.errors import InputError
from dnsrig.servers.registry import driver
from dnsrig.servers.resolvers.registry import resolver_driver
from dnsrig.verification.asker import Asker
from dnsrig.verification.deviations import KnownFailures, known_deviations
from dnsrig.verification.item import Role
from dnsrig.verification.queries import Query

BIND = re.compile(r"(?:bind )?(?P<version>9\.[0-9][0-9.]*)", re.IGNORECASE)
RECURSOR = re.compile(r"powerdns recursor (?P<version>[0-9][0-9.]*)", re.IGNORECASE)
UNBOUND = re.compile(r"unbound (?P<version>[0-9][0-9.]*)", re.IGNORECASE)
PATTERNS: Mapping[Role, Mapping[str, re.Pattern[str]]] = {
    "authoritative": {
        "nsd": re.compile(r"nsd (?P<version>[0-9][0-9.]*)", re.IGNORECASE),
        "knot": re.compile(r"knot(?: dns)? (?P<version>[0-9][0-9.]*)", re.IGNORECASE),
        "powerdns": re.compile(r"powerdns(?: authoritative server)? (?P<version>[0-9][0-9.]*)", re.IGNORECASE),
        "bind": BIND,
    },
    "resolver": {
        "unbound": UNBOUND,
        "powerdns-recursor": RECURSOR,
        "knot-resolver": re.compile(r"knot resolver (?P<version>[0-9][0-9.]*)", re.IGNORECASE),
        "bind": BIND,
    },
    "proxy": {
        "dnsmasq": re.compile(r"dnsmasq[- ](?P<version>[0-9][0-9.]*)", re.IGNORECASE),
        "dnsdist": re.compile(r"dnsdist (?P<version>[0-9][0-9.]*)", re.IGNORECASE),
        "unbound-forwarder": UNBOUND,
        "powerdns-recursor": RECURSOR,
        "bind": BIND,
    },
    "path": {},
}
"""By role and the driver's name, what versions begin with as servers tell them; BIND gives its number alone."""
EXAMPLES: Mapping[Role, str] = {
    "authoritative": "'NSD 4.6.1', 'BIND 9.18.28', 'Knot 3.2.6', 'PowerDNS 4.7.3'",
    "resolver": "'Unbound 1.17.1', 'BIND 9.18.28', 'Knot Resolver 5.6.0', 'PowerDNS Recursor 4.8.8'",
    "proxy": "'dnsmasq 2.90', 'dnsdist 1.7.3', 'Unbound 1.17.1', 'BIND 9.18.28', 'PowerDNS Recursor 4.8.8'",
    "path": "",
}
VERSION_BIND = dns.name.from_text("version.bind.")
UDP_WAITS_S = (1.0, 1.0)


@dataclass(frozen=True, slots=True)
class SaidVersion:
    """A program of a driver's, by its name and version."""

    server: str
    """The driver's name."""
    version: str
    role: Role = "authoritative"

    @property
    def title(self) -> str:
        """Name and version for people."""
        kind = driver(self.server) if self.role == "authoritative" else resolver_driver(self.server)
        return f"{kind.title} {self.version}"

    @property
    def known(self) -> KnownFailures:
        """What is known of it, where the rig did not start it."""
        return known_deviations(self.role, self.server, self.version, is_of_rig=False)


def read_version(text: str, role: Role = "authoritative") -> SaidVersion | None:
    """Find a version of a known program at the beginning of a text; None for others."""
    for server, pattern in PATTERNS[role].items():
        if found := pattern.match(text.strip()):
            return SaidVersion(server, found["version"].rstrip("."), role)
    return None


def told_version(text: str, role: Role = "authoritative") -> SaidVersion:
    """Read a version that the user gave.

    Raises:
        InputError: it is none of a program that deviations are known of.

    """
    found = read_version(text, role)
    if found is None:
        wanted = f"give the program and its number, such as {EXAMPLES[role]}"
        raise InputError(f"--server-version '{text}': {wanted}")
    return found


def said_version(asker: Asker, role: Role = "authoritative") -> SaidVersion | None:
    """Ask a server for its version (TXT of version.bind in class CH, as RFC 4892 section 2 tells of)."""
    asker = Asker(asker.server, asker.make_socket, UDP_WAITS_S)
    query = Query(name=VERSION_BIND, rtype=RdataType.TXT, rdclass=dns.rdataclass.CH, payload=None)
    message = asker.udp(query).message
    for rrset in [] if message is None else message.answer:
        for record in rrset:
            if isinstance(record, TXT):
                return read_version(b"".join(record.strings).decode(errors="replace"), role)
    return None
