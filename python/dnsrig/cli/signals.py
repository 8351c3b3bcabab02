"""What SIGINT (Ctrl-C), SIGTERM and SIGHUP (a closed terminal) do: end the command, with everything put away.

A signal that the caller has set to be ignored stays ignored: so `nohup` works, and jobs in a script's background.
"""

import math
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

INTERRUPTED = 130
"""Exit code of an interrupted command."""
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_REPEATED_WITHIN_S = 1.0
"""A signal so soon after another is the same wish, such as that of somebody who presses Ctrl-C twice."""


def quit_on_signals() -> None:
    """Have signals end the process at once: for times in which there is nothing to put away.

    KeyboardInterrupt would be raised wherever an import stands, and some modules make another error of it.
    """
    for number in _ENDING:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _quit)


def raise_on_signals() -> None:
    """Have the signals of `quit_on_signals` raise KeyboardInterrupt; if that was not called before, do nothing."""
    for number in _ENDING:
        if signal.getsignal(number) == _quit:
            signal.signal(number, _interrupt)


def stopped_by_signals() -> threading.Event:
    """Have SIGINT and SIGTERM set an event from now on, for commands that serve until then."""
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    return stop


@contextmanager
def once_let_pass(said: str) -> Iterator[None]:
    """Let the first SIGINT pass with a word on standard error; the next one raises KeyboardInterrupt.

    Ctrl-C reaches all programs of a pipe: the one that writes ends, and what it wrote before can be read to its end.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is not _interrupt:
        yield
        return

    def pass_on(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, before)
        with suppress(OSError):
            os.write(2, f"{said}\n".encode())

    signal.signal(signal.SIGINT, pass_on)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is pass_on:
            signal.signal(signal.SIGINT, before)


def raise_if_interrupted() -> None:
    """Raise KeyboardInterrupt if a signal has come.

    Libraries turn a KeyboardInterrupt within them into errors of their own, or lose it: what was done since is not to
    be taken for whole.
    """
    if _interrupt.has_come:
        raise KeyboardInterrupt


def has_interruption_come() -> bool:
    """Say whether a signal has come, whatever became of its KeyboardInterrupt."""
    return _interrupt.has_come


def was_interrupted(error: BaseException) -> bool:
    """Say whether a library made `error` of the KeyboardInterrupt of a signal, as dnspython does within its parsers."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause.__cause__, KeyboardInterrupt):
            return True
        cause = cause.__cause__ or cause.__context__
    return False


def ignore_signals() -> None:
    """Have the signals do nothing: for the end, when all is done and the exit code is known."""
    for number in _ENDING:
        signal.signal(number, signal.SIG_IGN)


def _quit(_number: int, _frame: FrameType | None) -> None:
    ignore_signals()
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    with suppress(OSError):
        os.write(2, b"dnsrig: interrupted\n")
    os._exit(INTERRUPTED)


class _Interrupt:
    """The handler that raises KeyboardInterrupt; not twice in a moment, for things are being put away then."""

    def __init__(self) -> None:
        self._deaf_until_s = -math.inf
        self.has_come = False

    def __call__(self, number: int, _frame: FrameType | None) -> None:
        if number == signal.SIGHUP:
            # It comes from the shell and from the kernel, however far apart.
            signal.signal(number, signal.SIG_IGN)
        self.has_come = True
        now_s = time.monotonic()
        if now_s >= self._deaf_until_s:
            self._deaf_until_s = now_s + _REPEATED_WITHIN_S
            raise KeyboardInterrupt


_interrupt = _Interrupt()
