"""dnsdist as load balancer in front of a resolver."""

from collections.abc import Iterator
from contextlib import contextmanager

from dnsrig.servers.resolvers.base import Resolver
from dnsrig.servers.resolvers.dnsdist import DnsdistProxy
from dnsrig.servers.resolvers.settings import Forwarder, ResolverSettings
from dnsrig.studies.resolving.place import Place

FRONT_PORT = 5300


@contextmanager
def front(server: Resolver, place: Place, cpus: frozenset[int]) -> Iterator[DnsdistProxy]:
    """Run dnsdist on the resolver's host, at `FRONT_PORT` of the clients' link; all queries go to the resolver."""
    address, port = server.address
    settings = ResolverSettings(
        addresses=(place.address,), port=FRONT_PORT, forwarders=(Forwarder(address, port),), cpus=cpus
    )
    with DnsdistProxy(settings, server.folder / "dnsdist", place.resolver) as proxy:
        yield proxy
