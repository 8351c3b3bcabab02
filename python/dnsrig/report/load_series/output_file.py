"""A file that gets its name when it is whole."""

import errno
import fcntl
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from dnsrig.errors import InputError
from dnsrig.runs.writing import PARTIAL_SUFFIX, is_stream, unwritable

_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}


class OutputFile:
    """A file that is written beside its name, with the suffix `.partial`, and renamed by `finish`.

    It is locked meanwhile, so that another process cannot write the same one. A device, a pipe, or what a path in /dev
    leads to is written as it is. All errors are those of `dnsrig.errors`, with the path.
    """

    def __init__(self, path: Path) -> None:
        """Open it, so that a path that cannot be written is known before the load."""
        self.path = path
        with self._explained():
            if path.is_dir():
                raise InputError(f"{path} is a folder; name a file")
            self.written_to = path if is_stream(path) else partial_of(path)
            # Unbuffered, so that closing after a failure has nothing left to write.
            self._file = path.open("wb", buffering=0) if self.written_to == path else _locked(self.written_to)

    def write(self, data: bytes) -> None:
        """Hand all of `data` to the operating system, where readers of the file see it at once."""
        with self._explained():
            rest = memoryview(data)
            while rest:
                rest = rest[self._file.write(rest) or 0 :]

    def finish(self) -> None:
        """Put the file in place, safe on the disk."""
        with self._explained():
            if self.written_to == self.path:
                self._file.close()
                return
            os.fsync(self._file.fileno())
            # Renamed before the lock goes with the closed file: who waits for that must not find it under this name.
            self.written_to.replace(self.path)
            self._file.close()

    def leave(self, *, keep: bool) -> None:
        """Close an unfinished file; one that is not worth keeping is removed. After `finish` nothing happens."""
        if self._file.closed:
            return
        with suppress(OSError):
            if not keep and self.written_to != self.path:
                self.written_to.unlink(missing_ok=True)
        with suppress(OSError):
            self._file.close()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise unwritable(self.path, error, "name a file elsewhere") from error


def partial_of(path: Path) -> Path:
    """Give the name under which an unfinished file called `path` is written."""
    return path.with_name(path.name + PARTIAL_SUFFIX)


def _locked(path: Path) -> io.FileIO:
    """Open `path` for writing, empty and locked.

    Raises InputError if another process has it locked; other errors of the system pass.
    """
    while True:
        # Opened without emptying it: it may be another process's.
        file = io.FileIO(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666), "wb")
        try:
            _lock(file, path)
            if _is_at(file, path):
                file.truncate()
                return file
        except BaseException:
            file.close()
            raise
        # Whoever had it renamed or removed it between the opening and the lock.
        file.close()


def _lock(file: io.FileIO, path: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InputError(f"{path} is being written by another process; wait for it, or name another file") from None
    except OSError as error:
        # A network's file system may have no locks at all; without them it works as well.
        if error.errno not in _NO_LOCKS:
            raise


def _is_at(file: io.FileIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False
