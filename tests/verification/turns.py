"""Which servers a fault is put before, and which items: every pair takes many minutes."""

import os
from collections.abc import Sequence

EVERY_PAIR = bool(os.environ.get("DNSRIG_EVERY_PAIR"))
"""Whether every fault is put before every server and every item, as is to be done before a release."""


def in_turn(place: int, servers: Sequence[str]) -> Sequence[str]:
    """Give the servers that the fault at a place of its list is put before: one of them, each in its turn, or all."""
    return servers if EVERY_PAIR else [servers[place % len(servers)]]
