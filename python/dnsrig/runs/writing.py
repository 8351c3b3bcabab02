"""Writing a run's files: whole or not at all, and with a clear error when the disk is full."""

import errno
import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path

from dnsrig.errors import EnvironmentLacksError

PARTIAL_SUFFIX = ".partial"
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT}


class DiskFullError(EnvironmentLacksError):
    """A file of a run could not be written for lack of room."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"no room left on the disk while writing {path}; the run is incomplete. Free some space, then go "
            "on with `dnsrig run --resume RUN`"
        )
        self.path = path


def write_whole(path: Path, write: Callable[[Path], None]) -> None:
    """Let `write` fill a file beside `path`, then put it in place by an atomic rename.

    Raises DiskFullError when there is no room; other operating system errors pass. Nothing partial stays.
    """
    partial = path.with_name(path.name + PARTIAL_SUFFIX)
    try:
        write(partial)
        _sync(partial)
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        if error.errno in _NO_ROOM:
            raise DiskFullError(path) from error
        raise


def write_text(path: Path, text: str) -> None:
    """Write a UTF-8 text file, whole or not at all."""
    write_whole(path, lambda partial: _write_bytes(partial, text.encode()))


def write_json(path: Path, value: object) -> None:
    """Write `value` as indented JSON, whole or not at all. NaN and infinity are refused by ValueError."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def sha256(path: Path) -> str:
    """Return a file's SHA-256 in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write_bytes(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
