"""The networks in which the roles are verified. No namespace of them has a route out of them."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Literal

from dnsrig.hosts.namespace import Namespace
from dnsrig.hosts.network.links import ETHERNET_MTU, End, link

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class AddressPair:
    """The addresses of one end of a link, and the length of the link's prefixes."""

    ipv4: str
    ipv6: str
    ipv4_prefix: int = 24
    ipv6_prefix: int = 64

    def with_prefix(self, *, ipv6: bool) -> list[str]:
        """Give both as `ip address add` takes them, or the IPv4 address alone."""
        addresses = [f"{self.ipv4}/{self.ipv4_prefix}"]
        return [*addresses, f"{self.ipv6}/{self.ipv6_prefix}"] if ipv6 else addresses


CLIENT = AddressPair("192.168.53.2", "fd53:1::2")
"""The client, on the inner link, as at home behind a router."""
INNER = AddressPair("192.168.53.1", "fd53:1::1")
"""The router or proxy on the inner link."""
OUTER = AddressPair("198.18.53.2", "fd53:2::2")
"""The router or proxy on the outer link (198.18.0.0/15 is for tests, RFC 2544)."""
SERVER = AddressPair("198.18.53.1", "fd53:2::1")
"""The server, on the outer link."""
BRIDGED_CLIENT = AddressPair("198.18.53.3", "fd53:2::3")
"""The client where a bridge makes one link of both."""


@dataclass(frozen=True, slots=True)
class ResolverNetwork:
    """A resolver, asked from its own host at 127.0.0.1, and the tree of zones that it resolves against."""

    resolver: Namespace
    tree: Namespace
    """Has the addresses of the tree's servers; the same namespace as `resolver` unless they are linked."""


@contextmanager
def resolver_network(tree_addresses: Sequence[str], *, linked: bool = False) -> Iterator[ResolverNetwork]:
    """Make the network for the role `resolver`.

    Args:
        tree_addresses: the addresses of the tree's servers, IPv4 and IPv6, without prefix length.
        linked: put the tree on a host of its own, at the other end of an Ethernet link: packets have 1500 octets at
            most, as on the Internet; otherwise all addresses are on the resolver's loopback device.

    Raises:
        EnvironmentLacksError: namespaces cannot be made; see `Namespace`.

    """
    with ExitStack() as stack:
        resolver = stack.enter_context(Namespace("resolver"))
        tree = resolver
        if linked:
            tree = stack.enter_context(Namespace("tree"))
            ipv6 = resolver.has_ipv6
            link(
                End(resolver, "to-tree", OUTER.with_prefix(ipv6=ipv6)),
                End(tree, "to-resolver", SERVER.with_prefix(ipv6=ipv6)),
            )
        tree.add_addresses(tree_addresses)
        if linked:
            # And no default route: what is not of the tree is unreachable at once, as it is without a link.
            for address in tree_addresses:
                resolver.add_route(address, SERVER.ipv6 if ":" in address else SERVER.ipv4)
        yield ResolverNetwork(resolver, tree)


Middle = Literal["router", "host", "bridge"]
"""What stands between client and server: a router; a host on both links that forwards nothing; an Ethernet bridge."""


@dataclass(frozen=True, slots=True)
class PathNetwork:
    """Client - middle - server, a namespace each, for the roles `proxy` and `path`.

    The middle's devices are `inner`, to the client, and `outer`, to the server.
    """

    client: Namespace
    middle: Namespace
    server: Namespace
    client_addresses: AddressPair
    server_addresses: AddressPair = SERVER
    inner_addresses: AddressPair | None = INNER
    """Of the middle towards the client, where a proxy is asked; None for a bridge, which has none."""
    outer_addresses: AddressPair | None = OUTER
    """Of the middle towards the server."""

    def set_mtu(self, *, inner: int | None = None, outer: int | None = None) -> None:
        """Set the MTU of a whole link, at both ends, in octets; at least 1280 where IPv6 is to work (RFC 8200)."""
        if inner is not None:
            self.client.set_mtu("inner", inner)
            self.middle.set_mtu("inner", inner)
        if outer is not None:
            self.server.set_mtu("outer", outer)
            self.middle.set_mtu("outer", outer)


@contextmanager
def path_network(middle: Middle = "router", server_addresses: Sequence[str] = ()) -> Iterator[PathNetwork]:
    """Make a network of client, middle and server.

    A router's or bridge's rules are set by `PathNetwork.middle.set_rules`. A proxy runs in a middle that is a `host`,
    or a `router` as at home, where the client reaches the server without it as well.

    Args:
        middle: what stands between client and server.
        server_addresses: more addresses of the server, without prefix length, which client and middle reach; those of
            IPv6 are left out where the system has none.

    Raises:
        EnvironmentLacksError: namespaces cannot be made; see `Namespace`.

    """
    with ExitStack() as stack:
        client, between, server = (stack.enter_context(Namespace(role)) for role in ("client", middle, "server"))
        ipv6 = client.has_ipv6
        bridged = middle == "bridge"
        of_client = BRIDGED_CLIENT if bridged else CLIENT
        link(
            End(client, "inner", of_client.with_prefix(ipv6=ipv6)),
            End(between, "inner", () if bridged else INNER.with_prefix(ipv6=ipv6)),
            ETHERNET_MTU,
        )
        link(
            End(server, "outer", SERVER.with_prefix(ipv6=ipv6)),
            End(between, "outer", () if bridged else OUTER.with_prefix(ipv6=ipv6)),
            ETHERNET_MTU,
        )
        server.add_addresses([address for address in server_addresses if ipv6 or ":" not in address])
        _connect(client, between, server, middle, ipv6=ipv6)
        if bridged:
            yield PathNetwork(client, between, server, of_client, SERVER, None, None)
        else:
            yield PathNetwork(client, between, server, of_client)


def _connect(client: Namespace, between: Namespace, server: Namespace, middle: Middle, *, ipv6: bool) -> None:
    """Set routes, forwarding or the bridge."""
    if middle == "bridge":
        between.add_bridge("bridge", ["inner", "outer"])
        ways = [(client, SERVER)]
    else:
        ways = [(client, INNER), (between, SERVER), (server, OUTER)]
    if middle == "router":
        between.forward()
    for namespace, gateway in ways:
        namespace.add_route("default", gateway.ipv4)
        if ipv6:
            namespace.add_route("default", gateway.ipv6)
