"""Which servers a fault is put before, and which items: every pair takes many minutes."""

import os
import zlib
from collections.abc import Mapping, Sequence

from dnsrig.verification.item import KnownItem, Role
from matrix_record import recorded

EVERY_PAIR = bool(os.environ.get("DNSRIG_EVERY_PAIR"))
"""Whether every fault is put before every server and every item, as is to be done before a release."""
EVERY_ITEM = EVERY_PAIR or bool(os.environ.get("DNSRIG_EVERY_ITEM"))
"""Whether every fault is put before every item, and before the server whose turn it is."""
TIMEOUT_S = 7200 if EVERY_ITEM else 300
"""How long a test may take, with the fixtures that it is the first to need."""
NEW_PAIRS = bool(os.environ.get("DNSRIG_NEW_PAIRS"))
"""Whether faults are put before those servers that the record has not, in the version that is installed."""
ALL_SERVERS = EVERY_PAIR or NEW_PAIRS
"""Whether faults are put before servers too that take no turns."""


SHARES = 60
"""Of the items that do not name a fault, one in so many is run with it: more take longer than a test may."""
PATH_SHARES = 6
"""The same of paths, which have few of both: each item is run with several faults that it does not name."""


def chosen_with(fault: str, known: Sequence[KnownItem], shares: int = SHARES) -> Sequence[KnownItem]:
    """Give the items that name a fault, and of the others a share, another with each fault, or all."""
    drawn = zlib.crc32(fault.encode())
    return [
        one
        for place, one in enumerate(known)
        if EVERY_ITEM or fault in one.item.faults or (place + drawn) % shares == 0
    ]


def in_turn(role: Role, part: str, fault: tuple[int, str], servers: Mapping[str, str]) -> Sequence[str]:
    """Give the servers that a fault, told by its place in its list and its name, is put before.

    `servers` has the versions of those that it can be put before by their names: one of them, each in its turn, all, or
    those that the record of a part of the matrix has not yet.
    """
    place, name = fault
    if EVERY_PAIR:
        return list(servers)
    if NEW_PAIRS:
        return [server for server, version in servers.items() if (role, part, server, version, name) not in recorded()]
    return [list(servers)[place % len(servers)]] if servers else []
