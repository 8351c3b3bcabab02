"""dnsdist as load balancer in front of several resolvers, which are measured as one."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Protocol

from dnsrig.servers.resolvers.base import Resolver
from dnsrig.servers.resolvers.counts import ResolverCounts
from dnsrig.servers.resolvers.dnsdist import DnsdistProxy
from dnsrig.servers.resolvers.settings import Forwarder, ResolverSettings
from dnsrig.studies.resolving.place import Place

FRONT_PORT = 5300
SECOND_PORT = 5301
"""Of the other resolver behind dnsdist, which has the address of the first."""
SOCKETS_A_THREAD = 8
"""So many source ports that each thread has its share of them, more or less."""


class Measured(Protocol):
    """What is asked of a resolver while it is measured, or of several together."""

    @property
    def title(self) -> str:
        """Its name for readers."""

    def pids(self) -> list[int]:
        """List its processes."""

    def check_running(self) -> None:
        """Raise SubjectFailedError if it has ended."""

    def counts(self) -> ResolverCounts:
        """Say what it has counted since its start."""

    def counts_in_load(self) -> ResolverCounts:
        """Say the same while it is measured, without what takes long to say."""

    def flush_cache(self) -> None:
        """Empty its caches."""


class Several:
    """Resolvers behind a proxy: processes and counts are those of all resolvers, the proxy's own are not among them."""

    def __init__(self, resolvers: Sequence[Resolver], proxy: DnsdistProxy) -> None:
        """Take resolvers of one kind, which run."""
        self.title: str = resolvers[0].title
        self.resolvers = resolvers
        self._proxy = proxy

    def pids(self) -> list[int]:
        """List the processes of all resolvers."""
        return [pid for resolver in self.resolvers for pid in resolver.pids()]

    def check_running(self) -> None:
        """Raise SubjectFailedError if a resolver has ended, or the proxy."""
        for server in (*self.resolvers, self._proxy):
            server.check_running()

    def counts(self) -> ResolverCounts:
        """Add up what the resolvers have counted."""
        return _added(self.counts_of_each())

    def counts_in_load(self) -> ResolverCounts:
        """Add up what they have counted, without what takes long to say."""
        return _added([resolver.counts_in_load() for resolver in self.resolvers])

    def flush_cache(self) -> None:
        """Empty the caches of all resolvers."""
        for resolver in self.resolvers:
            resolver.flush_cache()

    def counts_of_each(self) -> list[ResolverCounts]:
        """Ask each resolver for its counts."""
        return [resolver.counts() for resolver in self.resolvers]


def _added(counts: Sequence[ResolverCounts]) -> ResolverCounts:
    return ResolverCounts(
        queries=sum(item.queries for item in counts),
        cache_hits=sum(item.cache_hits for item in counts),
        cache_octets=_sum([item.cache_octets for item in counts]),
        cache_entries=_sum([item.cache_entries for item in counts]),
    )


def _sum(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


@contextmanager
def balanced(first: Resolver, others: Sequence[Resolver], place: Place, cpus: frozenset[int]) -> Iterator[Several]:
    """Start resolvers beside one that runs, and dnsdist before them all, at `FRONT_PORT` of the clients' link.

    Args:
        first: the resolver that runs.
        others: resolvers of its kind, each with a port of its own at its address.
        place: where they are.
        cpus: the processors of dnsdist: not those of the resolvers, whose cost is to be measured.

    """
    with ExitStack() as stack:
        for other in others:
            stack.enter_context(other)
        resolvers = (first, *others)
        # The kernel divides queries among a resolver's threads by where they come from.
        threads = first.settings.threads
        sockets = 1 if threads == 1 else SOCKETS_A_THREAD * threads
        forwarders = tuple(Forwarder(*resolver.address, sockets) for resolver in resolvers)
        settings = ResolverSettings(addresses=(place.address,), port=FRONT_PORT, forwarders=forwarders, cpus=cpus)
        proxy = stack.enter_context(DnsdistProxy(settings, first.folder / "dnsdist", place.resolver))
        yield Several(resolvers, proxy)
