"""Links between namespaces: a pair of virtual Ethernet devices (veth(4)), one in each."""

from collections.abc import Sequence
from dataclasses import dataclass

from dnsrig.hosts.namespace import Namespace

ETHERNET_MTU = 1500
"""Octets of the largest packet on Ethernet."""


@dataclass(frozen=True, slots=True)
class End:
    """One end of a link."""

    namespace: Namespace
    device: str
    """What the device is called in the namespace; at most 15 characters."""
    addresses: Sequence[str] = ()
    """Its addresses, IPv4 and IPv6, with the prefix length of the link."""


def link(one: End, other: End, mtu: int = ETHERNET_MTU) -> None:
    """Connect two namespaces; both ends are up and have their addresses on return.

    Both devices are made where they belong, so that none is ever seen on the machine itself.
    """
    one.namespace.run_ip(
        *("link", "add", one.device, "mtu", str(mtu), "type", "veth"),
        *("peer", "name", other.device, "mtu", str(mtu), "netns", other.namespace.path),
        handed_down=[other.namespace.descriptor],
    )
    # Both at first: a device whose other end is down has no carrier, and IPv6 waits for that.
    for end in (one, other):
        end.namespace.run_ip("link", "set", end.device, "up")
    for end in (one, other):
        end.namespace.add_addresses(end.addresses, end.device)
