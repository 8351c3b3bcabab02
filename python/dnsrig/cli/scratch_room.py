"""Scratch folders of commands: where there is no room for them, it is said which folder is full, and what to do."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dnsrig import scratch
from dnsrig.errors import DnsrigError, EnvironmentLacksError, InputError
from dnsrig.runs.writing import NO_ROOM

LITTLE_OCTETS = 64 << 10
"""Where there is no more than this, a server that does not start may want for room: one file of its own is more."""
NEEDED_MB = 10
"""What the rig's zones or its tree, and a server's files, take."""


@contextmanager
def scratch_folder(kind: str = "verify-") -> Iterator[Path]:
    """Make a folder for what servers of the rig need, and remove it.

    Raises:
        EnvironmentLacksError: there is no room for it, or for what comes into it.

    """
    where = Path(tempfile.gettempdir())
    try:
        with scratch.scratch_folder(kind) as folder:
            try:
                yield folder
            except InputError:
                raise
            except DnsrigError as error:
                # Looked at before the folder is removed, which makes room.
                if _is_for_room(error, folder):
                    raise EnvironmentLacksError(f"{error}; {_advice(where)}") from error
                raise
    except OSError as error:
        is_elsewhere = error.filename is not None and not _is_in(os.fsdecode(error.filename), where)
        if error.errno not in NO_ROOM or is_elsewhere:
            raise
        raise EnvironmentLacksError(f"{error.strerror}: {_advice(where)}") from error


def _is_for_room(error: DnsrigError, folder: Path) -> bool:
    """Whether it says so of a file in the folder, or comes from a server that has no room there."""
    said = str(error)
    if str(folder) in said and any(os.strerror(number) in said for number in NO_ROOM):
        return True
    room = os.statvfs(folder)
    return room.f_bavail * room.f_frsize < LITTLE_OCTETS


def _is_in(path: str, where: Path) -> bool:
    return Path(path).absolute().is_relative_to(where.absolute())


def _advice(where: Path) -> str:
    return (
        f"the folder for temporary files, {where}, is full: make room there, or set TMPDIR to a folder with room for "
        f"{NEEDED_MB} MB, and twice the size of a zone file of yours"
    )
