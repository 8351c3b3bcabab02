"""Ports that nothing has, for what is started afterwards."""

import random
from pathlib import Path

from dnsrig.servers.ports import PortState, port_state

FIRST = 20_000
"""Fixed ports of servers are mostly lower."""
ATTEMPTS = 1000


def free_port(address: str = "127.0.0.1") -> int:
    """Give a port below those that the system gives to sockets that take any: no test beside this one comes first."""
    end = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    for _ in range(ATTEMPTS):
        port = random.SystemRandom().randrange(FIRST, max(end, FIRST + 1))
        if port_state(address, port) is PortState.FREE:
            return port
    raise AssertionError(f"no port from {FIRST} to {end - 1} is free")
