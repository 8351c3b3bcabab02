"""What the studies of resolvers let a user choose."""

from dataclasses import dataclass
from typing import Any

from dnsrig.studies.settings import StudySettings

MIB = 1 << 20
DEFAULT_PROFILE = "internet-2022"
UPSTREAM_QUERIES = 200
"""What BIND may send for one query of a client. With the 50 that it ships with (9.18.49), it answered SERVFAIL to 8 of
192 questions asked with an empty cache, 16 at a time, with 100 to none: addresses of name servers in other zones, which
are not in the cache either, are such queries, too."""
GATHERS_US = 1000
"""For how long an Internet without distances gathers queries in closed loops of 100. It takes a quarter less of CPU
time by that, and a resolver answers as many in a second: others are under way meanwhile."""
US_PER_OUTSTANDING = GATHERS_US / 100
"""Where fewer are under way it gathers for less: 100,000 upstream queries a second are the limit each time."""
RESOLVER_DEFAULTS: dict[str, Any] = {
    "upstream_queries": UPSTREAM_QUERIES,
    "gathers_us": GATHERS_US,
    "whole_packets": True,
    "rehearses_each": True,
}
"""What a new run has in every study of resolvers; one that is stored has what it says."""


@dataclass(frozen=True, slots=True)
class ResolverStudySettings(StudySettings):
    """What every study of resolvers lets a user choose. Times are in seconds, rates in queries per second."""

    profile: str = DEFAULT_PROFILE
    """Profile of the simulated Internet: a name, or a file that ends in `.toml`."""
    domains: int | None = None
    """Second-level domains of it; None: as many as the profile says."""
    distances: bool = False
    """Whether the Internet's servers are as far away as the profile says; else answers leave when they are made."""
    gathers_us: int = 0
    """Where they have no distances, for how many microseconds at most queries of closed loops that come one after the
    other are gathered to be answered together; 0: each is answered as it comes, as in runs before 29 November 2026."""
    whole_packets: bool = False
    """Whether the Internet sends its answers as whole packets on its link to the resolver, where that is permitted;
    else the system sends them, as in runs before 29 November 2026."""
    rehearses_each: bool = False
    """Whether every resolver asks each stream before anything is measured, as it is measured; else one that validates
    does for all, as in runs before 29 November 2026."""
    internet_memory_mib: int | None = None
    """Memory in MiB that zones, signatures and answers of each Internet may take; None: a share of what is free."""
    load_s: float = 5.0
    outstanding: int = 100
    clients: int = 50
    """Sockets or connections of the clients, in closed loops."""
    server_threads: int = 1
    cache_mib: int | None = None
    """Size of the resolver's cache; None: as it ships."""
    memory_limit_mib: int | None = None
    """Memory of its own that the resolver may have at most; None: no limit."""
    prefetch: bool = False
    serve_stale: bool = False
    """Whether resolvers answer with expired records where no server answers (RFC 8767)."""
    upstream_queries: int | None = None
    """What BIND may send for one query of a client; None: as it ships, as in runs before 28 November 2026."""
    udp_size: int | None = None
    """Octets that answers by UDP may have, on both sides of the resolver: it offers so many, and the servers of domains
    send up to 4096; None: as it ships, and as the profile says."""

    @property
    def loop_gathers_us(self) -> int:
        """For how many microseconds at most the Internet gathers queries in closed loops, if it has no distances."""
        return 0 if self.distances else min(self.gathers_us, round(US_PER_OUTSTANDING * self.outstanding))

    @property
    def cache_octets(self) -> int | None:
        """Size of the resolver's cache in octets."""
        return None if self.cache_mib is None else self.cache_mib * MIB

    @property
    def memory_octets(self) -> int | None:
        """Memory of its own in octets that the resolver may have at most."""
        return None if self.memory_limit_mib is None else self.memory_limit_mib * MIB
