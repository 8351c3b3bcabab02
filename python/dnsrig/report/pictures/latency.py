"""Logarithmic percentile plots of latency: the slowest queries get as much room as the middle ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dnsrig.report.figures import duration
from dnsrig.report.grid import Grid
from dnsrig.report.latency import LatencyCurve
from dnsrig.report.pictures import plots
from dnsrig.report.pictures.style import INK, colours_of_rows, legend_of_rows, server_panels

_HEIGHT_IN = 1.6
_DASHES = (0, (3, 1.5))
_TICKS = {2.0: "50", 10.0: "90", 100.0: "99", 1000.0: "99.9", 10_000.0: "99.99"}


def draw_latency(
    grid: Grid, curves: Mapping[str, LatencyCurve], repetitions: Mapping[str, Sequence[LatencyCurve]] | None = None
) -> plots.Figure:
    """Draw latency over percentile, a panel a server and column, a line a row; `curves` by case id.

    With `repetitions`, each of a case's is a thin line, on a band from the lowest to the highest of them. Tainted
    cases are dashed.
    """
    figure, panels = server_panels(grid, _HEIGHT_IN)
    each = repetitions or {}
    drawn = [*curves.values(), *(item for found in each.values() for item in found)]
    drawn = [curve for curve in drawn if curve.percentiles]
    values = [value for curve in drawn for value in curve.latencies_ns if value > 0]
    farthest = max((_tail(curve.percentiles[-1]) for curve in drawn), default=10)
    for (server, column), axes in panels.items():
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlim(2, farthest * 1.02)
        if values:
            axes.set_ylim(min(values) / 1.3, max(values) * 1.3)
        _draw_repetitions(axes, grid, (server, column), each)
        _draw_panel(axes, grid, (server, column), curves)
        axes.xaxis.set_major_locator(plots.FixedLocator([tick for tick in _TICKS if tick <= farthest * 1.05]))
        axes.xaxis.set_major_formatter(plots.FuncFormatter(lambda tick, _: _TICKS[tick]))
        axes.xaxis.set_minor_locator(plots.NullLocator())
        axes.yaxis.set_major_locator(plots.LogLocator(subs=(1, 2, 5) if _narrow(values) else (1,)))
        axes.yaxis.set_major_formatter(plots.FuncFormatter(lambda value, _: _axis_duration(value)))
        axes.yaxis.set_minor_locator(plots.NullLocator())
    figure.supxlabel("percentile of all queries sent", fontsize="medium")
    dashed = plots.Line2D([], [], color=INK, linestyle=_DASHES, label="tainted")
    legend_of_rows(figure, grid, *([dashed] if any(case.taints for case in grid.cases) else []))
    return figure


def _draw_panel(axes: plots.Axes, grid: Grid, place: tuple[str, str], curves: Mapping[str, LatencyCurve]) -> None:
    colours = colours_of_rows(grid)
    for row in grid.rows:
        case = grid.cell(place[0], row, place[1])
        curve = None if case is None else curves.get(case.case_id)
        if case is not None and curve is not None and curve.percentiles:
            axes.plot(
                [_tail(share) for share in curve.percentiles],
                curve.latencies_ns,
                color=colours[row.key],
                linestyle=_DASHES if case.taints else "solid",
            )


def _draw_repetitions(
    axes: plots.Axes, grid: Grid, place: tuple[str, str], repetitions: Mapping[str, Sequence[LatencyCurve]]
) -> None:
    """Draw each repetition of a panel's cases, and the band between the lowest and the highest."""
    colours = colours_of_rows(grid)
    for row in grid.rows:
        case = grid.cell(place[0], row, place[1])
        curves = [] if case is None else repetitions.get(case.case_id, ())
        for curve in curves:
            tails = [_tail(share) for share in curve.percentiles]
            axes.plot(tails, curve.latencies_ns, color=colours[row.key], linewidth=0.5, alpha=0.5)
        band = latency_band(curves)
        if band:
            tails = [_tail(share) for share, _, _ in band]
            lowest, highest = [low for _, low, _ in band], [high for _, _, high in band]
            axes.fill_between(tails, lowest, highest, color=colours[row.key], alpha=0.15, linewidth=0)


def latency_band(curves: Sequence[LatencyCurve]) -> list[tuple[float, int, int]]:
    """Give the lowest and the highest latency in ns at each percentile that two or more curves have."""
    at: dict[float, list[int]] = {}
    for curve in curves:
        for share, latency_ns in zip(curve.percentiles, curve.latencies_ns, strict=True):
            at.setdefault(share, []).append(latency_ns)
    return [(share, min(found), max(found)) for share, found in sorted(at.items()) if len(found) > 1]


def _narrow(values: Sequence[int]) -> bool:
    return bool(values) and max(values) < 200 * min(values)


def _tail(percentile: float) -> float:
    return 100 / (100 - percentile)


def _axis_duration(value_ns: float) -> str:
    text = duration(value_ns)
    number, _, unit = text.partition(" ")
    return f"{float(number):g} {unit}"
