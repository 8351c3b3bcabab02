"""Bars on a logarithmic axis: figures of one server's cases that lie orders of magnitude apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dnsrig.report.pictures import plots
from dnsrig.report.pictures.style import INK, bare, new_figure

_BAR = 0.7
_INCHES_A_BAR = 0.23
_PANELS_ACROSS = 2
_ROOM_FOR_LABELS = 30
"""The axis goes on to this multiple of the largest value, for the text beside the bars."""


@dataclass(frozen=True, slots=True)
class LogBar:
    """One bar: its `row`, a value with its interval, the text beside it, and a second, reckoned value."""

    row: str
    value: float
    text: str
    colour: str
    low: float | None = None
    high: float | None = None
    reckoned: float | None = None
    tainted: bool = False


def draw_log_bars(
    panels: Sequence[tuple[str, Sequence[LogBar]]], rows: Sequence[str], title: str, reckoned: str
) -> plots.Figure:
    """Draw a panel for each (name, bars), with a line for each of `rows`; `title` names the axis.

    Whiskers are intervals, open diamonds the values that `reckoned` names, hatched bars tainted ones.
    """
    across = max(1, min(_PANELS_ACROSS, len(panels)))
    down = max(1, math.ceil(len(panels) / across))
    figure, axes = new_figure(0.8 + down * (0.4 + _INCHES_A_BAR * len(rows)), down, across, share_x=True, share_y=True)
    places = [place for line in axes for place in line]
    drawn = [bar for _, bars in panels for bar in bars if bar.value > 0]
    values = [value for bar in drawn for value in (bar.value, bar.reckoned) if value] or [1.0]
    limits = (10 ** math.floor(math.log10(min(values)) - 0.3), max(values) * _ROOM_FOR_LABELS)
    for place, (name, bars) in zip(places, panels, strict=False):
        _draw_panel(place, [bar for bar in bars if bar.value > 0], rows, limits)
        place.set_title(name)
    for place in places[len(panels) :]:
        place.set_visible(False)
    handles: list[plots.Line2D | plots.Patch] = [_diamond(label=reckoned)]
    if any(bar.tainted for bar in drawn):
        handles.append(plots.Patch(facecolor="none", edgecolor=INK, hatch="////", linewidth=0, label="tainted"))
    figure.legend(handles=handles, loc="outside upper left", ncols=2)
    figure.supxlabel(title, fontsize="medium")
    return figure


def _draw_panel(axes: plots.Axes, bars: Sequence[LogBar], rows: Sequence[str], limits: tuple[float, float]) -> None:
    axes.set_xscale("log")
    axes.set_xlim(*limits)
    axes.xaxis.set_major_locator(plots.LogLocator(10))
    axes.xaxis.set_minor_locator(plots.NullLocator())
    axes.xaxis.set_major_formatter(_short)
    axes.tick_params(axis="x", labelsize="small", labelbottom=True)
    axes.set_yticks(range(len(rows)), rows)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    bare(axes)
    for bar in bars:
        place = rows.index(bar.row)
        width = bar.value - limits[0]
        axes.barh(place, width, left=limits[0], height=_BAR, facecolor=bar.colour)
        if bar.tainted:
            axes.barh(
                place, width, left=limits[0], height=_BAR, facecolor="none", edgecolor=INK, hatch="////", linewidth=0
            )
        if bar.low is not None and bar.high is not None and bar.high > bar.low:
            high = min(bar.high, limits[1] / _ROOM_FOR_LABELS)
            axes.plot([max(bar.low, limits[0]), max(high, bar.value)], [place, place], color=INK, linewidth=1.1)
        if bar.reckoned:
            axes.add_line(_diamond(bar.reckoned, place))
        end = min(max(bar.value, bar.high or 0, bar.reckoned or 0), limits[1] / _ROOM_FOR_LABELS)
        axes.annotate(bar.text, (end, place), xytext=(6, 0), textcoords="offset points", va="center", fontsize="small")


def _short(value: float, _position: float) -> str:
    """Print a power of ten: 100, 1 k, 10 k, 1 M."""
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:,.0f} {letter}"
    return f"{value:g}"


def _diamond(x: float | None = None, y: float | None = None, label: str = "") -> plots.Line2D:
    return plots.Line2D(
        [] if x is None else [x],
        [] if y is None else [y],
        marker="D",
        markersize=4.5,
        color=INK,
        markerfacecolor="white",
        linestyle="none",
        label=label,
    )
