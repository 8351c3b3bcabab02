"""Curves of a ratio by a share in per cent, all on common axes, each beside a published curve."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dnsrig.report.pictures import plots
from dnsrig.report.pictures.style import INK, MUTED, axis_number, new_figure
from dnsrig.report.pictures.trade_off import Point
from dnsrig.report.pictures.whiskers import whisker_limit

_HEIGHT_IN = 1.7
_PANELS_ACROSS = 2
_ROOM_ABOVE = 1.06
_ROOM_BESIDE = 4
"""Per cent left and right of the outermost points, so that these do not lie on the axes."""


@dataclass(frozen=True, slots=True)
class Curve:
    """What one panel shows."""

    name: str
    points: Sequence[Point]
    colour: str


def draw_shares(
    curves: Sequence[Curve], published: Sequence[Point], titles: tuple[str, str], base: str
) -> plots.Figure:
    """Draw a panel for each curve; `titles` name the axes, `base` the dashed line at 1.

    Open points are tainted; an arrow head says that an interval goes on. The grey curve is `published`, if any.
    """
    across = min(_PANELS_ACROSS, len(curves))
    down = math.ceil(len(curves) / across)
    figure, panels = new_figure(0.9 + _HEIGHT_IN * down, down, across, share_x=True, share_y=True)
    places = [place for line in panels for place in line]
    drawn = [point for curve in curves for point in curve.points]
    limit = whisker_limit([1.0, *(point.y for point in (*drawn, *published))], [point.high for point in drawn])
    for axes, curve in zip(places, curves, strict=False):
        axes.axhline(1, color=INK, linewidth=0.9, linestyle="--")
        axes.plot([point.x for point in published], [point.y for point in published], color=MUTED, linewidth=1.2)
        _draw_curve(axes, curve, limit)
        axes.set_title(curve.name)
        axes.tick_params(labelbottom=True, labelleft=True)
        axes.set_xticks(sorted({point.x for point in (*drawn, *published)}))
        axes.set_xlim(-_ROOM_BESIDE, 100 + _ROOM_BESIDE)
        axes.set_ylim(0, limit * _ROOM_ABOVE)
        axes.yaxis.set_major_locator(plots.MaxNLocator(4, steps=[1, 2, 5, 10]))
        axes.yaxis.set_major_formatter(axis_number)
    for axes in places[len(curves) :]:
        axes.set_visible(False)
    handles = [plots.Line2D([], [], color=INK, linewidth=0.9, linestyle="--", label=base)]
    if published:
        handles.append(plots.Line2D([], [], color=MUTED, linewidth=1.2, label="published"))
    figure.legend(handles=handles, loc="outside upper left", ncols=2)
    figure.supxlabel(titles[0], fontsize="medium")
    figure.supylabel(titles[1], fontsize="medium")
    return figure


def _draw_curve(axes: plots.Axes, curve: Curve, limit: float) -> None:
    points, colour = curve.points, curve.colour
    axes.plot([point.x for point in points], [point.y for point in points], color=colour)
    for point in points:
        if point.low is not None and point.high is not None:
            axes.plot([point.x, point.x], [point.low, min(point.high, limit)], color=colour, linewidth=1.0)
            if point.high > limit:
                axes.plot(point.x, limit, "^", markersize=4, color=colour)
        fill = "white" if point.tainted else colour
        axes.plot(point.x, point.y, "o", color=colour, markersize=4.5, markerfacecolor=fill)
