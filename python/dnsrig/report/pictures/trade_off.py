"""Curves of one rate against another: what a server gives up of one for the other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dnsrig.report.pictures import plots
from dnsrig.report.pictures.style import COLOURS, axis_number, new_figure
from dnsrig.report.pictures.whiskers import whisker_limit

_HEIGHT_IN = 2.1
_PANELS_ACROSS = 2
_ROOM_ABOVE = 1.06


@dataclass(frozen=True, slots=True)
class Point:
    """Medians `x` and `y` of one case, with `y`'s interval."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None
    tainted: bool = False


def draw_trade_off(curves: Sequence[tuple[str, Sequence[Point]]], x_title: str, y_title: str) -> plots.Figure:
    """Draw a panel for each (name, points), with a curve in the order of its points; open points are tainted.

    An arrow head says that an interval goes on.
    """
    across = min(_PANELS_ACROSS, len(curves))
    down = math.ceil(len(curves) / across)
    figure, panels = new_figure(0.5 + _HEIGHT_IN * down, down, across)
    places = [place for line in panels for place in line]
    for index, (axes, (name, points)) in enumerate(zip(places, curves, strict=False)):
        _draw_panel(axes, points, COLOURS[index % len(COLOURS)])
        axes.set_title(name)
    for axes in places[len(curves) :]:
        axes.set_visible(False)
    figure.supxlabel(x_title, fontsize="medium")
    figure.supylabel(y_title, fontsize="medium")
    return figure


def _draw_panel(axes: plots.Axes, points: Sequence[Point], colour: str) -> None:
    limit = whisker_limit([point.y for point in points], [point.high for point in points])
    axes.plot([point.x for point in points], [point.y for point in points], color=colour)
    for point in points:
        _draw_point(axes, point, colour, limit)
    axes.set_xlim(left=0)
    axes.set_ylim(0, limit * _ROOM_ABOVE)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(plots.MaxNLocator(4))
        axis.set_major_formatter(axis_number)


def _draw_point(axes: plots.Axes, point: Point, colour: str, limit: float) -> None:
    if point.low is not None and point.high is not None:
        axes.plot([point.x, point.x], [max(0.0, point.low), min(point.high, limit)], color=colour, linewidth=1.0)
        if point.high > limit:
            axes.plot(point.x, limit, "^", markersize=4, color=colour)
    fill = "white" if point.tainted else colour
    axes.plot(point.x, point.y, "o", color=colour, markersize=4.5, markerfacecolor=fill, clip_on=False)
