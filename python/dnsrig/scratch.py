"""Folders for what is needed for a while only, such as servers' files: removed in the end, or by a later dnsrig.

Whoever makes one holds a lock on a file in it while it lives. The kernel lets go of that whatever ends the process, be
it SIGKILL or a loss of power, so that a folder whose lock is free has nobody any more. A process's number would not
tell: it is used again.
"""

import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX = "dnsrig-"
"""Names of all scratch folders begin with it."""
LOCK_NAME = ".in-use"


@contextmanager
def scratch_folder(kind: str = "", parent: Path | None = None) -> Iterator[Path]:
    """Make a folder, whose name begins with PREFIX and `kind`, in `parent` or else TMPDIR; remove it in the end.

    What runs that were killed have left beside it is removed before.

    Raises:
        OSError: it cannot be made.

    """
    where = Path(tempfile.gettempdir() if parent is None else parent)
    remove_left(where)
    with tempfile.TemporaryDirectory(prefix=f"{PREFIX}{kind}", dir=where) as made:
        folder = Path(made)
        lock = _locked_new(folder)
        try:
            yield folder
        finally:
            # The lock goes last: what is killed meanwhile leaves what can still be told by it.
            _empty(folder)
            if lock is not None:
                (folder / LOCK_NAME).unlink(missing_ok=True)
                os.close(lock)


def remove_left(where: Path) -> None:
    """Remove the scratch folders in `where` that are this user's and whose makers are gone, as far as that can be."""
    with suppress(OSError):
        for folder in sorted(where.glob(f"{PREFIX}*")):
            _remove_if_left(folder)


def _remove_if_left(folder: Path) -> None:
    with suppress(OSError):
        status = folder.lstat()
        # In TMPDIR anybody may put a folder of such a name, or a symbolic link.
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
            return
        lock = os.open(folder / LOCK_NAME, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            held = os.fstat(lock)
            if not stat.S_ISREG(held.st_mode) or held.st_uid != os.geteuid():
                return
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Another dnsrig may have been removing it, and be done now.
            if not os.path.samestat(held, (folder / LOCK_NAME).lstat()):
                return
            _empty(folder)
            # A server that is about to end may have written again: then the lock stays, and a later dnsrig comes by.
            if [inner.name for inner in folder.iterdir()] == [LOCK_NAME]:
                (folder / LOCK_NAME).unlink()
                folder.rmdir()
        finally:
            os.close(lock)


def _locked_new(folder: Path) -> int | None:
    """Put a lock into a new folder and hold it; None where the file system has no locks, and nothing is put there."""
    new = folder / f"{LOCK_NAME}.new"
    lock: int | None = None
    try:
        lock = os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Only now under its name: no other dnsrig ever finds it free.
        new.rename(folder / LOCK_NAME)
    except OSError:
        new.unlink(missing_ok=True)
        if lock is not None:
            os.close(lock)
        return None
    return lock


def _empty(folder: Path) -> None:
    """Remove all but the lock."""
    for inner in folder.iterdir():
        if inner.name == LOCK_NAME:
            continue
        if inner.is_dir() and not inner.is_symlink():
            shutil.rmtree(inner, ignore_errors=True)
        else:
            with suppress(OSError):
                inner.unlink()
