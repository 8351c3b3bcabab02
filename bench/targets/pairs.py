"""Compare the generators in interleaved pairs of runs."""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from targets.generators import GENERATORS, Bench, Generator, Load, Measured, Result, measure, starting_cpu_s
from targets.running import load_average


@dataclass(frozen=True, slots=True)
class Comparison:
    """Both generators with one load against one server; `dnsperf[i]` and `dnsrig[i]` are a pair."""

    subject: str
    load: Load
    dnsperf: Sequence[Result]
    dnsrig: Sequence[Result]
    load_average: float
    """Of the machine, just after the last pair."""

    def ratios(self, figure: Callable[[Result], float]) -> list[float]:
        """Give the ratio of dnsrig's figure to dnsperf's for each pair, in ascending order."""
        return sorted(figure(ours) / figure(theirs) for ours, theirs in zip(self.dnsrig, self.dnsperf, strict=True))

    def ratio(self, figure: Callable[[Result], float]) -> float:
        """Give the median of `ratios`."""
        return statistics.median(self.ratios(figure))

    def said_ratio(self, figure: Callable[[Result], float]) -> str:
        """Write the median ratio with the smallest and the largest, and the medians that it comes from."""
        ratios = self.ratios(figure)
        ours, theirs = (statistics.median(figure(run) for run in runs) for runs in (self.dnsrig, self.dnsperf))
        places = 0 if theirs >= 1000 else 2
        return (
            f"{statistics.median(ratios):.2f} x ({ratios[0]:.2f} to {ratios[-1]:.2f}): "
            f"{ours:,.{places}f} against {theirs:,.{places}f}"
        )

    def losses(self) -> str:
        """Say which share of its queries a generator lost, if one lost more than one in a thousand."""
        said = []
        for name, runs in (("dnsperf", self.dnsperf), ("dnsrig", self.dnsrig)):
            lost, answered = sum(run.lost for run in runs), sum(run.answered for run in runs)
            if lost > answered / 1000:
                said.append(f"{name} lost {lost / (lost + answered):.1%} of its queries")
        return ", ".join(said)

    def as_dict(self) -> dict[str, Any]:
        """Give all of it for JSON."""
        return asdict(self)


def compare(bench: Bench, subject: str, port: int, load: Load) -> Comparison:
    """Run both generators `bench.pairs` times, interleaved (A B B A ...).

    Before each run, what starting costs is measured; the median of that is taken off all runs of the generator.
    """
    runs: dict[Generator, list[Measured]] = {generator: [] for generator in GENERATORS}
    starts: dict[Generator, list[float]] = {generator: [] for generator in GENERATORS}
    for pair in range(bench.pairs):
        for generator in GENERATORS if pair % 2 == 0 else reversed(GENERATORS):
            starts[generator].append(starting_cpu_s(bench, generator, port, load))
            runs[generator].append(measure(bench, generator, port, load))
    results = {
        generator: [run.less_starting(statistics.median(starts[generator])) for run in runs[generator]]
        for generator in GENERATORS
    }
    return Comparison(subject, load, results["dnsperf"], results["dnsrig"], load_average())
