"""What is printed by way of rich."""

import errno
import os
import sys

from rich.console import Console


class PlainConsole(Console):
    """Prints texts as they are, and ends as other output does where its reader has gone.

    rich's own would end the program with 1, and lead standard output to nowhere even where standard error is meant.
    """

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, highlight=False, markup=False)

    def on_broken_pipe(self) -> None:
        """Raise BrokenPipeError; on standard error print no more, as nobody reads it."""
        self.quiet = True
        if not self.stderr:
            raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))
        # What its buffer still has would fail again at exit, and change the exit code.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stderr.fileno())
        os.close(nowhere)
