"""The report's tables, as values that both templates print."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from dnsrig.report.cases import CaseResult
from dnsrig.report.figures import CPU, FIGURES, MICRO, QPS, RESPONSE_BYTES, duration, mebibytes, ratio_text
from dnsrig.report.grid import Grid, Row
from dnsrig.report.layout import PublishedFigures
from dnsrig.report.notes import AT_LEAST, Notes, rate_is_lower_bound
from dnsrig.report.statistics import Estimate, RatioEstimate
from dnsrig.report.verdicts import percent

EN_DASH = "\N{EN DASH}"
_MISSING = "-"
_WIDEST = 1000.0
"""How many times its low end the high end of an interval that is printed is at most: that of two repetitions may reach
from picoseconds to years."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: `detail` is printed small (an interval), `mark` holds letters of notes."""

    text: str
    detail: str = ""
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose rows begin with a label.

    `header` names all columns, `groups` (label, number of columns) stand above it, and `notes` explain the
    letters in the cells' marks.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    groups: tuple[tuple[str, int], ...] = ()
    notes: tuple[tuple[str, str], ...] = field(default=())

    @property
    def flat_header(self) -> list[str]:
        """Return the names of all columns with their groups', for formats without column groups."""
        if not self.groups:
            return list(self.header)
        names = [label for label, span in self.groups for _ in range(span)]
        return [f"{group}: {name}" if group else name for group, name in zip(names, self.header, strict=True)]


def server_table(grid: Grid, server: str, notes: Notes) -> Table:
    """Return rate, CPU and response size of every case of a server."""
    shown = (QPS, CPU, RESPONSE_BYTES)
    units = ("qps", f"CPU [{MICRO}s]", "bytes")
    cases = [case for case in grid.cases if case.server == server]
    rows = [
        (
            Cell(row.label),
            *(
                _figure_cell(grid, grid.cell(server, row, column), figure.key, notes)
                for column in grid.columns
                for figure in shown
            ),
        )
        for row in grid.rows
    ]
    counts = sorted({case.n for case in cases})
    repetitions = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    version = cases[0].case.get("server_version", "")
    return Table(
        f"{grid.titles[server]} {version}: medians of n = {repetitions} with 95 % intervals",
        (grid.text.rows.title, *units * len(grid.columns)),
        tuple(rows),
        (("", 1), *((grid.column_label(column), len(shown)) for column in grid.columns)),
        tuple(notes.reasons(cases)),
    )


def case_table(grid: Grid, notes: Notes) -> Table:
    """Return what happened in every case: counts, latency, memory, bottleneck."""
    counts = ("n", "answered", "lost", "TC")
    header = ("case", *counts, "median", "99 %", "server memory", "response codes", "bottleneck")
    rows = []
    for case in grid.cases:
        answered = case.total("answered")
        latencies = [case.estimate(key, grid.seed) for key in ("latency_p50_ns", "latency_p99_ns")]
        memory = case.estimate("server_rss_bytes_max", grid.seed)
        rows.append(
            (
                Cell(grid.case_label(case), mark=notes.mark(case)),
                Cell(str(case.n)),
                Cell(f"{answered:,}"),
                _count_cell(case.lost, case.total("sent")),
                _count_cell(case.total("truncated"), answered),
                *(Cell(_MISSING if item is None else duration(item.median)) for item in latencies),
                Cell(_MISSING if memory is None else mebibytes(memory.median)),
                _rcode_cell(case),
                Cell(case.bottleneck),
            )
        )
    groups = (("", 1 + len(counts)), ("latency", 2), ("", 3))
    return Table(
        "Counts are sums over repetitions, latency and memory medians",
        header,
        tuple(rows),
        groups,
        tuple(notes.reasons(grid.cases)),
    )


def ratio_table(
    grid: Grid, published: Sequence[PublishedFigures], notes: Notes, *, figure_key: str, title: str
) -> Table:
    """Return ratios to the baseline, published ones first, then each server's.

    For the rate, a second line a server says what its CPU per query alone would allow.
    """
    rows_of_grid = [row for row in grid.rows if not row.is_baseline]
    places = [(column, row) for column in grid.columns for row in rows_of_grid]
    lines = [
        (
            Cell(f"{table.label} (published)"),
            *(_published_ratio(grid, table, row, column) for column, row in places),
        )
        for table in published
    ]
    for server in grid.servers:
        cells = [
            _ratio_cell(
                grid.ratio_to_baseline(server, row, column, figure_key),
                grid.cases_of_ratio(server, row, column),
                notes,
            )
            for column, row in places
        ]
        lines.append((Cell(grid.titles[server]), *cells))
        if figure_key == QPS.key:
            implied = [
                _inverse_cell(
                    grid.ratio_to_baseline(server, row, column, CPU.key),
                    grid.cases_of_ratio(server, row, column),
                    notes,
                )
                for column, row in places
            ]
            lines.append((Cell(f"{grid.titles[server]}, by its CPU per query"), *implied))
    return Table(
        title,
        ("", *(row.label for _, row in places)),
        tuple(lines),
        (("", 1), *((grid.column_label(column), len(rows_of_grid)) for column in grid.columns)),
        tuple(notes.reasons(grid.cases)),
    )


def size_table(grid: Grid, published: Sequence[PublishedFigures], notes: Notes) -> Table:
    """Return mean response sizes in bytes, published ones first; ratios to the baseline stand below."""
    places = [(column, row) for column in grid.columns for row in grid.rows]
    lines = [
        (
            Cell(f"{table.label} (published)"),
            *(_published_size(grid, table, row, column) for column, row in places),
        )
        for table in published
    ]
    for server in grid.servers:
        lines.append(
            (
                Cell(grid.titles[server]),
                *(_size_cell(grid, server, row, column, notes) for column, row in places),
            )
        )
    return Table(
        f"Mean response size in bytes, with its ratio to {grid.text.baseline_label}",
        ("", *(row.label for _, row in places)),
        tuple(lines),
        (("", 1), *((grid.column_label(column), len(grid.rows)) for column in grid.columns)),
        tuple(notes.reasons(grid.cases)),
    )


def interval_text(item: Estimate, figure_key: str) -> str:
    """Return an estimate's low and high end, or that they are too far apart; "" without an interval or width."""
    if item.low is None or item.high is None:
        return ""
    if 0 < item.low * _WIDEST < item.high:
        return "too few to tell"
    low, high = FIGURES[figure_key].text(item.low), FIGURES[figure_key].text(item.high)
    return "" if low == high == FIGURES[figure_key].text(item.median) else f"{low}{EN_DASH}{high}"


def _figure_cell(grid: Grid, case: CaseResult | None, figure_key: str, notes: Notes) -> Cell:
    found = None if case is None else case.estimate(figure_key, grid.seed)
    if case is None or found is None:
        return Cell(_MISSING)
    at_least = f"{AT_LEAST} " if figure_key == QPS.key and rate_is_lower_bound(case) else ""
    text = f"{at_least}{FIGURES[figure_key].text(found.median)}"
    return Cell(text, interval_text(found, figure_key), notes.mark(case))


def _ratio_cell(ratio: RatioEstimate | None, cases: Sequence[CaseResult], notes: Notes) -> Cell:
    if ratio is None:
        return Cell(_MISSING)
    detail = "" if ratio.low is None or ratio.high is None else _range(ratio.low, ratio.high)
    return Cell(ratio_text(ratio.ratio), detail, marks(cases, notes))


def _inverse_cell(ratio: RatioEstimate | None, cases: Sequence[CaseResult], notes: Notes) -> Cell:
    if ratio is None:
        return Cell(_MISSING)
    detail = "" if ratio.low is None or ratio.high is None else _range(1 / ratio.high, 1 / ratio.low)
    return Cell(ratio_text(1 / ratio.ratio), detail, marks(cases, notes))


def _published_ratio(grid: Grid, table: PublishedFigures, row: Row, column: str) -> Cell:
    value = table.values.get((str(row.value), column))
    base = table.values.get((grid.text.baseline, column))
    return Cell(ratio_text(value / base)) if value is not None and base else Cell(_MISSING)


def _published_size(grid: Grid, table: PublishedFigures, row: Row, column: str) -> Cell:
    value = table.values.get((str(row.value), column))
    if value is None:
        return Cell(_MISSING)
    return Cell(RESPONSE_BYTES.text(value), "" if row.is_baseline else _published_ratio(grid, table, row, column).text)


def _size_cell(grid: Grid, server: str, row: Row, column: str, notes: Notes) -> Cell:
    cell = _figure_cell(grid, grid.cell(server, row, column), RESPONSE_BYTES.key, notes)
    ratio = grid.ratio_to_baseline(server, row, column, RESPONSE_BYTES.key)
    detail = "" if ratio is None or row.is_baseline else ratio_text(ratio.ratio)
    return Cell(cell.text, detail, cell.mark)


def marks(cases: Sequence[CaseResult], notes: Notes) -> str:
    """Return the letters of the taints of several cases."""
    return ",".join(letter for letter, _ in notes.reasons(cases))


def _range(low: float, high: float) -> str:
    return f"{ratio_text(low)}{EN_DASH}{ratio_text(high)}"


def _rcode_cell(case: CaseResult) -> Cell:
    answered = case.total("answered")
    counts = sorted(case.rcodes.items(), key=lambda entry: (-entry[1], entry[0]))
    shares = [f"{rcode} {_share(count, answered)}" for rcode, count in counts if count]
    return Cell(shares[0], ", ".join(shares[1:])) if shares else Cell(_MISSING)


def _count_cell(count: int, total: int) -> Cell:
    return Cell(f"{count:,}", _share(count, total) if count else "")


def _share(count: int, total: int) -> str:
    return f"{percent(count / total)} %" if total else _MISSING
