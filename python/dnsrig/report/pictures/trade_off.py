"""Curves of one rate against another: what a server gives up of one for the other."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dnsrig.report.pictures.style import COLOURS, MARKERS, axis_number, new_figure
from dnsrig.report.pictures.whiskers import whisker_limit

_HEIGHT_IN = 2.9
_ROOM_ABOVE = 1.06


@dataclass(frozen=True, slots=True)
class Point:
    """Medians `x` and `y` of one case, with `y`'s interval, and letters of notes."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None
    mark: str = ""


def draw_trade_off(curves: Sequence[tuple[str, Sequence[Point]]], x_title: str, y_title: str) -> Figure:
    """Draw a curve for each (name, points), in the order of its points; open points are tainted.

    An arrow head says that an interval goes on.
    """
    figure, panels = new_figure(_HEIGHT_IN, 1, 1)
    axes = panels[0][0]
    drawn = [point for _, points in curves for point in points]
    limit = whisker_limit([point.y for point in drawn], [point.high for point in drawn])
    for index, (name, points) in enumerate(curves):
        colour, marker = COLOURS[index % len(COLOURS)], MARKERS[index % len(MARKERS)]
        axes.plot([point.x for point in points], [point.y for point in points], color=colour)
        axes.plot([], [], color=colour, marker=marker, markersize=4.5, label=name)
        for point in points:
            _draw_point(axes, point, colour, marker, limit)
    axes.set_xlim(left=0)
    axes.set_ylim(0, limit * _ROOM_ABOVE)
    axes.xaxis.set_major_formatter(axis_number)
    axes.yaxis.set_major_formatter(axis_number)
    axes.set_xlabel(x_title)
    axes.set_ylabel(y_title)
    figure.legend(loc="outside upper left", ncols=max(1, len(curves)))
    return figure


def _draw_point(axes: Axes, point: Point, colour: str, marker: str, limit: float) -> None:
    if point.low is not None and point.high is not None:
        axes.plot([point.x, point.x], [max(0.0, point.low), min(point.high, limit)], color=colour, linewidth=1.0)
        if point.high > limit:
            axes.plot(point.x, limit, "^", markersize=4, color=colour)
    fill = "white" if point.mark else colour
    axes.plot(point.x, point.y, marker, color=colour, markersize=4.5, markerfacecolor=fill, clip_on=False)
    if point.mark:
        axes.annotate(
            f"({point.mark})", (point.x, point.y), xytext=(4, 4), textcoords="offset points", fontsize="small"
        )
