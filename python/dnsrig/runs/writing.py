"""Writing files: whole or not at all, and with a clear error when the disk is full."""

import errno
import hashlib
import json
import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from dnsrig.errors import EnvironmentLacksError, InputError

PARTIAL_SUFFIX = ".partial"
NO_ROOM = {errno.ENOSPC, errno.EDQUOT}
WRONG_PATH = {
    errno.EEXIST,
    errno.EINVAL,
    errno.EISDIR,
    errno.ELOOP,
    errno.ENAMETOOLONG,
    errno.ENOENT,
    errno.ENOTDIR,
}
"""What the system says of names that no file or folder can have; anything else is this machine's doing."""
_SYSTEM_FOLDERS = {Path("/dev"), Path("/proc")}
_SHARED_MEMORY = Path("/dev/shm")
"""Below /dev, but a folder of plain files."""
_BEGIN_OCTETS = 200
"""Of a file's name so many are in that of the file beside it."""
_LINKS_MAX = 40
"""As many symbolic links as Linux follows."""


class DiskFullError(EnvironmentLacksError):
    """A file of a run could not be written for lack of room."""

    def __init__(self, path: Path, advice: str = "free some") -> None:
        super().__init__(f"no room left on the disk while writing {path}; {advice}")
        self.path = path


def unwritable(path: Path, error: DiskFullError | OSError, advice: str) -> InputError | EnvironmentLacksError:
    """Give the error that a file or folder cannot be written: of the input where there can be none of that name."""
    if isinstance(error, DiskFullError) or error.errno in NO_ROOM:
        return EnvironmentLacksError(f"{path} cannot be written: no room left on the disk; make some, or {advice}")
    return kind_of_unwritable(error)(f"{path} cannot be written: {error.strerror or error}; {advice}")


def kind_of_unwritable(error: OSError) -> type[InputError] | type[EnvironmentLacksError]:
    """Tell whether the input is wrong, that names what cannot be a file, or this machine lacks room or a permission."""
    return InputError if error.errno in WRONG_PATH else EnvironmentLacksError


def write_whole(path: Path, write: Callable[[Path], None]) -> None:
    """Let `write` fill a file beside `path`, then put it in place by an atomic rename.

    A symbolic link stays, and the file that it leads to is replaced. A device, a pipe, or what a path in /dev leads to
    is never replaced: `write` gets it as it is.

    Raises DiskFullError when there is no room; other operating system errors pass. Nothing partial stays, also where it
    is interrupted.
    """
    is_replaced = not is_stream(path)
    target = Path(os.path.realpath(path)) if is_replaced else path
    written_to = _beside(target) if is_replaced else path
    try:
        write(written_to)
        if is_replaced:
            _sync(written_to)
            written_to.replace(target)
    except BaseException as error:
        if is_replaced:
            written_to.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in NO_ROOM:
            raise DiskFullError(path) from error
        raise


def _beside(target: Path) -> Path:
    """Name a new file in the same folder: none that the user has there, or that another process writes."""
    # The name that is wanted may be as long as one can be.
    begin = os.fsdecode(os.fsencode(target.name)[:_BEGIN_OCTETS])
    return target.with_name(f".{begin}.{secrets.token_hex(8)}{PARTIAL_SUFFIX}")


def is_stream(path: Path) -> bool:
    """Say whether `path` is to be written as it is, without renaming: no regular file, or one by way of /dev."""
    # /dev/stdout may lead to a plain file, which the shell that opened it wants filled, not replaced.
    return any(map(_is_the_systems, _links(path))) or (path.exists() and not path.is_file())


def _is_the_systems(path: Path) -> bool:
    above = set(path.parents)
    return bool(above & _SYSTEM_FOLDERS) and _SHARED_MEMORY not in above


def _links(path: Path) -> Iterator[Path]:
    """Give the path and, where it is a symbolic link, each path that it leads to."""
    link = path.absolute()
    for _ in range(_LINKS_MAX):
        yield link
        if not link.is_symlink():
            return
        link = link.parent / link.readlink()


def write_text(path: Path, text: str) -> None:
    """Write a UTF-8 text file, whole or not at all."""
    write_whole(path, lambda partial: _write_bytes(partial, text.encode()))


def write_texts(texts: Mapping[Path, str]) -> None:
    """Write UTF-8 text files, each whole, and none if one cannot be written: what there was before stays then.

    They get their names one after the other, when all of them are on the disk.

    Raises as `write_whole` does.
    """
    remaining = list(texts.items())

    def write_rest(place: int) -> None:
        if place == len(remaining):
            return
        path, text = remaining[place]

        def write(partial: Path) -> None:
            _write_bytes(partial, text.encode())
            if not is_stream(path):
                # All are whole beside their names before the first gets its own.
                _sync(partial)
            write_rest(place + 1)

        write_whole(path, write)

    write_rest(0)


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
