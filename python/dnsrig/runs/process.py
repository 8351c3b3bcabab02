"""Identity of a process that outlives re-use of its number: boot, pid and start time."""

import os
from pathlib import Path

_PROC = Path("/proc")
# Fields of /proc/PID/stat after the program's name, counted from 0 (proc(5): starttime is the 22nd of all).
_STATE, _START_TIME = 0, 19


def process_identity(pid: int | None = None) -> dict[str, object]:
    """Return what tells process `pid` (by default this one) from any other, also after a restart."""
    pid = os.getpid() if pid is None else pid
    return {"pid": pid, "start_ticks": _start_ticks(pid), "boot_id": _boot_id()}


def is_alive(identity: dict[str, object]) -> bool:
    """Say whether the process of `identity` still runs on this machine."""
    pid = identity.get("pid")
    if not isinstance(pid, int) or identity.get("boot_id") != _boot_id():
        return False
    start = _start_ticks(pid)
    return start is not None and start == identity.get("start_ticks")


def _start_ticks(pid: int) -> int | None:
    try:
        text = (_PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    return None if fields[_STATE] in {"Z", "X"} else int(fields[_START_TIME])


def _boot_id() -> str:
    try:
        return (_PROC / "sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""
