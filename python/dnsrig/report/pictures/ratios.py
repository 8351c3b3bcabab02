"""Published and measured ratios to the baseline case, side by side."""

from __future__ import annotations

from dataclasses import dataclass

from dnsrig.report.figures import ratio_text
from dnsrig.report.grid import Grid, Row
from dnsrig.report.layout import PublishedFigures
from dnsrig.report.notes import Notes
from dnsrig.report.pictures import plots
from dnsrig.report.pictures.style import COLOURS, INK, MARKERS, MUTED, bare, column_panels
from dnsrig.report.pictures.whiskers import draw_whisker, whisker_limit

_INCHES_A_POINT = 0.21


@dataclass(frozen=True, slots=True)
class _Point:
    label: str
    value: float
    colour: str
    marker: str
    low: float | None = None
    high: float | None = None
    published: bool = False
    mark: str = ""


def draw_ratios(grid: Grid, figure_key: str, published: tuple[PublishedFigures, ...], notes: Notes) -> plots.Figure:
    """Draw each row's ratio to the baseline for the columns that were published; open points are published.

    A rate below 1 is slower than the baseline. Letters are of the notes on the two cases of a ratio.
    """
    known = {column for table in published for _, column in table.values}
    columns = [column for column in grid.columns if column in known]
    rows = [row for row in grid.rows if not row.is_baseline]
    lines = len(rows) * (len(grid.servers) + len(published) + 0.9)
    figure, panels = column_panels(grid, _INCHES_A_POINT * lines, columns)
    points = {
        (row.key, column): _points(grid, row, column, figure_key=figure_key, published=published, notes=notes)
        for row in rows
        for column in columns
    }
    drawn = [point for found in points.values() for point in found]
    medians, highs = [point.value for point in drawn], [point.high for point in drawn]
    limit = max([1.05, *medians, whisker_limit(medians, highs)])
    for column, (axes,) in panels.items():
        ticks: list[tuple[float, str]] = []
        place = 0.0
        for row in rows:
            axes.annotate(
                row.label, (0, place), xycoords=("axes fraction", "data"), xytext=(3, 0),
                textcoords="offset points", fontweight="bold", va="center",
            )  # fmt: skip
            for point in points[row.key, column]:
                place += 1
                _draw_point(axes, place, point, limit)
                ticks.append((place, point.label))
            place += 1.4
        axes.set_yticks([tick for tick, _ in ticks], [name for _, name in ticks])
        axes.set_ylim(place - 0.6, -0.7)
        axes.axvline(1.0, color=INK, linewidth=0.9)
        axes.set_xlim(0, limit * 1.2)
        bare(axes)
    figure.supxlabel(f"ratio to {grid.text.baseline_label} (1: the same)", fontsize="medium")
    return figure


def _points(
    grid: Grid,
    row: Row,
    column: str,
    *,
    figure_key: str,
    published: tuple[PublishedFigures, ...],
    notes: Notes,
) -> list[_Point]:
    points = []
    for index, table in enumerate(published):
        value = table.values.get((str(row.value), column))
        base = table.values.get((grid.text.baseline, column))
        if value is not None and base:
            points.append(_Point(table.label, value / base, MUTED, MARKERS[index], published=True))
    for index, server in enumerate(grid.servers):
        ratio = grid.ratio_to_baseline(server, row, column, figure_key)
        if ratio is not None:
            colour, marker = COLOURS[index % len(COLOURS)], MARKERS[index % len(MARKERS)]
            mark = ",".join(letter for letter, _ in notes.reasons(grid.cases_of_ratio(server, row, column)))
            points.append(
                _Point(
                    grid.titles[server],
                    ratio.ratio,
                    colour,
                    marker,
                    low=ratio.low,
                    high=ratio.high,
                    mark=mark,
                )
            )
    return points


def _draw_point(axes: plots.Axes, place: float, point: _Point, limit: float) -> None:
    if point.low is not None and point.high is not None:
        draw_whisker(axes, (point.low, point.high), place, limit, colour=point.colour)
    axes.plot(
        [point.value],
        [place],
        marker=point.marker,
        markersize=6,
        color=point.colour,
        markerfacecolor="none" if point.published else point.colour,
        linestyle="none",
    )
    axes.annotate(
        ratio_text(point.value) + (f" ({point.mark})" if point.mark else ""),
        (min(max(point.value, point.high or 0), limit), place),
        xytext=(7, 0),
        textcoords="offset points",
        va="center",
        fontsize="small",
    )
