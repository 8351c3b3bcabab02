"""The section of a report that tells how resolvers go from cold to hot: tables by span of the load, and pictures."""

from collections.abc import Sequence
from functools import partial

from dnsrig.report.figures import Figure
from dnsrig.report.grid import Grid
from dnsrig.report.notes import Notes
from dnsrig.report.pictures.series import draw_series
from dnsrig.report.sections import Drawing, Findings, Section
from dnsrig.report.tables import Cell, Table
from dnsrig.report.warming import SERIES, Span, by_span, lines_of, spans_of

MS = 1e6
"""Nanoseconds."""
DRAWN: Sequence[tuple[str, str, str, float]] = (
    ("cache_hit_share", "hits-over-time", "cache hits [%]", 0.01),
    ("latency_p50_ns", "median-over-time", "median latency [ms]", MS),
    ("latency_p99_ns", "p99-over-time", "latency, 99th percentile [ms]", MS),
)
"""Series that are drawn: key, name of the picture, title, what a unit of it is."""
WORDS = (
    "Each span of a load is about as long as all before it together. Its figure is the mean over its seconds (of "
    "percentiles: of each second's own), in the median of the repetitions. Cache hits are the resolver's own "
    "counts: queries for which it asked no server.",
)


def warming_section(findings: Findings) -> Section:
    """Tell how cache hits and latency of every case went over the time of its load."""
    grid = findings.grid
    wanted = spans_of(grid.cases)
    tables = [
        _table(grid, server, series, wanted, findings.notes) for server in grid.servers for series in SERIES if wanted
    ]
    drawings = [_drawing(grid, *item) for item in DRAWN if _is_known(grid, item[0])]
    return Section("From cold to hot", WORDS, tuple(drawings), tuple(tables))


def _table(grid: Grid, server: str, series: tuple[str, Figure, float], wanted: Sequence[Span], notes: Notes) -> Table:
    key, figure, units = series
    cases = [case for case in grid.cases if case.server == server]
    rows = tuple(
        (
            Cell(grid.case_label(case).removeprefix(f"{grid.titles[server]}, "), mark=notes.mark(case)),
            *(Cell("-" if value is None else figure.text(value * units)) for value in by_span(case, key, wanted)),
        )
        for case in cases
    )
    unit = f" [{figure.unit}]" if figure.unit else ""
    header = ("case", *(f"{begin:g} to {end:g} s" for begin, end in wanted))
    return Table(f"{grid.titles[server]}: {figure.title}{unit} by time", header, rows, (), tuple(notes.reasons(cases)))


def _is_known(grid: Grid, key: str) -> bool:
    return any(values for case in grid.cases for _, values in lines_of(key, 1)(case))


def _drawing(grid: Grid, key: str, name: str, title: str, unit: float) -> Drawing:
    caption = f"{title[0].upper()}{title[1:]}, second by second, a line a repetition, by way to warm up."
    return Drawing(name, caption, partial(draw_series, grid, title, lines_of(key, unit)))
