"""Curves over a numeric axis of rows (such as NSEC3 iterations), a line a column of the study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dnsrig.report.cases import CaseResult
from dnsrig.report.figures import CPU, QPS
from dnsrig.report.figures import Figure as CaseFigure
from dnsrig.report.grid import Grid, Row
from dnsrig.report.notes import Notes
from dnsrig.report.pictures import plots
from dnsrig.report.pictures.style import COLOURS, MARKERS, axis_number, new_figure

_HEIGHT_IN = 2.3


@dataclass(frozen=True, slots=True)
class _Look:
    entry: CaseFigure
    notes: Notes
    colour: str
    marker: str


def draw_curves(grid: Grid, notes: Notes) -> plots.Figure:
    """Draw CPU per query and rate over the row axis, a panel a server; whiskers are 95 % intervals.

    Tainted cases are drawn as open points with their notes' letters.
    """
    figure, panels = new_figure(_HEIGHT_IN * 2, 2, len(grid.servers), share_x=True)
    rows = sorted((row for row in grid.rows if _number(row) is not None), key=lambda row: _number(row) or 0)
    for line, entry in zip(panels, (CPU, QPS), strict=True):
        top = max((value for row in rows for value in _highs(grid, row, entry)), default=1.0)
        for axes, server in zip(line, grid.servers, strict=True):
            axes.set_ylim(0, top * 1.08)
            axes.yaxis.set_major_locator(plots.MaxNLocator(5))
            axes.yaxis.set_major_formatter(axis_number)
            axes.tick_params(labelleft=axes is line[0])
            for index, column in enumerate(grid.columns):
                cases = [(row, grid.cell(server, row, column)) for row in rows]
                points = [(_number(row) or 0.0, case) for row, case in cases if case is not None]
                _draw_curve(axes, grid, points, _Look(entry, notes, COLOURS[index], MARKERS[index]))
        line[0].set_ylabel(f"{entry.title}\n[{entry.unit}]")
    for axes, server in zip(panels[0], grid.servers, strict=True):
        axes.set_title(grid.titles[server])
    for axes in panels[1]:
        axes.set_xlabel(grid.text.rows.title)
    handles = [
        plots.Line2D([], [], color=COLOURS[index], marker=MARKERS[index], markersize=4, label=grid.column_label(column))
        for index, column in enumerate(grid.columns)
    ]
    figure.legend(handles=handles, loc="outside upper left", ncols=len(handles))
    return figure


def _highs(grid: Grid, row: Row, entry: CaseFigure) -> list[float]:
    cases = [grid.cell(server, row, column) for server in grid.servers for column in grid.columns]
    found = [case.estimate(entry.key, grid.seed) for case in cases if case is not None]
    return [max(item.median, item.high or 0) for item in found if item is not None]


def _draw_curve(axes: plots.Axes, grid: Grid, points: Sequence[tuple[float, CaseResult]], look: _Look) -> None:
    found = [(x, case, case.estimate(look.entry.key, grid.seed)) for x, case in points]
    known = [(x, case, item) for x, case, item in found if item is not None]
    axes.plot([x for x, _, _ in known], [item.median for _, _, item in known], color=look.colour)
    for x, case, item in known:
        if item.low is not None and item.high is not None:
            axes.plot([x, x], [item.low, item.high], color=look.colour, linewidth=1.0)
        mark = look.notes.mark(case)
        fill = "none" if mark else look.colour
        axes.plot(x, item.median, look.marker, color=look.colour, markersize=4, markerfacecolor=fill)
        if mark:
            axes.annotate(f"({mark})", (x, item.median), xytext=(0, 5), textcoords="offset points")


def _number(row: Row) -> float | None:
    return float(row.value) if isinstance(row.value, int | float) else None
