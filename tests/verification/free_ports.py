"""Free ports for servers that a test starts later."""

import random
from pathlib import Path

from dnsrig.servers.ports import PortState, find_free_port, port_state

FIRST = 20_000
"""Fixed ports of servers are mostly lower."""
ATTEMPTS = 100


def free_port(address: str = "127.0.0.1") -> int:
    """Give a port that the system gives to no socket that takes any, as those of other tests do, if there is one."""
    first, last = map(int, Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split())
    kept = [port for port in range(FIRST, 1 << 16) if not first <= port <= last]
    for _ in range(ATTEMPTS if kept else 0):
        port = random.SystemRandom().choice(kept)
        if port_state(address, port) is PortState.FREE:
            return port
    return find_free_port(address)
