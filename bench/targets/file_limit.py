"""How many sockets one process may have."""

import contextlib
import resource
from pathlib import Path

OTHER_FILES = 256
"""Open files of a generator beside those of its clients."""


def file_limit() -> int:
    """Give the largest number of open files that a process of this user can have; raises the limit if permitted."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = int(Path("/proc/sys/fs/nr_open").read_text())
    with contextlib.suppress(ValueError, PermissionError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, most))
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def clients_permitted(wanted: int) -> int:
    """Give how many of `wanted` clients with a socket each one process can have."""
    return min(wanted, file_limit() - OTHER_FILES)
