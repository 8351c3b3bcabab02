"""Medians with intervals, ratios with intervals, and tests that stay honest with three to ten repetitions.

The reasons for each choice are in docs/statistics.md.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from dnsrig.report.student import t_quantile, t_two_sided_p

CONFIDENCE = 0.95
SIGNIFICANCE = 0.05
POWER = 0.80
BOOTSTRAP_DRAWS = 10_000
FEWEST_FOR_BOOTSTRAP = 10
"""With fewer values, the bootstrap of a median covers the true one clearly less often than it claims."""
FEWEST_FOR_CONFIDENCE = 5
"""With fewer repetitions the report says that its intervals rest on an assumed distribution."""
SAME = 1e-9
"""Relative difference below which two figures are the same number."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A median of `n` repetitions with its 95 % interval; `low` and `high` are None for one repetition."""

    median: float
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True, slots=True)
class RatioEstimate:
    """How one case's figure compares with another's.

    Attributes:
        ratio: estimate of the first figure divided by the second.
        low, high: 95 % interval of `ratio`, not adjusted for the number of comparisons; None when there
            were too few repetitions for one.
        p: two-sided p-value of "the ratio is 1"; None with `low`.
        smallest_visible: the relative difference (0.03: 3 %) that this comparison would have found four
            times out of five; None with `low`.
        n: repetitions of either side, the smaller number.
        log_ratio, standard_error, degrees: what the above were reckoned from.
        exact: both sides repeat without any spread, so that every difference is a difference.

    """

    ratio: float
    low: float | None
    high: float | None
    p: float | None
    smallest_visible: float | None
    n: int
    log_ratio: float
    standard_error: float
    degrees: float
    exact: bool = False

    @property
    def largest_compatible(self) -> float | None:
        """The largest relative difference that the interval leaves possible: "no difference above y"."""
        if self.low is None or self.high is None:
            return None
        return max(abs(self.low - 1), abs(self.high - 1))


def estimate(values: Sequence[float], seed: int, least: float = -math.inf) -> Estimate:
    """Return the median of `values` with its 95 % interval.

    Ten values or more: percentile bootstrap of the median. Fewer: Student's t on logarithms (on the values
    themselves if one isn't positive), widened where needed to hold the median. It doesn't reach below `least`, which
    the figure can't.
    """
    data = np.asarray(values, dtype=np.float64)
    if data.size == 0:
        raise ValueError("no values to estimate from")
    median = float(np.median(data))
    if data.size == 1:
        return Estimate(median, None, None, 1)
    if _no_spread(data):
        return Estimate(median, median, median, int(data.size))
    low, high = bootstrap_interval(data, seed) if data.size >= FEWEST_FOR_BOOTSTRAP else _t_interval(data)
    return Estimate(median, min(max(low, least), median), max(high, median), int(data.size))


def bootstrap_interval(values: npt.NDArray[np.float64], seed: int) -> tuple[float, float]:
    """Return the 95 % percentile bootstrap interval of the median, the same for the same `seed`."""
    generator = np.random.default_rng(seed)
    draws = generator.integers(0, values.size, size=(BOOTSTRAP_DRAWS, values.size))
    medians = np.median(values[draws], axis=1)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(medians, [tail, 1 - tail])
    return float(low), float(high)


def _t_interval(values: npt.NDArray[np.float64]) -> tuple[float, float]:
    logarithmic = bool(np.all(values > 0))
    data = np.log(values) if logarithmic else values
    half = _t_critical(values.size - 1) * float(np.std(data, ddof=1)) / math.sqrt(values.size)
    middle = float(np.mean(data))
    if logarithmic:
        return math.exp(middle - half), math.exp(middle + half)
    return middle - half, middle + half


def paired_ratio(first: Mapping[int, float], second: Mapping[int, float]) -> RatioEstimate | None:
    """Compare two cases of one run, repetition by repetition, so that a drift of the machine cancels.

    Keys are repetition numbers; only those that both sides have count. None when there is none, or when a
    figure isn't positive and so has no ratio.
    """
    common = sorted(first.keys() & second.keys())
    ours = np.asarray([first[key] for key in common], dtype=np.float64)
    theirs = np.asarray([second[key] for key in common], dtype=np.float64)
    if not common or np.any(ours <= 0) or np.any(theirs <= 0):
        return None
    if _no_spread(ours) and _no_spread(theirs):
        return _exact_ratio(ours, theirs)
    logs = np.log(ours / theirs)
    if len(common) == 1:
        return _single_ratio(float(logs[0]))
    error = float(np.std(logs, ddof=1)) / math.sqrt(len(common))
    return _ratio(float(np.mean(logs)), error, len(common) - 1, len(common))


def unpaired_ratio(first: Sequence[float], second: Sequence[float]) -> RatioEstimate | None:
    """Compare cases of two runs by Welch's t-test on logarithms; None as in `paired_ratio`."""
    ours, theirs = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if not ours.size or not theirs.size or np.any(ours <= 0) or np.any(theirs <= 0):
        return None
    if _no_spread(ours) and _no_spread(theirs):
        return _exact_ratio(ours, theirs)
    log_ratio = float(np.mean(np.log(ours)) - np.mean(np.log(theirs)))
    if min(ours.size, theirs.size) == 1:
        return _single_ratio(log_ratio)
    parts = [(float(np.var(np.log(side), ddof=1)) / side.size, side.size - 1) for side in (ours, theirs)]
    return _ratio(log_ratio, *_combine(parts), min(ours.size, theirs.size))


def overall_ratio(ratios: Sequence[RatioEstimate]) -> RatioEstimate | None:
    """Return the geometric mean of several cases' ratios: one test for "is the whole run different".

    The cases count equally. Its degrees of freedom are Satterthwaite's, so that few repetitions of many
    cases add up. None when no ratio has an interval.
    """
    usable = [ratio for ratio in ratios if ratio.p is not None]
    if not usable:
        return None
    mean = sum(ratio.log_ratio for ratio in usable) / len(usable)
    parts = [((ratio.standard_error / len(usable)) ** 2, ratio.degrees) for ratio in usable]
    n = min(ratio.n for ratio in usable)
    if all(ratio.exact for ratio in usable):
        return _certain_ratio(mean, n, exact=True)
    return _ratio(mean, *_combine(parts), n)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p-values adjusted for their number by Holm's method (Scand. J. Statist. 6:65, 1979)."""
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(order):
        largest = max(largest, min(1.0, p_values[index] * (len(p_values) - rank)))
        adjusted[index] = largest
    return adjusted


def _combine(parts: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Add variances; return the standard error and Satterthwaite's degrees of freedom."""
    total = sum(variance for variance, _ in parts)
    spread = sum(variance**2 / degrees for variance, degrees in parts if variance > 0)
    return math.sqrt(total), total**2 / spread if spread > 0 else 1.0


def _ratio(log_ratio: float, error: float, degrees: float, n: int) -> RatioEstimate:
    if error <= SAME:
        return _certain_ratio(log_ratio, n, exact=False)
    half = _t_critical(degrees) * error
    visible = (_t_critical(degrees) + t_quantile(POWER, degrees)) * error
    return RatioEstimate(
        ratio=math.exp(log_ratio),
        low=math.exp(log_ratio - half),
        high=math.exp(log_ratio + half),
        p=t_two_sided_p(log_ratio / error, degrees),
        smallest_visible=math.expm1(visible),
        n=n,
        log_ratio=log_ratio,
        standard_error=error,
        degrees=degrees,
    )


def _exact_ratio(first: npt.NDArray[np.float64], second: npt.NDArray[np.float64]) -> RatioEstimate:
    log_ratio = math.log(float(first[0]) / float(second[0]))
    if min(first.size, second.size) == 1:
        return _single_ratio(log_ratio)
    return _certain_ratio(log_ratio, min(first.size, second.size), exact=True)


def _certain_ratio(log_ratio: float, n: int, *, exact: bool) -> RatioEstimate:
    ratio = 1.0 if abs(log_ratio) <= SAME else math.exp(log_ratio)
    p = 1.0 if ratio == 1.0 else 0.0
    return RatioEstimate(ratio, ratio, ratio, p, 0.0, n, log_ratio, 0.0, math.inf, exact)


def _single_ratio(log_ratio: float) -> RatioEstimate:
    return RatioEstimate(math.exp(log_ratio), None, None, None, None, 1, log_ratio, math.nan, 0.0)


def _no_spread(values: npt.NDArray[np.float64]) -> bool:
    ordered = np.sort(values)
    return all(abs(high - low) <= SAME * abs(high) for low, high in pairwise(ordered.tolist()))


def _t_critical(degrees: float) -> float:
    return t_quantile((1 + CONFIDENCE) / 2, min(degrees, 1e6))
