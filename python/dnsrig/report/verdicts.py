"""Verdicts on differences: many ratios are tested together, and each is put into words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dnsrig.report.cases import CaseResult
from dnsrig.report.figures import (
    CPU,
    CPU_TIME,
    FIGURES,
    LATENCY_P50,
    LATENCY_P99,
    MEMORY,
    OUTPUT_OCTETS,
    QPS,
    RESPONSE_BYTES,
    THREADS,
    WALL,
    Figure,
    ratio_text,
)
from dnsrig.report.statistics import RatioEstimate, holm, overall_ratio

COMPARED: tuple[Figure, ...] = (
    *(QPS, CPU, RESPONSE_BYTES, LATENCY_P50, LATENCY_P99, MEMORY, THREADS),
    *(WALL, CPU_TIME, OUTPUT_OCTETS),
)
"""The figures that two runs, or two instances of one server, are compared by."""

FALSE_ALARMS = 0.05
"""Chance that a comparison of two equal runs reports any difference at all."""

TOO_WIDE = (0.5, 2.0)
"""Where an interval reaches either end, that no difference was found says next to nothing."""

LEAST_SHOWN = 0.0001
"""The smallest difference that is said not to be there: no clock or counter here tells more."""

NEGLIGIBLE = 0.001
"""A difference that is surely no larger matters to nobody, however well it is measured, as mean sizes often are."""

SHOWN = (0.01, 1000.0)
"""Ends of such an interval that are printed as they are."""

RatioOf = Callable[[CaseResult, CaseResult, Figure], RatioEstimate | None]
"""Compares a figure of two cases: the ratio first to second."""

HIGHER, LOWER, NO_DIFFERENCE, UNKNOWN = "higher", "lower", "no difference", "unknown"


@dataclass(frozen=True, slots=True)
class Verdict:
    """One compared figure: of one case, or over all cases (`case_id` None). The ratio is second to first."""

    figure: str
    case_id: str | None
    ratio: RatioEstimate
    p_adjusted: float | None = None

    @property
    def direction(self) -> str:
        """`higher` or `lower` when the second side differs beyond noise and matters; `no difference`; `unknown`."""
        if self.ratio.p is None or self.p_adjusted is None:
            return UNKNOWN
        # The families "over all cases" and "case by case" are given half of the false alarms each.
        if self.p_adjusted > FALSE_ALARMS / 2 or (self.ratio.largest_compatible or 0.0) <= NEGLIGIBLE:
            return NO_DIFFERENCE
        return HIGHER if self.ratio.ratio > 1 else LOWER

    @property
    def text(self) -> str:
        """The verdict in words."""
        ratio = self.ratio
        direction = self.direction
        if direction == UNKNOWN or ratio.low is None or ratio.high is None:
            change = signed_percent(ratio.ratio)
            return f"one repetition only ({change}): nothing can be said beyond it"
        if direction == NO_DIFFERENCE:
            if ratio.exact and ratio.ratio == 1:
                return "the same in every repetition"
            return no_difference(ratio)
        change = percent(abs(ratio.ratio - 1))
        if ratio.exact:
            return f"{direction} by {change} % (exact)"
        ends = sorted((abs(ratio.low - 1), abs(ratio.high - 1)))
        return f"{direction} by {change} % [{percent(ends[0])}, {percent(ends[1])}]"

    def as_json(self) -> dict[str, Any]:
        """Return the verdict as it stands in `summary.json` and in a comparison."""
        ratio = self.ratio
        interval = None if ratio.low is None or ratio.high is None else [ratio.low, ratio.high]
        return {
            "figure": self.figure,
            "case_id": self.case_id,
            "ratio": ratio.ratio,
            "ci95": interval,
            "n": ratio.n,
            "exact": ratio.exact,
            "p_adjusted": self.p_adjusted,
            "smallest_visible": ratio.smallest_visible,
            "verdict": self.direction,
            "text": f"{FIGURES[self.figure].title}: {self.text}",
        }


@dataclass(frozen=True, slots=True)
class Judgement:
    """All verdicts of one comparison: `overall` over all cases, `cases` one by one."""

    overall: tuple[Verdict, ...]
    cases: tuple[Verdict, ...]

    @property
    def differs(self) -> bool:
        """Whether any figure differs beyond noise."""
        return any(verdict.direction in {HIGHER, LOWER} for verdict in (*self.overall, *self.cases))

    @property
    def decidable(self) -> bool:
        """Whether any figure had repetitions enough to be compared."""
        return any(verdict.direction != UNKNOWN for verdict in (*self.overall, *self.cases))


def judge(ratios: Sequence[tuple[str, str, RatioEstimate]]) -> Judgement:
    """Turn (figure, case id, ratio) into verdicts, adjusted for their number by Holm's method.

    Two families are adjusted apart: one test a figure over all cases, and one a figure and case. Figures
    that repeat without any spread need no test and are left out of the adjustment.
    """
    by_figure: dict[str, list[RatioEstimate]] = {}
    for figure, _, ratio in ratios:
        by_figure.setdefault(figure, []).append(ratio)
    means = [(figure, overall_ratio(members)) for figure, members in by_figure.items()]
    overall = [Verdict(figure, None, ratio) for figure, ratio in means if ratio is not None]
    cases = [Verdict(figure, case_id, ratio) for figure, case_id, ratio in ratios]
    return Judgement(tuple(_adjust(overall)), tuple(_adjust(cases)))


def compared_ratios(
    pairs: Sequence[tuple[CaseResult, CaseResult]],
    ratio_of: RatioOf,
) -> list[tuple[str, str, RatioEstimate]]:
    """Return the ratio second to first of every compared figure of every pair of cases that has one."""
    found = []
    for figure in COMPARED:
        for first, second in pairs:
            ratio = ratio_of(second, first, figure)
            if ratio is not None:
                found.append((figure.key, first.case_id, ratio))
    return found


def percent(share: float) -> str:
    """Print a share as a percentage of two significant digits, one decimal at most for small ones."""
    value = share * 100
    if value >= 10 or value == 0:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 0.1 else f"{value:.1g}"


def no_difference(ratio: RatioEstimate) -> str:
    """Say how large a difference may be that was not seen.

    An interval without 1 in it was not beyond noise among all that were compared together, which does not show that
    there is nothing. One that reaches a half or twice as much, as of two repetitions, shows next to nothing: no
    percentage should hide that.
    """
    low, high, largest = ratio.low, ratio.high, ratio.largest_compatible or 0.0
    if low is not None and high is not None and largest > NEGLIGIBLE:
        said = f"{_end(low)} to {_end(high)} times are possible"
        if not low <= 1 <= high:
            return f"among so many it may be chance: {said}"
        if low <= TOO_WIDE[0] or high >= TOO_WIDE[1]:
            return f"too wide to tell: {said}"
    return f"no difference above {percent(max(largest, LEAST_SHOWN))} %"


def signed_percent(ratio: float) -> str:
    """Print a ratio as a change with its sign: `+3.1 %`."""
    return f"{'+' if ratio >= 1 else '-'}{percent(abs(ratio - 1))} %"


def _end(ratio: float) -> str:
    if ratio < SHOWN[0]:
        return f"less than {SHOWN[0]}"
    return ratio_text(ratio) if ratio <= SHOWN[1] else f"more than {SHOWN[1]:,.0f}"


def _adjust(verdicts: Sequence[Verdict]) -> list[Verdict]:
    tested = [verdict.ratio.p for verdict in verdicts if verdict.ratio.p is not None and not verdict.ratio.exact]
    adjusted = iter(holm(tested))
    return [
        verdict
        if verdict.ratio.p is None
        else replace(verdict, p_adjusted=verdict.ratio.p if verdict.ratio.exact else next(adjusted))
        for verdict in verdicts
    ]
