"""Signals that are let through only where a KeyboardInterrupt does no harm.

One that is raised while the main thread holds a lock of `threading` or `concurrent.futures`, which is all written in
Python, may leave it taken: between the call that takes it and the block that gives it back there is room for a signal.
Other threads then wait for ever.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Those whose handlers raise KeyboardInterrupt, in the command and where Python itself sets them."""


@contextmanager
def held_signals() -> Iterator[Callable[[], None]]:
    """Hold back what the handlers of signals do, in the main thread; call what this gives to let through what came.

    What came is let through at the end of the block at the latest. In other threads, which no signal reaches, this does
    nothing; within another such block, the outer one holds.

    Raises:
        KeyboardInterrupt: a signal came, and its handler raises that.

    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: None
        return
    came: list[tuple[signal.Signals, FrameType | None]] = []

    def hold(number: int, frame: FrameType | None) -> None:
        came.append((signal.Signals(number), frame))

    def let_through() -> None:
        while came:
            number, frame = came.pop(0)
            handler = before[number]
            if callable(handler):
                handler(number, frame)

    before = {number: signal.getsignal(number) for number in ENDING}
    held = [number for number, handler in before.items() if callable(handler)]
    try:
        for number in held:
            signal.signal(number, hold)
        yield let_through
    finally:
        for number in held:
            # Whoever set another one meanwhile keeps it.
            if signal.getsignal(number) is hold:
                signal.signal(number, before[number])
        let_through()
