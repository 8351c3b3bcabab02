"""Links between namespaces: a pair of virtual Ethernet devices (veth(4)), one in each."""

import fcntl
import socket
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from dnsrig.errors import EnvironmentLacksError
from dnsrig.hosts.namespace import Namespace

ETHERNET_MTU = 1500
"""Octets of the largest packet on Ethernet."""
SIOCGIFFLAGS = 0x8913
"""Request to ioctl(2) for the flags of a device, in a `struct ifreq` (netdevice(7))."""
IFF_RUNNING = 0x40
SIOCGIFHWADDR = 0x8927
"""Request for its hardware address, of 6 octets on Ethernet."""
CARRIER_S = 10.0
CARRIER_POLL_S = 0.001


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
    ends = (one, other)
    for end in ends:
        end.namespace.run_ip("link", "set", end.device, "up")
    # Packets are lost until a device has a carrier, which it has a moment after its other end is up.
    for end in ends:
        end.namespace.call(partial(_wait_running, end.device))
    for end in ends:
        end.namespace.add_addresses(end.addresses, end.device)


def hardware_address(end: End) -> bytes:
    """Give the 6 octets that packets to this end of a link are addressed to."""

    def asked() -> bytes:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as channel:
            answer = fcntl.ioctl(channel, SIOCGIFHWADDR, struct.pack("16s24x", end.device.encode()))
        # Behind the name comes a `struct sockaddr`, whose family takes two octets.
        return answer[18:24]

    return end.namespace.call(asked)


def device_index(end: End) -> int:
    """Give the number of an end of a link in its namespace."""
    return end.namespace.call(lambda: socket.if_nametoindex(end.device))


def _wait_running(device: str) -> None:
    """Wait until a device of the thread's namespace can send (RFC 2863, operational status up)."""
    deadline = time.monotonic() + CARRIER_S
    request = struct.pack("16sh14x", device.encode(), 0)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as channel:
        while True:
            _, flags = struct.unpack("16sh14x", fcntl.ioctl(channel, SIOCGIFFLAGS, request))
            if flags & IFF_RUNNING:
                return
            if time.monotonic() > deadline:
                raise EnvironmentLacksError(f"the device {device} has no carrier after {CARRIER_S:.0f} s")
            time.sleep(CARRIER_POLL_S)
