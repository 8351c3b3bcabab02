"""Which processes descend from a process, from /proc."""

from collections.abc import Mapping
from pathlib import Path

PROC = Path("/proc")


def parents() -> dict[int, int]:
    """Map each live process's pid to its parent's pid (proc(5), /proc/PID/stat); zombies are left out."""
    table = {}
    for entry in PROC.iterdir():
        if not entry.name.isdigit():
            continue
        try:
            stat = (entry / "stat").read_text(errors="replace")
        except OSError:
            continue
        state, parent = stat.rpartition(")")[2].split()[:2]
        if state not in "ZX":
            table[int(entry.name)] = int(parent)
    return table


def descendants(ancestor: int, parent_of: Mapping[int, int] | None = None) -> list[int]:
    """List the pids of all live descendants of a process, without itself, in ascending order."""
    parent_of = parents() if parent_of is None else parent_of
    children: dict[int, list[int]] = {}
    for pid, parent in parent_of.items():
        children.setdefault(parent, []).append(pid)
    found: list[int] = []
    waiting = [ancestor]
    while waiting:
        waiting.extend(new := children.pop(waiting.pop(), []))
        found.extend(new)
    return sorted(found)


def threads(pid: int) -> list[int]:
    """List the ids of a process's threads; empty if it has ended."""
    try:
        return [int(entry.name) for entry in (PROC / str(pid) / "task").iterdir()]
    except OSError:
        return []


def newest_pid() -> int:
    """Give the pid (or thread id) that the kernel assigned last: while it stays, no process was born."""
    return int((PROC / "loadavg").read_text().split()[-1])


def is_live(pid: int) -> bool:
    """Say whether a process exists and is no zombie."""
    try:
        stat = (PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def out_of_memory_kills() -> int:
    """Count the processes that the kernel has ended since it booted for want of memory; 0 if it does not say."""
    try:
        lines = (PROC / "vmstat").read_text().splitlines()
    except OSError:
        return 0
    counts = (line.partition(" ")[2] for line in lines if line.startswith("oom_kill "))
    return int(next(counts, "0"))
