"""The cases of a run: its measurements, grouped, with the figures of each repetition."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dnsrig.report.figures import FIGURES, Figure, Measurement
from dnsrig.report.statistics import Estimate, estimate

INSTANCE_MARK = "#"
"""Separates a server's name from the number of its instance in a comparison with itself: `nsd#2`."""
DISTURBED = "other programs used more than"
"""What a reason for distrust begins with that is about the rest of the machine."""


@dataclass(frozen=True, slots=True)
class Taint:
    """Why a case's figures cannot be taken at face value, and in how many of its repetitions."""

    reason: str
    repetitions: int
    of: int

    def __str__(self) -> str:
        """Return the reason, with the number of repetitions where it isn't all of them."""
        return self.reason if self.repetitions == self.of else f"{self.reason} ({self.repetitions} of {self.of})"


@dataclass(frozen=True, slots=True)
class CaseResult:
    """All repetitions of one case. `case` is as the study wrote it: `server`, `server_version`, its axes."""

    case_id: str
    case: dict[str, Any]
    measurements: tuple[Measurement, ...]

    @property
    def server(self) -> str:
        """The server's label, such as `nsd` or `nsd#2`."""
        return str(self.case["server"])

    @property
    def program(self) -> str:
        """The server's name without its instance."""
        return self.server.partition(INSTANCE_MARK)[0]

    @property
    def is_work(self) -> bool:
        """Whether a program was run to its end, instead of loaded."""
        return "work" in self.measurements[0]

    @property
    def n(self) -> int:
        """How many repetitions there are."""
        return len(self.measurements)

    def by_repetition(self, figure: Figure) -> dict[int, float]:
        """Return a figure's values by number of repetition, without those that lack it."""
        values = ((int(item["repetition"]), figure.of(item)) for item in self.measurements)
        return {repetition: value for repetition, value in values if value is not None}

    def values(self, figure: Figure) -> list[float]:
        """Return a figure's values in order of repetition."""
        return list(self.by_repetition(figure).values())

    def estimate(self, key: str, seed: int) -> Estimate | None:
        """Return the median and interval of the figure called `key`; None when no repetition has it."""
        figure = FIGURES[key]
        values = self.values(figure)
        return estimate(values, seed, figure.least) if values else None

    def total(self, key: str) -> int:
        """Return the sum of a counter of the load over all repetitions."""
        return sum(int(item.get("load", {}).get(key, 0)) for item in self.measurements)

    @property
    def lost(self) -> int:
        """Queries that were sent and got no usable answer."""
        return self.total("sent") - self.total("answered")

    @property
    def rcodes(self) -> dict[str, int]:
        """Answers by response code, over all repetitions."""
        counts: Counter[str] = Counter()
        for item in self.measurements:
            counts.update(item.get("load", {}).get("rcodes", {}))
        return dict(sorted(counts.items()))

    @property
    def bottleneck(self) -> str:
        """The bottleneck that most repetitions name; of equally frequent ones the first in the alphabet."""
        counts = Counter(str(item["bottleneck"]) for item in self.measurements)
        return min(counts, key=lambda name: (-counts[name], name))

    @property
    def evidence(self) -> list[str]:
        """Why the bottleneck is what it is: the sentences of the first repetition that names it."""
        naming = (item for item in self.measurements if str(item["bottleneck"]) == self.bottleneck)
        return [str(text) for text in next(naming)["evidence"]]

    @property
    def taints(self) -> list[Taint]:
        """The different reasons for distrust, most frequent first."""
        counts = Counter(reason for item in self.measurements for reason in set(item["tainted"]))
        return [
            Taint(reason, count, self.n)
            for reason, count in sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
        ]

    def texts(self, key: str) -> list[str]:
        """Return the different sentences under `key` (`remarks`, `evidence`) in order of appearance."""
        return list(dict.fromkeys(str(text) for item in self.measurements for text in item.get(key, ())))

    def matches(self, wanted: Mapping[str, object]) -> bool:
        """Say whether the case has these values (compared as text)."""
        return all(str(self.case.get(key)) == str(value) for key, value in wanted.items())


def group_cases(measurements: Iterable[Measurement]) -> list[CaseResult]:
    """Group measurements by case; cases come in the order in which the run first measured them."""
    groups: dict[str, list[Measurement]] = {}
    for item in sorted(measurements, key=lambda entry: (int(entry["order"]), str(entry["case_id"]))):
        groups.setdefault(str(item["case_id"]), []).append(item)
    return [
        CaseResult(
            case_id,
            dict(members[0]["case"]),
            tuple(sorted(members, key=lambda entry: int(entry["repetition"]))),
        )
        for case_id, members in groups.items()
    ]


def shared_taints(cases: Sequence[CaseResult]) -> list[str]:
    """Return the reasons for distrust that each of several cases has in one of its repetitions or more.

    Only where programs are run to their end: there a reason that all have is one of the machine, not of a case.
    """
    if len(cases) < 2 or not all(case.is_work for case in cases):
        return []
    shared = set.intersection(*({taint.reason for taint in case.taints} for case in cases))
    return sorted(shared)


def is_disturbed(reasons: Iterable[str]) -> bool:
    """Say whether one of the reasons is that other programs used the machine."""
    return any(reason.startswith(DISTURBED) for reason in reasons)


def servers_of(cases: Sequence[CaseResult]) -> list[str]:
    """Return the servers' labels in order of appearance, instances of one program together."""
    first: dict[str, int] = {}
    for position, case in enumerate(cases):
        first.setdefault(case.program, position)
    labels = {case.server: case.program for case in cases}
    return sorted(labels, key=lambda label: (first[labels[label]], label))
