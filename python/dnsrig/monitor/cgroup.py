"""A process's own control group, where there is one: the kernel's account of everything that ran in it."""

import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from dnsrig.monitor.proc import parse_cgroups

_MOUNT = Path("/sys/fs/cgroup")


@dataclass(frozen=True, slots=True)
class Cgroup:
    """A control group that holds the watched processes and no others. `version` is 1 or 2."""

    version: int
    cpu_file: Path
    memory_file: Path | None

    def cpu_ns(self) -> int:
        """Return the CPU time in ns of all that ever ran in the group. Raises OSError when it is gone."""
        text = self.cpu_file.read_text()
        if self.version == 1:
            return int(text)
        fields = dict(line.split(" ", 1) for line in text.splitlines())
        return int(fields["usage_usec"]) * 1000

    def memory_bytes(self) -> int | None:
        """Return the memory charged to the group, page cache included; None without a memory controller."""
        return None if self.memory_file is None else int(self.memory_file.read_text())


def own_cgroup(pids: Collection[int], *, proc: Path = Path("/proc"), mount: Path = _MOUNT) -> Cgroup | None:
    """Return the control group that `pids` have to themselves; None where they share theirs with others."""
    if not pids:
        return None
    try:
        paths = parse_cgroups((proc / str(min(pids)) / "cgroup").read_bytes())
    except OSError:
        return None
    for version, controller, folders in (
        (1, "cpuacct", (mount / "cpuacct", mount / "cpu,cpuacct")),
        (2, "", (mount, mount / "unified")),
    ):
        path = paths.get(controller, "/")
        for folder in folders:
            found = _usable(version, folder / path.lstrip("/"), pids) if path != "/" else None
            if found is not None:
                memory = mount / "memory" / paths.get("memory", "/").lstrip("/") / "memory.usage_in_bytes"
                own_memory = memory if version == 1 and paths.get("memory", "/") == path else None
                if version == 2:
                    own_memory = found.parent / "memory.current"
                return Cgroup(version, found, own_memory if own_memory and _readable(own_memory) else None)
    return None


def _usable(version: int, folder: Path, pids: Collection[int]) -> Path | None:
    cpu_file = folder / ("cpuacct.usage" if version == 1 else "cpu.stat")
    try:
        members = {int(line) for line in (folder / "cgroup.procs").read_text().split()}
    except (OSError, ValueError):
        return None
    return cpu_file if members and members <= set(pids) and _readable(cpu_file) else None


def _readable(path: Path) -> bool:
    return os.access(path, os.R_OK)
