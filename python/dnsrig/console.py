"""What is printed by way of rich."""

import errno
import os
import sys
from typing import Any

from rich.console import Console

UNBOUNDED = 1_000_000
"""Columns of what is no terminal: lines are as long as their texts."""


class PlainConsole(Console):
    """Prints texts as they are, and ends as other output does where its reader has gone.

    rich's own would end the program with 1, and lead standard output to nowhere even where standard error is meant.
    Where no terminal is, as in pipes and files, nothing is wrapped, and no line ends with blanks.
    """

    def __init__(self, *, stderr: bool = False) -> None:
        # What shows control characters as text on standard error is for messages, not for what draws with them.
        drawn_on = getattr(sys.stderr, "behind", None) if stderr else None
        super().__init__(stderr=stderr, file=drawn_on, highlight=False, markup=False)
        self._wraps = self.file.isatty()
        if not self._wraps:
            self.width = UNBOUNDED

    def print(self, *objects: Any, **options: Any) -> None:  # noqa: ANN401 (rich's signature)
        """Print objects as rich does."""
        if self._wraps:
            super().print(*objects, **options)
            return
        with self.capture() as captured:
            super().print(*objects, **options)
        # Not splitlines(): a server's text may have other characters that it takes for ends of lines.
        text = "\n".join(line.rstrip(" ") for line in captured.get().split("\n"))
        try:
            self.file.write(text)
        except BrokenPipeError:
            self.on_broken_pipe()

    def on_broken_pipe(self) -> None:
        """Raise BrokenPipeError; on standard error print no more, as nobody reads it."""
        self.quiet = True
        if not self.stderr:
            raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))
        # What its buffer still has would fail again at exit, and change the exit code.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stderr.fileno())
        os.close(nowhere)
