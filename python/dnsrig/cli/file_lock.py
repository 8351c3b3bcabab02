"""One signing of a zone file, or change of a key, at a time."""

import contextlib
import fcntl
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

import click


@contextlib.contextmanager
def alone_with(files: Iterable[Path], other: str) -> Iterator[None]:
    """Wait until nobody else works on any of `files`, and keep others waiting until the block ends.

    `other` says what those others are, such as `another signing`. Whoever waits holds no file, so two never wait for
    each other. What is no regular file is not locked, and neither is anything on file systems without locks.
    """
    wanted = list(files)
    awaited: Path | None = None
    told: set[Path] = set()
    while True:
        with contextlib.ExitStack() as held:
            found = _lock_all(wanted, awaited, held)
            if found is None:
                yield
                return
        if found == awaited:
            # It was replaced while it was waited for.
            continue
        awaited = found
        if awaited not in told:
            click.echo(f"{awaited}: {other} works on it; waiting", err=True)
            told.add(awaited)


def _lock_all(files: Iterable[Path], awaited: Path | None, held: contextlib.ExitStack) -> Path | None:
    """Lock `files` until `held` ends, waiting for `awaited` alone; give that to be waited for next, if any."""
    locked: list[os.stat_result] = []
    for path in sorted(files, key=lambda path: path != awaited):
        descriptor = _opened(path)
        if descriptor is None:
            continue
        held.callback(os.close, descriptor)
        status = os.fstat(descriptor)
        # A second lock of one file would wait for the first.
        if any(os.path.samestat(status, other) for other in locked):
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if path == awaited else fcntl.LOCK_NB))
        except BlockingIOError:
            return path
        except OSError:
            continue
        if not _is_still(path, status):
            return path
        locked.append(status)
    return None


def _opened(path: Path) -> int | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        # Whoever reads it says why it cannot be.
        return None
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    return None


def _is_still(path: Path, status: os.stat_result) -> bool:
    """Whether the file is still at `path`: others put a new one in its place when they are done."""
    try:
        return os.path.samestat(status, path.stat())
    except OSError:
        return False
