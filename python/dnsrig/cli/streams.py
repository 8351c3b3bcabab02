"""Standard streams that are closed, or that nothing can be written to any more."""

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import TextIO

import click

from dnsrig.characters import plain
from dnsrig.errors import EnvironmentLacksError

LINE_MOST = 2000
"""Characters of a line of a message: it may quote what a file has, which need not be text that somebody wrote."""


class ClosedOutput(io.TextIOBase):
    """Standard output that the caller closed: whoever prints fails, as on a full disk; silent commands do not."""

    def __init__(self, why: str = "standard output is closed") -> None:
        super().__init__()
        self._why = why

    def writable(self) -> bool:
        """Say yes, so that what is to be printed arrives."""
        return True

    def write(self, _text: str) -> int:
        """Raise EnvironmentLacksError."""
        raise EnvironmentLacksError(f"{self._why}, so that nothing can be printed")


class PlainErrors(io.TextIOWrapper):
    """Standard error that shows control characters as text.

    Messages quote names, expressions and lines of files, whose sequences could rename the terminal, or hide what is
    said. What draws on a terminal itself (rich) does so on the stream behind this one.
    """

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream.buffer, stream.encoding, "backslashreplace", line_buffering=True)
        self.behind = stream

    def write(self, text: str) -> int:
        """Write text with control characters as `\\x1b` and the like; lines and tabulators stay."""
        super().write(plain(text))
        return len(text)

    def close(self) -> None:
        """Leave the stream behind open, which is not ours."""
        self.flush()


def unbroken(stream: TextIO) -> TextIO:
    """Give a stream that writes all or fails.

    Where PYTHONUNBUFFERED is set, as in many containers, Python's own drops what one system call does not take: the
    end of a long text, where a disk becomes full or a reader goes.
    """
    if not isinstance(getattr(stream, "buffer", None), io.RawIOBase):
        return stream
    # By lines, so that what is printed still comes as it is.
    return open(stream.fileno(), "w", buffering=1, encoding=stream.encoding, closefd=False)


def check_output_is_open() -> None:
    """Raise EnvironmentLacksError where the caller closed standard output.

    What writes a zone or a stream there by itself would write to what was opened in its place, and nobody would know.
    """
    sys.stdout.write("")


@contextlib.contextmanager
def report_on(done: str) -> Iterator[None]:
    """Print the report on what is `done` in the block; where it cannot be printed, say that nothing else is missing.

    Raises:
        EnvironmentLacksError: standard output takes no more, or is closed.
        BrokenPipeError: its reader has gone.

    """
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except (OSError, EnvironmentLacksError) as error:
        flush_output()
        why = f"the report cannot be printed: {error.strerror}" if isinstance(error, OSError) else error
        raise EnvironmentLacksError(f"{done}, but {why}") from error


def occupy_closed_descriptors() -> None:
    """Open /dev/null in place of standard streams that are closed: the next file to be opened would be one."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(number, True)
    os.close(number)


def say(text: str) -> None:
    """Print text on standard error, if it can still be written; lines that nobody would read are shortened."""
    try:
        click.echo("\n".join(map(_readable, text.split("\n"))), err=True)
    except OSError:
        _give_up(2)


def _readable(line: str) -> str:
    """Leave out the middle of a long line: the beginning says what is wrong, and where, and the end what to do."""
    if len(line) <= LINE_MOST:
        return line
    end = LINE_MOST // 3
    return f"{line[:end]} ... ({len(line) - 2 * end:,} characters left out) ... {line[-end:]}"


def flush_errors() -> bool:
    """Print what standard error still has in its buffer, if it can still be written; say whether it can."""
    return _flush(sys.stderr, 2)


def flush_output() -> bool:
    """Print what standard output still has in its buffer, if it can still be written; say whether it can."""
    return _flush(sys.stdout, 1)


def _flush(stream: TextIO, descriptor: int) -> bool:
    try:
        stream.flush()
    except OSError:
        _give_up(descriptor)
        return False
    return True


def _give_up(descriptor: int) -> None:
    """Lead a stream to nowhere: what is left in its buffer would fail again at exit, and change the exit code."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)
