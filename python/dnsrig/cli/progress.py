"""How far long work has come, on standard error."""

import sys
import time
from types import TracebackType
from typing import Literal, Self

import click

SECONDS_BETWEEN_LINES = 10.0


class WorkProgress:
    """Shows how far work has come: a bar on a terminal, now and then a line otherwise."""

    def __init__(self, what: str, total: int | None, unit: Literal["octets", "names"]) -> None:
        self._next_line_s = time.monotonic() + SECONDS_BETWEEN_LINES
        self._has_shown_line = False
        self._unshown_line = ""
        self._bar = _Bar(what, total, unit) if sys.stderr.isatty() else None

    def __enter__(self) -> Self:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar:
            self._bar.stop()
        elif error is None and self._has_shown_line and self._unshown_line:
            # Else the last line would look like that of work which was given up.
            click.echo(self._unshown_line, err=True)

    def show(self, done: int, line: str) -> None:
        """Show that `done` of the total is done; `line` says it where there is no bar."""
        if self._bar:
            self._bar.update(done)
        elif time.monotonic() >= self._next_line_s:
            self._next_line_s = time.monotonic() + SECONDS_BETWEEN_LINES
            self._has_shown_line, self._unshown_line = True, ""
            click.echo(line, err=True)
        else:
            self._unshown_line = line


class _Bar:
    """A bar on the terminal."""

    def __init__(self, what: str, total: int | None, unit: Literal["octets", "names"]) -> None:
        # Loading rich takes as long as work on a small zone, and scripts do without.
        from rich import progress  # noqa: PLC0415

        from dnsrig.console import PlainConsole  # noqa: PLC0415

        columns = [progress.TextColumn("{task.description}"), progress.BarColumn()]
        if unit == "octets":
            columns += [progress.DownloadColumn(), progress.TimeElapsedColumn()]
        else:
            columns += [progress.TextColumn("{task.percentage:>3.0f}%"), progress.TimeRemainingColumn()]
        console = PlainConsole(stderr=True)
        self._progress = progress.Progress(*columns, console=console, transient=True)
        self._task = self._progress.add_task(what, total=total)
        self.start, self.stop = self._progress.start, self._progress.stop

    def update(self, done: int) -> None:
        self._progress.update(self._task, completed=done)
