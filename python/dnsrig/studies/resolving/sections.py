"""Sections of the reports of resolvers: what each case used, and what differs from the baseline."""

from collections.abc import Sequence
from statistics import fmean

from dnsrig.report.cases import CaseResult
from dnsrig.report.figures import (
    CACHE_ENTRIES,
    CACHE_OCTETS,
    CPU,
    HIT_SHARE,
    INTERNET_CPU,
    LATENCY_P50,
    LATENCY_P99,
    MADE_MEANWHILE,
    MEMORY,
    QPS,
    RESPONSE_BYTES,
    SEND_ERROR_P50,
    SEND_ERROR_P99,
    SERVER_CPU,
    TCP_SOCKETS,
    TIME_WAIT,
    UDP_SOCKETS,
    UPSTREAM,
    UPSTREAM_ANSWER,
    UPSTREAM_OCTETS,
    UPSTREAM_TCP,
    WIRES,
    Figure,
)
from dnsrig.report.grid import Grid
from dnsrig.report.identical import paired_in_run
from dnsrig.report.sections import Findings, Section
from dnsrig.report.tables import Cell, Table, interval_text
from dnsrig.report.verdicts import HIGHER, LOWER, Verdict, judge

MISSING = Cell("-")
OUTSIDE = (QPS, CPU, SERVER_CPU, MEMORY, LATENCY_P50, LATENCY_P99, RESPONSE_BYTES)
RIG = (INTERNET_CPU, MADE_MEANWHILE, SEND_ERROR_P50, SEND_ERROR_P99)
"""What tells how much of a case's figures is the rig's own; every report has it."""
INSIDE = (
    *(HIT_SHARE, CACHE_OCTETS, CACHE_ENTRIES, UPSTREAM, UPSTREAM_OCTETS, UPSTREAM_ANSWER, UPSTREAM_TCP),
    *RIG,
)
SOCKETS_AND_WIRES = (UDP_SOCKETS, TCP_SOCKETS, TIME_WAIT, *WIRES)
RESOURCES = (
    *(CPU, SERVER_CPU, MEMORY, CACHE_OCTETS, LATENCY_P50, LATENCY_P99),
    *(UPSTREAM, UPSTREAM_OCTETS, *SOCKETS_AND_WIRES),
)
"""What a case is compared with its baseline by."""
VERDICTS_WORDS = (
    "A difference is claimed where it is beyond noise (paired t-tests on logarithms, adjusted for their number over "
    "the table by Holm's method); in brackets its 95 % interval. `No difference above x %`: a larger one would not fit "
    "the measurements. A dash: there is nothing to compare, such as sockets that were never in use. Where some "
    "measurements are 0 there is no ratio, and the means of both stand there instead. Ratios under "
    "Answer are few, and not adjusted for their number: one of them may be beyond noise, and not so among all of this "
    "table."
)


def figure_section(findings: Findings, title: str, figures: Sequence[Figure], words: str = "") -> Section:
    """Give every case's medians of some figures, a table a server."""
    grid = findings.grid
    tables = []
    for server in grid.servers:
        cases = [case for case in grid.cases if case.server == server]
        shown = [figure for figure in figures if any(case.values(figure) for case in cases)]
        rows = tuple(
            (
                Cell(grid.case_label(case).removeprefix(f"{grid.titles[server]}, "), mark=findings.notes.mark(case)),
                *(_cell(grid, case, figure) for figure in shown),
            )
            for case in cases
        )
        header = ("case", *(f"{item.title}{f' [{item.unit}]' if item.unit else ''}" for item in shown))
        name = f"{grid.titles[server]}: medians with 95 % intervals"
        tables.append(Table(name, header, rows, (), tuple(findings.notes.reasons(cases))))
    return Section(title, (words,) if words else (), tables=tuple(tables))


def verdict_section(findings: Findings, title: str, figures: Sequence[Figure] = RESOURCES) -> Section:
    """Say, resource by resource, how each case differs from the baseline of its server and column."""
    grid = findings.grid
    tables = []
    for server in grid.servers:
        pairs = _pairs(grid, server)
        if not pairs:
            continue
        verdicts = verdicts_of(pairs, figures)
        rows = []
        for figure in figures:
            cells = [
                _verdict_cell(verdicts.get((figure.key, case.case_id))) or _means(figure, base, case)
                for base, case in pairs
            ]
            if any(cell is not MISSING for cell in cells):
                rows.append((Cell(figure.title), *cells))
        labels = [grid.case_label(case).removeprefix(f"{grid.titles[server]}, ") for _, case in pairs]
        name = f"{grid.titles[server]}: against {grid.text.baseline_label}"
        notes = tuple(findings.notes.reasons([case for pair in pairs for case in pair]))
        tables.append(Table(name, ("", *labels), tuple(rows), (), notes))
    return Section(title, (VERDICTS_WORDS,), tables=tuple(tables))


def _pairs(grid: Grid, server: str) -> list[tuple[CaseResult, CaseResult]]:
    """Pair each case of a server that is not in the baseline's row with the baseline's case of its column."""
    if grid.baseline is None:
        return []
    found = []
    for column in grid.columns:
        base = grid.cell(server, grid.baseline, column)
        others = [grid.cell(server, row, column) for row in grid.rows if not row.is_baseline]
        found += [(base, case) for case in others if base is not None and case is not None]
    return found


def verdicts_of(
    pairs: Sequence[tuple[CaseResult, CaseResult]], figures: Sequence[Figure] = RESOURCES
) -> dict[tuple[str, str], Verdict]:
    """Judge how the second case of each pair differs from the first one; by figure and the second case's id."""
    ratios = []
    for figure in figures:
        for base, case in pairs:
            ratio = paired_in_run(case, base, figure)
            if ratio is not None:
                ratios.append((figure.key, case.case_id, ratio))
    return {(item.figure, item.case_id): item for item in judge(ratios).cases if item.case_id is not None}


def _means(figure: Figure, base: CaseResult, case: CaseResult) -> Cell:
    """Set both cases' means beside each other, where one of them was used at all."""
    values, others = case.values(figure), base.values(figure)
    if not values or not others or not (any(values) or any(others)):
        return MISSING
    return Cell(f"{figure.text(fmean(values))} against {figure.text(fmean(others))}")


def _verdict_cell(verdict: Verdict | None) -> Cell | None:
    if verdict is None:
        return None
    text, bracket, rest = verdict.text.partition(" [")
    detail = rest.rstrip("]") if bracket and verdict.direction in {HIGHER, LOWER} else ""
    return Cell(text, detail)


def _cell(grid: Grid, case: CaseResult, figure: Figure) -> Cell:
    found = case.estimate(figure.key, grid.seed)
    return MISSING if found is None else Cell(figure.text(found.median), interval_text(found, figure.key))
