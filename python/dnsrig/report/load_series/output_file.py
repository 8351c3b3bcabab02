"""A file that gets its name when it is whole."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from dnsrig.errors import EnvironmentLacksError, InputError
from dnsrig.runs.writing import PARTIAL_SUFFIX

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_WRONG_PATH = {errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.ELOOP, errno.EINVAL}


class OutputFile:
    """A file that is written beside its name, with the suffix `.partial`, and renamed by `finish`.

    A device, a pipe, or what a path in /dev leads to is written as it is. All errors are those of `dnsrig.errors`,
    with the path.
    """

    def __init__(self, path: Path) -> None:
        """Open it, so that a path that cannot be written is known before the load."""
        self.path = path
        with self._explained():
            if path.is_dir():
                raise InputError(f"{path} is a folder; name a file")
            self.written_to = path if _is_stream(path) else path.with_name(path.name + PARTIAL_SUFFIX)
            # Unbuffered, so that closing after a failure has nothing left to write.
            self._file = self.written_to.open("wb", buffering=0)

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
            self._file.close()
            self.written_to.replace(self.path)

    def leave(self, *, keep: bool) -> None:
        """Close an unfinished file; one that is not worth keeping is removed. After `finish` nothing happens."""
        if self._file.closed:
            return
        with suppress(OSError):
            self._file.close()
            if not keep and self.written_to != self.path:
                self.written_to.unlink(missing_ok=True)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise _explain(error, self.path) from error


def _is_stream(path: Path) -> bool:
    # /dev/stdout may lead to a plain file, which the shell that opened it wants filled, not replaced.
    return Path("/dev") in path.absolute().parents or (path.exists() and not path.is_file())


def _explain(error: OSError, path: Path) -> EnvironmentLacksError | InputError:
    reason = error.strerror or str(error)
    if error.errno in _NO_ROOM:
        return EnvironmentLacksError(
            f"no room left while writing {path} ({reason}); free some, or name a file elsewhere"
        )
    if error.errno in _WRONG_PATH:
        return InputError(f"{path} cannot be written ({reason}); name a file in a folder that exists")
    return EnvironmentLacksError(f"{path} cannot be written ({reason})")
