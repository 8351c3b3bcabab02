"""Memory for simulated Internets, as much as is free: what was rehearsed is there when it is measured."""

import contextlib
from pathlib import Path

from dnsrig.studies.resolving.settings import MIB

SHARE_OF_FREE = 0.5
"""Share of the free memory that the Internets of a run may take together; the rest is for streams and resolvers."""
LEAST_MIB = 256
MOST_MIB = 1 << 20
MADE_TOLERATED = 0.05
"""Zones and signatures for each upstream query, made during a load, from which resolvers waited for the Internet."""
MADE_AT_LEAST = 20
"""Fewer say nothing, where a hot cache leaves few upstream queries."""
LIMITS = (
    ("memory.max", "memory.current", "memory.stat", "inactive_file"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "memory/memory.stat", "total_inactive_file"),
)
"""Of the control group, versions 2 and 1: files with its limit, with what it uses, and how much of that the kernel
gives up when it is wanted, files that were read."""


def share_of_free_mib(internets: int, root: Path = Path("/")) -> int:
    """Give how many MiB each of so many Internets may take; it takes them only as it needs them."""
    each = free_octets(root) * SHARE_OF_FREE / max(1, internets) / MIB
    return round(min(MOST_MIB, max(LEAST_MIB, each)))


def free_octets(root: Path = Path("/")) -> int:
    """Give what programs may still take: of the machine (proc_meminfo(5)), and of this process's control group."""
    found = [_available(root), *_left_in_group(root)]
    return max(0, min(found))


def _available(root: Path) -> int:
    for line in (root / "proc/meminfo").read_text(encoding="ascii").splitlines():
        key, _, value = line.partition(":")
        if key == "MemAvailable":
            return int(value.split()[0]) * 1024
    return LEAST_MIB * MIB


def _left_in_group(root: Path) -> list[int]:
    """Give what the control group leaves, if it has a limit. A container sees its own group as the root of all."""
    found = []
    group = root / "sys/fs/cgroup"
    for limit, used, counts, given_up in LIMITS:
        # `max` stands for no limit; a file that is not there is of the other version.
        with contextlib.suppress(OSError, ValueError):
            left = int((group / limit).read_text()) - int((group / used).read_text())
            found.append(left + _count(group / counts, given_up))
    return found


def _count(path: Path, key: str) -> int:
    """Read a number of a file of keys and values; 0 where it is not there."""
    with contextlib.suppress(OSError, ValueError):
        return next((int(line.split()[1]) for line in path.read_text().splitlines() if line.split()[:1] == [key]), 0)
    return 0
