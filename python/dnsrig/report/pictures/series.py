"""A figure over the time of every load: whether it drifts, jumps or fades within or between repetitions."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence

from dnsrig.report.cases import CaseResult
from dnsrig.report.grid import Grid
from dnsrig.report.pictures import plots
from dnsrig.report.pictures.style import INK, axis_number, colours_of_rows, legend_of_rows, server_panels

_HEIGHT_IN = 1.35
_TITLE_COLUMNS = 20
"""So many letters of the title fit beside the panels of a server."""
_DASHES = (0, (3, 1.5))

Line = tuple[Sequence[float], Sequence[float]]
"""Seconds since the load began, and values."""


def draw_series(grid: Grid, title: str, lines_of: Callable[[CaseResult], Sequence[Line]]) -> plots.Figure:
    """Draw all repetitions of every case over time: a panel a server and column, a colour a row.

    Tainted cases are dashed. Loads of one column are equally long, those of others may be longer or shorter.
    """
    figure, panels = server_panels(grid, _HEIGHT_IN, share_x=False)
    lines = {case.case_id: lines_of(case) for case in grid.cases}
    top = max((value for found in lines.values() for _, values in found for value in values), default=0.0)
    for (server, column), axes in panels.items():
        axes.set_ylim(0, (top or 1.0) * 1.08)
        axes.yaxis.set_major_formatter(axis_number)
        axes.locator_params(axis="y", nbins=4)
        axes.locator_params(axis="x", nbins=6, integer=True)
        for row in grid.rows:
            case = grid.cell(server, row, column)
            if case is not None:
                _draw_case(axes, case, lines[case.case_id], colours_of_rows(grid)[row.key])
    for column in grid.columns:
        cases = [grid.cell(server, row, column) for server in grid.servers for row in grid.rows]
        ends = [end for case in cases if case is not None for times, _ in lines[case.case_id] for end in times[-1:]]
        panels[grid.servers[0], column].set_xlim(0, (max(ends, default=0.0) or 1.0) * 1.03)
    figure.supxlabel("seconds since the load began", fontsize="medium")
    # Beside one line of panels a longer one would reach into the legend.
    figure.supylabel(textwrap.fill(title, _TITLE_COLUMNS * max(len(grid.servers), 1)), fontsize="medium")
    dashed = plots.Line2D([], [], color=INK, linestyle=_DASHES, label="tainted")
    legend_of_rows(figure, grid, *([dashed] if any(case.taints for case in grid.cases) else []))
    return figure


def interval_rates(case: CaseResult) -> list[Line]:
    """Return the answered queries per second of every repetition, without the drain after its end."""
    found: list[Line] = []
    for item in case.measurements:
        rows = [row for row in item["load"].get("intervals", ()) if row.get("phase", "measure") == "measure"]
        lengths = [float(row.get("length_s", 1.0)) for row in rows]
        starts = [float(row.get("start_s", index)) for index, row in enumerate(rows)]
        # A last interval much shorter than the others would show noise only.
        full = [index for index, length in enumerate(lengths) if length >= 0.5 * max(lengths)]
        found.append(
            (
                [starts[index] + lengths[index] / 2 for index in full],
                [float(rows[index]["answered"]) / lengths[index] for index in full],
            )
        )
    return found


def _draw_case(axes: plots.Axes, case: CaseResult, lines: Sequence[Line], colour: str) -> None:
    for times, values in lines:
        axes.plot(
            times,
            values,
            color=colour,
            linewidth=0.9,
            alpha=0.8,
            linestyle=_DASHES if case.taints else "solid",
            marker="o" if len(times) == 1 else None,
            markersize=3,
        )
