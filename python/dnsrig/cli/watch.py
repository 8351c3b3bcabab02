"""What a run shows while it goes on: a bar on a terminal, plain lines otherwise."""

import sys
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from dnsrig.cli.format import rate
from dnsrig.studies.plan import about
from dnsrig.studies.progress import Step


class TimeLeftColumn(TimeRemainingColumn):
    """What the study says is left; where it says nothing, what follows from the share of measurements that are done."""

    def render(self, task: Task) -> Text:
        """Show it."""
        left = task.fields.get("left")
        return Text(left, style="progress.remaining") if left else super().render(task)


class TerminalWatcher:
    """Prints a run's course to standard error; standard output stays free for the result."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._console = Console(stderr=True, highlight=False, markup=False)
        self._live = sys.stderr.isatty() and not quiet
        self._quiet = quiet
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeLeftColumn(),
            console=self._console,
            transient=True,
        )
        self._task = self._progress.add_task("", total=None, left="")

    def __enter__(self) -> Self:
        if self._live:
            self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            self._progress.stop()

    def phase(self, text: str) -> None:
        """Show what is being done now."""
        if self._live:
            self._progress.update(self._task, description=text)

    def note(self, text: str) -> None:
        """Print what is going to happen."""
        self._say(text)

    def step(self, step: Step) -> None:
        """Show a finished measurement with its first figures, and how long the rest takes where the study can tell."""
        left = f"{about(step.left_s)} left" if step.left_s and step.done < step.total else ""
        self._progress.update(self._task, completed=step.done, total=step.total, left=left)
        figures = [] if step.qps is None else [f"{rate(step.qps):>9} q/s"]
        if step.server_cpu_us_per_query is not None:
            figures.append(f"{step.server_cpu_us_per_query:6.2f} us CPU a query")
        if step.wall_s is not None:
            figures.append(f"{step.wall_s:9.2f} s")
        if step.said:
            figures.append(step.said)
        if left and not self._live:
            figures.append(f"{step.done}/{step.total}, {left}")
        if step.tainted:
            figures.append("(tainted)")
        self._say("  ".join([f"{step.case_id:<28} {step.repetition + 1:>3}", *figures]))

    def problem(self, text: str) -> None:
        """Show what the user should know now, also when the rest is quiet."""
        self._console.print(text, soft_wrap=True)

    def _say(self, text: str) -> None:
        if not self._quiet:
            self._console.print(text, soft_wrap=True)
