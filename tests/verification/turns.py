"""Which servers a fault is put before, and which items: every pair takes many minutes."""

import os
import zlib
from collections.abc import Sequence

from dnsrig.verification.item import KnownItem

EVERY_PAIR = bool(os.environ.get("DNSRIG_EVERY_PAIR"))
"""Whether every fault is put before every server and every item, as is to be done before a release."""


SHARES = 60
"""Of the items that do not name a fault, one in so many is run with it: more take longer than a test may."""


def chosen_with(fault: str, known: Sequence[KnownItem]) -> Sequence[KnownItem]:
    """Give the items that name a fault, and of the others a share, another with each fault, or all."""
    drawn = zlib.crc32(fault.encode())
    return [
        one
        for place, one in enumerate(known)
        if EVERY_PAIR or fault in one.item.faults or (place + drawn) % SHARES == 0
    ]


def in_turn(place: int, servers: Sequence[str]) -> Sequence[str]:
    """Give the servers that the fault at a place of its list is put before: one of them, each in its turn, or all."""
    return servers if EVERY_PAIR else [servers[place % len(servers)]]
