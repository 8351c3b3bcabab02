"""Which signal ended a run: all of them end in KeyboardInterrupt, which does not tell."""

import os
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from types import FrameType, TracebackType
from typing import Self

Handler = Callable[[int, FrameType | None], object]

CTRL_C = "Ctrl-C"
_NAMES = {signal.SIGINT: CTRL_C, signal.SIGTERM: "SIGTERM", signal.SIGHUP: "SIGHUP"}


class NotedSignals:
    """A context manager that takes note of the first signal that comes; what handled it before still does.

    The user reads `said` at once: what is running takes seconds to end.
    """

    def __init__(self, said: str) -> None:
        self._said = said
        self.first: str | None = None
        """Name of that signal; None before one came."""
        self._before: dict[signal.Signals, Handler] = {}

    def __enter__(self) -> Self:
        # Only the main thread may set handlers, and only it gets signals.
        if threading.current_thread() is threading.main_thread():
            for number in _NAMES:
                handler = signal.getsignal(number)
                if callable(handler):
                    self._before[number] = handler
                    signal.signal(number, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            # One that changed its own handling meanwhile wanted that to stay.
            if signal.getsignal(number) == self._note:
                signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        name = signal.Signals(number)
        if self.first is None:
            with suppress(OSError):
                os.write(2, f"{_NAMES[name]}: {self._said}\n".encode())
        self.first = self.first or _NAMES[name]
        self._before[name](number, frame)
