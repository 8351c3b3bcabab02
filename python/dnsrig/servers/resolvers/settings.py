"""What the driver of a resolver or proxy is told."""

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import dns.exception
import dns.name
import dns.rdataclass
import dns.rdatatype
import dns.zonefile

from dnsrig.errors import InputError
from dnsrig.servers.certificates import Certificate
from dnsrig.servers.interruption import raise_interruption
from dnsrig.servers.rendering import zone_name
from dnsrig.servers.resolvers.anchors import Anchor, read_anchors
from dnsrig.servers.settings import check_udp_limit
from dnsrig.servers.transports import EncryptedTransport, listed

SMALLEST_CACHE_OCTETS = 2 << 20
"""BIND takes no less."""
SMALLEST_MEMORY_OCTETS = 8 << 20


@dataclass(frozen=True, slots=True)
class Forwarder:
    """Where a proxy sends queries."""

    address: str
    port: int = 53
    sockets: int = 1
    """Ports that queries by UDP come from, where the proxy can be told (dnsdist)."""

    def __post_init__(self) -> None:
        _check_address(self.address, "to forward to")
        _check_port(self.port, lowest=1)


@dataclass(frozen=True, slots=True)
class ManagedAnchors:
    """Trust anchors follow the zone's keys (RFC 5011), with times that a test can wait for."""

    hold_down_s: int = 10
    """How long a new key must be seen before it is trusted, and a revoked one be remembered; 30 days in RFC 5011."""
    probe_s: int = 1
    """How often the DNSKEY RRset is asked for, where the server lets that be set; see the driver's remarks."""

    def __post_init__(self) -> None:
        if self.hold_down_s < 1 or self.probe_s < 1:
            raise InputError("hold-down and probing interval are whole seconds, of at least 1")


@dataclass(frozen=True, slots=True)
class ResolverSettings:
    """How a resolver or proxy runs. What is not named here stays as the distribution ships it."""

    addresses: tuple[str, ...] = ("127.0.0.1",)
    """IPv4 and IPv6 addresses, of its host, to listen on."""
    port: int = 0
    """UDP and TCP port of all addresses; 0 takes a free one."""
    root_hints: str = ""
    """For resolvers: names and addresses of the tree's root servers, as a zone file (RFC 9609), such as named.root."""
    forwarders: tuple[Forwarder, ...] = ()
    """For proxies."""
    trust_anchors: str = ""
    """DS or DNSKEY records in zone file format; needed for validation."""
    managed: ManagedAnchors | None = None
    """Keep the trust anchors up to date (RFC 5011), in servers that can; None leaves them as they are."""
    validate: bool | None = None
    """Whether it validates (RFC 4035 section 5); None: a resolver if it has trust anchors, a proxy does not."""
    unhidden: tuple[str, ...] = ()
    """Zones of the tree that the server's built-in empty zones must not hide, such as test."""
    cache: Literal["server", "on"] = "server"
    """`on`: a proxy that ships without a cache gets one."""
    cache_octets: int | None = None
    """For resolvers: memory for cached records and messages, at most; None: as it ships."""
    memory_octets: int | None = None
    """Memory of its own (RLIMIT_DATA of setrlimit(2)) that it may have; several processes have equal parts of it, as
    the kernel limits each. None: no limit."""
    prefetch: bool | None = None
    """For resolvers: whether popular records are asked for again before they expire; None: as it ships."""
    serve_stale: bool | None = None
    """For resolvers: whether expired records are answered where no server answers (RFC 8767); None: as it ships."""
    statistics: bool = False
    """For resolvers: whether it can be asked what it counts (`Resolver.counts`)."""
    encrypted_ports: Mapping[EncryptedTransport, int] = field(default_factory=dict)
    """For resolvers: encrypted transports to serve beside UDP and TCP, each on a port; they need a `certificate`."""
    certificate: Certificate | None = None
    tcp_clients: int | None = None
    """For resolvers: connections of clients at a time, where there is a limit that can be set; None: as it ships."""
    upstream_queries: int | None = None
    """For resolvers: queries that one of a client may lead to, where an empty cache meets a limit that can be set (of
    BIND, max-recursion-queries); None: as it ships."""
    ready: Literal["resolves", "responds"] | None = None
    """What `start` waits for: the root's SOA record, or any response; None: a resolver resolves, a proxy responds.

    It asks for the root's SOA record, without EDNS, so the tree's root, or a proxy's upstream, must be there before.
    """
    udp_limit: int | None = None
    """Octets that responses by UDP may have, where the server can be told (`can_limit_udp`); None: as it ships."""
    verbose: bool = False
    """Log queries, and why an answer is bogus, where the server can."""
    threads: int = 1
    cpus: frozenset[int] | None = None
    """Numbers of the CPUs that it may use; None leaves it free."""
    deadline_s: float | None = None
    """How long it may take until it is ready; None: 15 s."""
    anchors: tuple[Anchor, ...] = field(init=False)
    """The records of `trust_anchors`."""

    def __post_init__(self) -> None:
        if not self.addresses:
            raise InputError("a resolver needs an address to listen on")
        for address in self.addresses:
            _check_address(address, "to listen on")
        _check_port(self.port, lowest=0)
        if self.cache_octets is not None and self.cache_octets < SMALLEST_CACHE_OCTETS:
            raise InputError(f"a cache has at least {SMALLEST_CACHE_OCTETS} octets, not {self.cache_octets}")
        if self.memory_octets is not None and self.memory_octets < SMALLEST_MEMORY_OCTETS:
            raise InputError(f"a server cannot start with {self.memory_octets} octets of memory")
        for port in self.encrypted_ports.values():
            _check_port(port, lowest=1)
        if self.encrypted_ports and self.certificate is None:
            raise InputError(f"{listed(frozenset(self.encrypted_ports))} cannot be served without a certificate")
        if self.threads < 1:
            raise InputError(f"a server needs at least one thread, not {self.threads}")
        check_udp_limit(self.udp_limit)
        if self.cpus is not None and not self.cpus:
            raise InputError("a server needs at least one CPU; leave the set out to let it use all")
        object.__setattr__(self, "unhidden", tuple(zone_name(name) for name in self.unhidden))
        object.__setattr__(self, "anchors", read_anchors(self.trust_anchors) if self.trust_anchors.strip() else ())
        if self.root_hints and not self._hinted_addresses():
            raise InputError("the root hints hold no address of a root server")
        if self.managed and not self.anchors:
            raise InputError("trust anchors cannot be kept up to date (RFC 5011) where there is none to begin with")

    @property
    def asks_ipv6(self) -> bool:
        """Whether an upstream, root server or forwarder, has an IPv6 address."""
        upstream = [*self._hinted_addresses(), *(forwarder.address for forwarder in self.forwarders)]
        return any(":" in address for address in upstream)

    def _hinted_addresses(self) -> list[str]:
        try:
            rrsets = dns.zonefile.read_rrsets(
                self.root_hints, origin=dns.name.root, relativize=False, rdclass=None, default_ttl=3600
            )
        except (dns.exception.DNSException, ValueError) as error:
            raise_interruption(error)
            raise InputError(f"the root hints cannot be read: {error}") from error
        wanted = {dns.rdatatype.A, dns.rdatatype.AAAA}
        return [rdata.to_text() for rrset in rrsets if rrset.rdtype in wanted for rdata in rrset]


def _check_address(address: str, what_for: str) -> None:
    try:
        ipaddress.ip_address(address)
    except ValueError:
        raise InputError(f"{address!r} is not an IPv4 or IPv6 address {what_for}") from None


def _check_port(port: int, lowest: int) -> None:
    if not lowest <= port <= 65535:
        raise InputError(f"port {port} is not between {lowest} and 65535")
