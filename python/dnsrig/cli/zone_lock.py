"""One signing of a zone file at a time."""

import contextlib
import fcntl
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import click


@contextlib.contextmanager
def alone_with(zonefile: Path) -> Iterator[None]:
    """Wait until no other signing works on `zonefile`, and keep others waiting until the end of the block.

    Two at once would each make new keys for the zone, or one would undo the changes of the other. What is no regular
    file is not locked, and neither is anything on file systems without locks.
    """
    descriptor = _locked(zonefile)
    try:
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _locked(path: Path) -> int | None:
    is_waiting = False
    while True:
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        except OSError:
            # Whoever reads it says why it cannot be.
            return None
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                os.close(descriptor)
                return None
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if not is_waiting:
                    click.echo(f"{path}: another signing works on it; waiting", err=True)
                is_waiting = True
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            # The other signing may have put a new file in its place.
            if os.path.samestat(os.fstat(descriptor), path.stat()):
                return descriptor
        except OSError:
            os.close(descriptor)
            return None
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
