"""Ending a run of items at once: whatever its threads wait for, they stop waiting when the run is stopped.

A thread belongs to the run whose `thread_pool` it is of. What waits in it asks here instead of `time` and `select`.
"""

import os
import select
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol


class StoppedError(Exception):
    """The run of items was stopped while a thread of it waited."""


class HasDescriptor(Protocol):
    """What can be waited for, such as a socket."""

    def fileno(self) -> int:
        """Give the descriptor."""
        ...


class Stop:
    """Says to all threads of a run that it is over."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._reader, self._writer = os.pipe()
        # Not sooner: an interruption may leave a thread that nobody waits for, and that still looks at them.
        weakref.finalize(self, _close, self._reader, self._writer)

    def fileno(self) -> int:
        """Give a descriptor that can be read from once the run is stopped."""
        return self._reader

    def set(self) -> None:
        """Stop the run; does nothing a second time."""
        if not self._event.is_set():
            self._event.set()
            os.write(self._writer, b"\0")

    def is_set(self) -> bool:
        """Say whether the run is stopped."""
        return self._event.is_set()

    def wait(self, seconds: float) -> None:
        """Wait so long.

        Raises:
            StoppedError: the run was stopped.

        """
        if self._event.wait(seconds):
            raise StoppedError


def _close(*descriptors: int) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


_of_thread = threading.local()


def _join(stop: Stop | None) -> None:
    _of_thread.stop = stop


def _current() -> Stop | None:
    """Give the stop of the run that this thread belongs to."""
    stop: Stop | None = getattr(_of_thread, "stop", None)
    return stop


def thread_pool(threads: int, name: str, stop: Stop | None = None) -> ThreadPoolExecutor:
    """Make a pool whose threads belong to the run of `stop`, or to that of the calling thread."""
    return ThreadPoolExecutor(threads, thread_name_prefix=name, initializer=_join, initargs=(stop or _current(),))


def check_stopped() -> None:
    """Go on only if the run that the thread belongs to does.

    Raises:
        StoppedError: it was stopped.

    """
    stop = _current()
    if stop is not None and stop.is_set():
        raise StoppedError


def pause(seconds: float) -> None:
    """Wait so long.

    Raises:
        StoppedError: the run that the thread belongs to was stopped.

    """
    stop = _current()
    if stop is None:
        time.sleep(seconds)
    else:
        stop.wait(seconds)


def wait_readable(channel: HasDescriptor, seconds: float) -> bool:
    """Wait until a socket can be read from; False if it cannot be in time.

    Raises:
        StoppedError: the run that the thread belongs to was stopped.

    """
    return _wait(channel, select.POLLIN, seconds)


def wait_writable(channel: HasDescriptor, seconds: float) -> bool:
    """Wait until a socket can be written to, or its connection has failed; False if neither happens in time.

    Raises:
        StoppedError: the run that the thread belongs to was stopped.

    """
    return _wait(channel, select.POLLOUT, seconds)


def _wait(channel: HasDescriptor, event: int, seconds: float) -> bool:
    check_stopped()
    stop = _current()
    # Not select(): with many sockets descriptors have numbers that it cannot take.
    poll = select.poll()
    poll.register(channel, event)
    if stop is not None:
        poll.register(stop, select.POLLIN)
    ready = poll.poll(max(seconds, 0.0) * 1e3)
    check_stopped()
    return bool(ready)
