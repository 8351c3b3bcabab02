"""What a run is going to measure, and about how long that takes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from dnsrig.wording import counted

SECONDS_SHOWN = 100
"""Times up to here are given in seconds."""
MINUTES_SHOWN = 100


@dataclass(frozen=True, slots=True)
class PlannedCase:
    """One case, with about how long measuring it takes: the first time, when its output is looked at, and later."""

    case_id: str
    first_s: float
    later_s: float

    def seconds(self, repetition: int) -> float:
        """Give the estimate for a repetition, counted from 0."""
        return self.first_s if repetition == 0 else self.later_s


@dataclass(frozen=True, slots=True)
class Plan:
    """All cases of a run, in the order of the first repetition; `preparing_s` goes before or between them."""

    cases: tuple[PlannedCase, ...]
    repetitions: int
    preparing_s: float = 0.0

    @property
    def measurements(self) -> int:
        """How many there are in all."""
        return len(self.cases) * self.repetitions

    @property
    def seconds(self) -> float:
        """About how long all of it takes."""
        return self.preparing_s + sum(
            case.seconds(repetition) for case in self.cases for repetition in range(self.repetitions)
        )

    @property
    def sentence(self) -> str:
        """The plan in words."""
        how_often = "once" if self.repetitions == 1 else f"{self.repetitions} times"
        return (
            f"{counted(len(self.cases), 'case')}, {how_often}: {counted(self.measurements, 'measurement')}, "
            f"{about(self.seconds)}"
        )

    def as_json(self) -> dict[str, Any]:
        """Return the plan as `dnsrig run --dry-run --json` prints it."""
        return {
            "cases": [case.case_id for case in self.cases],
            "repetitions": self.repetitions,
            "measurements": self.measurements,
            "estimated_s": round(self.seconds, 1),
        }


@dataclass(slots=True)
class TimeLeft:
    """Corrects a plan's estimate by what measurements took."""

    plan: Plan
    _cases: Mapping[str, PlannedCase] = field(init=False)
    _took: dict[str, list[tuple[int, float]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Find cases by their ids."""
        self._cases = {case.case_id: case for case in self.plan.cases}

    def took(self, case_id: str, repetition: int, seconds: float) -> None:
        """Hear what a measurement took, with all that is done around it."""
        self._took.setdefault(case_id, []).append((repetition, seconds))

    def left_s(self, waiting: Iterable[tuple[str, int]]) -> float:
        """Estimate what these measurements, (case, repetition), take: as before, or as others did against the plan."""
        return sum(self._one_s(case_id, repetition) for case_id, repetition in waiting)

    def _one_s(self, case_id: str, repetition: int) -> float:
        known = self._took.get(case_id)
        ratio = self._against_plan({case_id: known} if known else self._took)
        return self._cases[case_id].seconds(repetition) * ratio

    def _against_plan(self, took: Mapping[str, list[tuple[int, float]]]) -> float:
        """Give how many times the estimate measurements took, each kind of measurement counting by its length."""
        measured = sum(fmean(seconds for _, seconds in known) for known in took.values())
        planned = sum(
            fmean(self._cases[case_id].seconds(repetition) for repetition, _ in known)
            for case_id, known in took.items()
        )
        return measured / planned if planned > 0 else 1.0


def about(seconds: float) -> str:
    """Give a time roughly: `about 40 s`, `about 12 min`, `about 3.5 h`."""
    if seconds < SECONDS_SHOWN:
        return f"about {max(1, round(seconds))} s"
    minutes = seconds / 60
    return f"about {round(minutes)} min" if minutes < MINUTES_SHOWN else f"about {minutes / 60:.1f} h"
