"""How a resolver goes from cold to hot: cache hits and latency over the time of a load, by spans that get longer."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from statistics import fmean, median
from typing import Any

from dnsrig.report.cases import CaseResult
from dnsrig.report.figures import HIT_SHARE, LATENCY_P50, LATENCY_P99, UPSTREAM, Figure, Measurement

SERIES: Sequence[tuple[str, Figure, float]] = (
    ("cache_hit_share", HIT_SHARE, 100),
    ("latency_p50_ns", LATENCY_P50, 1),
    ("latency_p99_ns", LATENCY_P99, 1),
    ("upstream_per_query", UPSTREAM, 1),
)
"""Keys of a measurement's seconds, with the figures that they are of, and how many of a figure's units one is."""
STEPS = (1, 2, 5)
"""Spans end after these seconds, after ten times as many, and so on."""

Span = tuple[float, float]
"""Seconds since a load began, from and to."""


def seconds_of(measurement: Measurement) -> Mapping[str, Sequence[Any]]:
    """Return the seconds of a repetition, lists of one length; empty where they were not looked at."""
    found: Mapping[str, Sequence[Any]] = measurement.get("cold_start", {}).get("by_second", {})
    return found


def spans(length_s: float) -> list[Span]:
    """Cut the time of a load into spans of which each is about as long as all before it together."""
    ends, scale = [0.0], 1
    while ends[-1] < length_s:
        ends += [float(step * scale) for step in STEPS if step * scale < length_s]
        if STEPS[-1] * scale >= length_s:
            ends.append(float(length_s))
        scale *= 10
    return list(pairwise(ends))


def spans_of(cases: Sequence[CaseResult]) -> list[Span]:
    """Give the spans of the longest load of some cases; none where no seconds were looked at."""
    begins = [begin for case in cases for item in case.measurements for begin in seconds_of(item).get("start_s", ())]
    return spans(round(max(begins)) + 1) if begins else []


def by_span(case: CaseResult, key: str, wanted: Sequence[Span]) -> list[float | None]:
    """Give a series of a case by span: in the mean over its seconds, and the median of the repetitions of that."""
    found = []
    for span in wanted:
        each = (_mean(seconds_of(item), key, span) for item in case.measurements)
        means = [mean for mean in each if mean is not None]
        found.append(median(means) if means else None)
    return found


def _mean(seconds: Mapping[str, Sequence[Any]], key: str, span: Span) -> float | None:
    pairs = zip(seconds.get("start_s", ()), seconds.get(key, ()), strict=True)
    # A load's seconds begin some microseconds off.
    values = [value for begin, value in pairs if span[0] <= round(begin) < span[1] and value is not None]
    return fmean(values) if values else None


def warming_summary(case: CaseResult) -> dict[str, Any]:
    """Return how a case went from cold to hot, as it stands in `summary.json`; empty where that was not looked at."""
    found = spans_of([case])
    if not found:
        return {}
    series = {key: by_span(case, key, found) for key, _, _ in SERIES}
    return {"warming": {"spans_s": [list(span) for span in found], **series}}


def lines_of(key: str, unit: float) -> Callable[[CaseResult], list[tuple[list[float], list[float]]]]:
    """Give what returns a series of a case's repetitions second by second, in units of so many of what was read."""

    def lines(case: CaseResult) -> list[tuple[list[float], list[float]]]:
        found = []
        for item in case.measurements:
            seconds = seconds_of(item)
            pairs = zip(seconds.get("start_s", ()), seconds.get(key, ()), strict=True)
            known = [(begin + 0.5, value / unit) for begin, value in pairs if value is not None]
            found.append(([time_s for time_s, _ in known], [value for _, value in known]))
        return found

    return lines
