"""Programs that do the same work in turn: time, CPU time and peak memory of each, and the ratios of one to another."""

import shutil
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dnsrig.errors import SubjectFailedError
from dnsrig.studies.interleave import interleaved
from dnsrig.studies.signing.child import run_measured

from targets.running import BenchError, load_average

Figure = Callable[["Took"], float]


@dataclass(frozen=True, slots=True)
class Took:
    """What one run of a program took, as the kernel accounts it (wait4)."""

    wall_s: float
    cpu_s: float
    rss_bytes: int
    """Peak resident set."""
    said: str = ""
    """What it printed."""


@dataclass(frozen=True, slots=True)
class Contestant:
    """A program and how it is started: `command` prepares an empty folder, unmeasured, and gives the command line."""

    name: str
    command: Callable[[Path], list[str]]


@dataclass(frozen=True, slots=True)
class Contest:
    """Runs of all contestants, `runs[name][i]` of the i-th round."""

    work: str
    runs: Mapping[str, Sequence[Took]]
    load_average: float
    """Of the machine, just after the last round."""

    def median(self, name: str, figure: Figure) -> float:
        """Give the median of a contestant's figure."""
        return statistics.median(figure(run) for run in self.runs[name])

    def ratios(self, name: str, other: str, figure: Figure) -> list[float]:
        """Give the ratio of a figure to another contestant's for each round, in ascending order."""
        pairs = zip(self.runs[name], self.runs[other], strict=True)
        return sorted(figure(ours) / figure(theirs) for ours, theirs in pairs)

    def ratio(self, name: str, other: str, figure: Figure) -> float:
        """Give the median of `ratios`."""
        return statistics.median(self.ratios(name, other, figure))

    def said_ratio(self, name: str, other: str, figure: Figure, unit: str) -> str:
        """Write the median ratio with the smallest and the largest, and the medians of both."""
        ratios = self.ratios(name, other, figure)
        ours, theirs = self.median(name, figure), self.median(other, figure)
        return (
            f"{statistics.median(ratios):.2f} x ({ratios[0]:.2f} to {ratios[-1]:.2f}): "
            f"{ours:,.2f} against {theirs:,.2f} {unit}"
        )

    def fastest(self, names: Sequence[str]) -> str:
        """Name the contestant with the least time among `names`."""
        return min(names, key=lambda name: self.median(name, wall_s))

    def as_dict(self) -> dict[str, Any]:
        """Give all of it for JSON."""
        return asdict(self)


def wall_s(run: Took) -> float:
    """Give the time."""
    return run.wall_s


def cpu_s(run: Took) -> float:
    """Give the CPU time."""
    return run.cpu_s


def rss_mb(run: Took) -> float:
    """Give the peak resident set in MB."""
    return run.rss_bytes / 1e6


def hold(work: str, contestants: Sequence[Contestant], rounds: int, folder: Path, cpus: frozenset[int]) -> Contest:
    """Run all contestants `rounds` times on `cpus`, forwards and backwards in turn (A B B A ...).

    Raises:
        BenchError: one failed.

    """
    runs: dict[str, list[Took]] = {contestant.name: [] for contestant in contestants}
    for _, contestant in interleaved(contestants, rounds):
        place = folder / "contest"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        try:
            measured = run_measured(contestant.command(place), place, cpus=cpus)
        except SubjectFailedError as error:
            raise BenchError(f"{work}: {error}") from error
        finally:
            shutil.rmtree(place, ignore_errors=True)
        used = measured.program
        took = Took(used["wall_us"] / 1e6, used["cpu_us"] / 1e6, used["rss_bytes_max"], measured.said.strip())
        runs[contestant.name].append(took)
    return Contest(work, runs, load_average())
