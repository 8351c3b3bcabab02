"""Requests per second over the time of a capture."""

from __future__ import annotations

import io
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from dnsrig.report.pictures import plots
from dnsrig.report.pictures.gallery import svg_for_page
from dnsrig.report.pictures.style import COLOURS, axis_number, new_figure, style

_HEIGHT_IN = 3.0
_POINTS = 2000
"""More intervals than that cannot be told apart in a picture."""

Runs = Sequence[tuple[int, Sequence[int]]]
"""Runs of seconds with requests: the first of each since 1970, and the requests of each."""


def intervals(runs: Runs) -> tuple[list[int], int, list[float], list[float]]:
    """Cut the time into equal intervals of whole seconds.

    Return when each begins (seconds since 1970), their length, and the mean and the greatest rate in each.
    """
    first = runs[0][0]
    last = runs[-1][0] + len(runs[-1][1])
    length = max(1, -(-(last - first) // _POINTS))
    sums = np.zeros(-(-(last - first) // length))
    peaks = np.zeros_like(sums)
    for start, counts in runs:
        places = (start - first + np.arange(len(counts))) // length
        np.add.at(sums, places, counts)
        np.maximum.at(peaks, places, counts)
    begins = [first + length * place for place in range(len(sums))]
    return begins, length, (sums / length).tolist(), peaks.tolist()


def draw_rate(runs: Runs) -> plots.Figure:
    """Draw the mean rate, and the greatest second of each interval where one has several."""
    begins, length, means, peaks = intervals(runs)
    # Numbers of days, as matplotlib has them.
    dates: Any = plots.dates
    times: Any = [dates.date2num(datetime.fromtimestamp(begin, UTC)) for begin in begins]
    figure, [[axes]] = new_figure(_HEIGHT_IN, 1, 1)
    if length > 1:
        axes.fill_between(
            times, means, peaks, step="post", color=COLOURS[5], alpha=0.5, linewidth=0, label="busiest second"
        )
    axes.step(times, means, where="post", color=COLOURS[0], linewidth=0.9, label=f"mean of {length} s")
    locator = dates.AutoDateLocator(tz=UTC)
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator, tz=UTC))
    axes.yaxis.set_major_formatter(axis_number)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("requests per second")
    axes.set_xlabel("time, UTC")
    if length > 1:
        axes.legend(loc="upper right")
    return figure


def rate_svg(runs: Runs, caption: str) -> str:
    """Draw the rate as an SVG to stand in a page."""
    with style(salt="rate"):
        text = io.StringIO()
        draw_rate(runs).savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": "dnsrig"})
    return svg_for_page(text.getvalue(), "rate", caption)
