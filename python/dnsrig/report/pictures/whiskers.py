"""Intervals beside a median, cut where a wide one would leave no room for the medians themselves."""

from __future__ import annotations

from collections.abc import Sequence

from dnsrig.report.pictures import plots

_ROOM_BEYOND_MEDIANS = 1.5
"""An interval is drawn up to this multiple of the largest median; from there an arrow says that it goes on."""


def whisker_limit(medians: Sequence[float], highs: Sequence[float | None]) -> float:
    """Give the value up to which intervals are drawn; 1 when there is nothing to draw."""
    largest = max(medians, default=1.0)
    return min(max((high for high in highs if high is not None), default=largest), _ROOM_BEYOND_MEDIANS * largest)


def draw_whisker(axes: plots.Axes, interval: tuple[float, float], place: float, limit: float, *, colour: str) -> None:
    """Draw `interval` at height `place`, up to `limit`, with an arrow head there if it goes on."""
    low, high = interval
    if low >= limit or high <= low:
        return
    axes.plot([low, min(high, limit)], [place, place], color=colour, linewidth=1.1)
    if high > limit:
        axes.plot([limit], [place], marker=">", markersize=4, color=colour, linestyle="none")
