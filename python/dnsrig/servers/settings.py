"""What a driver is told: the zones to serve and how to serve them."""

import base64
import ipaddress
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Self

from dnsrig.errors import InputError
from dnsrig.servers.certificates import Certificate
from dnsrig.servers.rendering import zone_name
from dnsrig.servers.transports import EncryptedTransport, listed

UDP_LIMITS = (512, 4096)
"""Octets by UDP: those that every client takes (RFC 1035 section 4.2.1), and those that BIND allows at most."""


def check_udp_limit(octets: int | None) -> None:
    """Raise InputError for a limit that not every server takes."""
    if octets is not None and not UDP_LIMITS[0] <= octets <= UDP_LIMITS[1]:
        raise InputError(f"a limit of {octets} octets by UDP is not between {UDP_LIMITS[0]} and {UDP_LIMITS[1]}")


SECRET_OCTETS = 32
"""As many as HMAC-SHA256 gives (RFC 8945 section 8)."""


@dataclass(frozen=True, slots=True)
class TransferKey:
    """A TSIG key (RFC 8945), by HMAC-SHA256, of which zone transfers are signed."""

    secret: bytes = field(repr=False)
    name: str = "transfer.dnsrig"
    """Without the final dot, as all servers' configurations take it."""
    algorithm: str = "hmac-sha256"

    @classmethod
    def new(cls) -> Self:
        """Draw a secret that nobody knows."""
        return cls(secrets.token_bytes(SECRET_OCTETS))

    @property
    def secret_text(self) -> str:
        """The secret in Base64."""
        return base64.b64encode(self.secret).decode()


@dataclass(frozen=True, slots=True)
class ServedZone:
    """A zone to serve: its name, made absolute, and its zone file (RFC 1035 section 5), made absolute."""

    origin: str
    path: Path

    def __post_init__(self) -> None:
        object.__setattr__(self, "origin", zone_name(self.origin))
        object.__setattr__(self, "path", Path(self.path).absolute())


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """How a server runs. What is not named here stays as the distribution ships it."""

    address: str = "127.0.0.1"
    """IPv4 or IPv6 address, of this machine, to listen on."""
    port: int = 0
    """UDP and TCP port; 0 takes a free one."""
    encrypted: frozenset[EncryptedTransport] = frozenset()
    """Encrypted transports to serve beside UDP and TCP, each on a port of its own; they need a `certificate`."""
    encrypted_ports: Mapping[EncryptedTransport, int] = field(default_factory=dict)
    """Ports for those of `encrypted` that are not to take a free one."""
    certificate: Certificate | None = None
    threads: int = 1
    """Worker threads, or processes, that answer queries."""
    cpus: frozenset[int] | None = None
    """Numbers of the CPUs that the server may use; None leaves it free."""
    answers: Literal["server", "full"] = "server"
    """`full`: with authority and additional sections, where the server can; `server`: as it ships."""
    log_queries: bool = False
    answer_cache: Literal["server", "off"] = "server"
    """`off`: PowerDNS's packet cache and query caches are off; the other servers have none."""
    raise_limits: bool = True
    """Raise the server's limit on NSEC3 iterations to the largest value there is, where it can be raised."""
    udp_limit: int | None = None
    """Octets that responses by UDP may have, where the server can be told (`can_limit_udp`); None: as it ships."""
    transfer_key: TransferKey | None = None
    """Who signs with it gets zone transfers, where the server can be told (`transfers_by_key`); None: nobody, but for
    servers that ship otherwise."""
    primary: tuple[str, int] | None = None
    """Address and port of the server that gives the zones, by AXFR with `transfer_key`, to one that can take them
    (`takes_transfers`); None: they are read from their files."""
    tcp_clients: int = 1000
    """Connections, with TLS or without, that the server may hold at once; with NSD, each of its processes."""
    ready_deadline_s: float | None = None
    """How long the server may take until it serves every zone; None: 15 s, and 1 s for each MB of zones."""

    def __post_init__(self) -> None:
        try:
            ipaddress.ip_address(self.address)
        except ValueError:
            raise InputError(f"{self.address!r} is not an IPv4 or IPv6 address to listen on") from None
        for port in (self.port, *self.encrypted_ports.values()):
            if not 0 <= port <= 65535:
                raise InputError(f"port {port} is not between 0 and 65535")
        chosen = [port for port in (self.port, *self.encrypted_ports.values()) if port]
        if len(chosen) != len(set(chosen)):
            raise InputError("two transports cannot have one port: UDP and TCP share theirs, each other has its own")
        if self.encrypted and self.certificate is None:
            raise InputError(f"{listed(self.encrypted)} cannot be served without a certificate")
        if self.threads < 1:
            raise InputError(f"a server needs at least one thread, not {self.threads}")
        check_udp_limit(self.udp_limit)
        if self.primary is not None and self.transfer_key is None:
            raise InputError("a secondary needs the key of its primary for zone transfers")
        if self.tcp_clients < 1:
            raise InputError(f"a server needs room for at least one TCP connection, not {self.tcp_clients}")
        if self.cpus is not None and not self.cpus:
            raise InputError("a server needs at least one CPU; leave the set out to let it use all")
