"""What SIGINT (Ctrl-C), SIGTERM and SIGHUP (a closed terminal) do: end the command, with everything put away.

A signal that the caller has set to be ignored stays ignored: so `nohup` works, and jobs in a script's background.
"""

import os
import signal
import sys
from contextlib import suppress
from types import FrameType

INTERRUPTED = 130
"""Exit code of an interrupted command."""
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


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


def _quit(_number: int, _frame: FrameType | None) -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    with suppress(OSError):
        os.write(2, b"dnsrig: interrupted\n")
    os._exit(INTERRUPTED)


def _interrupt(number: int, _frame: FrameType | None) -> None:
    if number == signal.SIGHUP:
        # It comes from the shell and from the kernel, and the second one would disturb putting things away.
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt
