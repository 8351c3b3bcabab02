"""Bars by server and row, one panel a column of the study: what a figure is in every case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from dnsrig.report.cases import CaseResult
from dnsrig.report.figures import FIGURES
from dnsrig.report.grid import Grid, Row
from dnsrig.report.notes import AT_LEAST, Notes, rate_is_lower_bound
from dnsrig.report.pictures import plots
from dnsrig.report.pictures.style import INK, bare, colours_of_rows, column_panels, legend_of_rows
from dnsrig.report.pictures.whiskers import draw_whisker, whisker_limit

_BAR = 0.78
_ROOM_FOR_LABELS = 1.42
_INCHES_A_BAR = 0.2
_TAINTED = "tainted (letters: why, in the report)"
_LEAST_IN = 0.9
"""Less has no room for what stands at the axes."""


@dataclass(frozen=True, slots=True)
class PublishedGroup:
    """A group of bars that weren't measured: `values` by (row value, column)."""

    label: str
    values: Mapping[tuple[str, str], float]


@dataclass(frozen=True, slots=True)
class _Bar:
    value: float
    text: str
    low: float | None = None
    high: float | None = None
    place: float = 0.0
    colour: str = INK
    published: bool = False
    tainted: bool = False


def draw_bars(grid: Grid, figure_key: str, notes: Notes, published: tuple[PublishedGroup, ...] = ()) -> plots.Figure:
    """Draw the figure called `figure_key` for all cases, and published values as open bars below them.

    Whiskers are 95 % intervals. A tainted case's bar is hatched and its value carries its notes' letters; a
    rate that the generator bounded is marked as "at least".
    """
    groups = [*grid.servers, *(group.label for group in published)]
    height = max(_LEAST_IN, 0.1 + _INCHES_A_BAR * len(groups) * (len(grid.rows) + 0.8))
    figure, panels = column_panels(grid, height, grid.columns)
    bars = {
        column: [
            bar
            for position in range(len(groups))
            for bar in _group(grid, position, column, figure_key=figure_key, notes=notes, published=published)
        ]
        for column in grid.columns
    }
    drawn = [bar for members in bars.values() for bar in members]
    medians, highs = [bar.value for bar in drawn], [bar.high for bar in drawn]
    largest = max([*medians, whisker_limit(medians, highs)], default=1.0)
    for column, (axes,) in panels.items():
        _draw_panel(axes, bars[column], largest)
        axes.set_yticks(
            [_place(grid, position, (len(grid.rows) - 1) / 2) for position in range(len(groups))],
            [grid.titles.get(name, name) for name in groups],
        )
        axes.set_ylim(_place(grid, len(groups) - 1, len(grid.rows)), -1.0)
    entry = FIGURES[figure_key]
    figure.supxlabel(f"{entry.title} [{entry.unit}]" if entry.unit else entry.title, fontsize="medium")
    hatch = plots.Patch(facecolor="none", edgecolor=INK, hatch="////", linewidth=0, label=_TAINTED)
    legend_of_rows(figure, grid, *([hatch] if any(case.taints for case in grid.cases) else []))
    return figure


def _group(
    grid: Grid,
    position: int,
    column: str,
    *,
    figure_key: str,
    notes: Notes,
    published: tuple[PublishedGroup, ...],
) -> list[_Bar]:
    bars = []
    colours = colours_of_rows(grid)
    for index, row in enumerate(grid.rows):
        if position < len(grid.servers):
            case = grid.cell(grid.servers[position], row, column)
            bar = None if case is None else _measured(grid, case, figure_key, notes.mark(case))
        else:
            group = published[position - len(grid.servers)]
            bar = _published(group, row, column, figure_key)
        if bar is not None:
            bars.append(replace(bar, place=_place(grid, position, index), colour=colours[row.key]))
    return bars


def _measured(grid: Grid, case: CaseResult, figure_key: str, mark: str) -> _Bar | None:
    found = case.estimate(figure_key, grid.seed)
    if found is None:
        return None
    at_least = f"{AT_LEAST} " if figure_key == "qps" and rate_is_lower_bound(case) else ""
    text = f"{at_least}{FIGURES[figure_key].text(found.median)}{f' ({mark})' if mark else ''}"
    return _Bar(found.median, text, low=found.low, high=found.high, tainted=bool(mark))


def _published(group: PublishedGroup, row: Row, column: str, figure_key: str) -> _Bar | None:
    value = group.values.get((str(row.value), column))
    if value is None:
        return None
    return _Bar(value, FIGURES[figure_key].text(value), published=True)


def _draw_panel(axes: plots.Axes, bars: list[_Bar], largest: float) -> None:
    axes.set_xlim(0, largest * _ROOM_FOR_LABELS)
    axes.locator_params(axis="x", nbins=4)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}" if value >= 10 or value == 0 else f"{value:g}")
    bare(axes)
    for bar in bars:
        axes.barh(
            bar.place,
            bar.value,
            height=_BAR,
            facecolor="none" if bar.published else bar.colour,
            edgecolor=bar.colour if bar.published else "none",
            linewidth=1.0,
        )
        if bar.tainted:
            axes.barh(bar.place, bar.value, height=_BAR, facecolor="none", edgecolor=INK, hatch="////", linewidth=0)
        if bar.low is not None and bar.high is not None:
            draw_whisker(axes, (bar.low, bar.high), bar.place, largest, colour=INK)
        end = min(max(bar.value, bar.high or 0), largest)
        axes.annotate(
            bar.text,
            (end, bar.place),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize="small",
        )


def _place(grid: Grid, group: int, row: float) -> float:
    return group * (len(grid.rows) + 0.8) + row
