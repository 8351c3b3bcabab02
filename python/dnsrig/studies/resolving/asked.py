"""The section of the reports of resolvers that says which servers were asked upstream, and for what."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dnsrig.report.cases import CaseResult
from dnsrig.report.figures import short_number
from dnsrig.report.grid import Grid, Row
from dnsrig.report.sections import Findings, Section
from dnsrig.report.tables import Cell, Table
from dnsrig.studies.resolving.place import OTHER_OPERATORS

MOST_ROWS = 12
"""Lines of a table; what is left has one of its own."""
REST = OTHER_OPERATORS
NOTHING = Cell("-")

Counts = Counter[str]
CountsOf = Callable[[Mapping[str, Any]], Mapping[str, int]]
"""Reads the queries of a measurement's `upstream`, by what a table's lines are."""


def by_type(upstream: Mapping[str, Any]) -> Mapping[str, int]:
    """Give the queries by type."""
    found: Mapping[str, int] = upstream["by_type"]
    return found


def by_operator(upstream: Mapping[str, Any]) -> Mapping[str, int]:
    """Give the queries by operator; runs from before they were kept have none."""
    return {name: counts["queries"] for name, counts in upstream.get("by_operator", {}).items()}


def by_size(upstream: Mapping[str, Any]) -> Mapping[str, int]:
    """Give the answers by size, in words; runs from before 28 November 2026 have none."""
    found: dict[str, int] = {}
    least = 0
    for bound, count in upstream.get("answer_sizes", {}).items():
        found[f"{least:,} to {int(bound):,} octets"] = count
        least = int(bound) + 1
    return found


def section(findings: Findings) -> Section:
    """Give, for each resolver, upstream queries per query of clients, by operator and by type, and answers by size."""
    grid = findings.grid
    tables = [table for server in grid.servers for kind in KINDS if (table := _table(grid, server, kind)) is not None]
    words = (
        "Upstream queries, and answers to them, per answered query of clients, by the Internet's account; all cases "
        "under a heading and all their repetitions together. Operators are those of the profile; `.` is the root, "
        "`.com` a registry, `own servers` are those of domains that have some of their own. Sizes are those of "
        "messages."
    )
    if not tables:
        words = "Nobody was: the cache had all answers, or the load no answer."
    return Section("Who was asked upstream, and for what", (words,), tables=tuple(tables))


@dataclass(frozen=True, slots=True)
class Kind:
    """What a table counts."""

    counted: str
    by: str
    counts_of: CountsOf
    keeps_order: bool = False
    """Whether lines stand as they are read; else what is most comes first."""


KINDS = (
    Kind("upstream queries", "operator", by_operator),
    Kind("upstream queries", "type", by_type),
    Kind("upstream answers", "size", by_size, keeps_order=True),
)


def _table(grid: Grid, server: str, kind: Kind) -> Table | None:
    cases = {row.key: _cases(grid, server, row) for row in grid.rows}
    counts = {key: _sum(found, kind.counts_of) for key, found in cases.items()}
    answered = {key: sum(case.total("answered") for case in found) for key, found in cases.items()}
    together: Counts = sum(counts.values(), Counter())
    # What counting itself put together comes last, with what is left here.
    # Sums leave out what is 0, and with it its place.
    read = dict.fromkeys(name for of_row in counts.values() for name in of_row)
    order = read if kind.keeps_order else [name for name, _ in together.most_common()]
    names = [name for name in order if together[name] and name != REST]
    shown, left = names[:MOST_ROWS], [*names[MOST_ROWS:], *([REST] if together[REST] else [])]
    if not shown:
        return None
    lines = [(name, [name]) for name in shown] + ([(REST, left)] if left else [])
    rows = tuple(
        (Cell(title), *(_cell(counts[row.key], names, answered[row.key]) for row in grid.rows))
        for title, names in lines
    )
    header = (kind.by, *(row.label for row in grid.rows))
    return Table(f"{grid.titles[server]}: {kind.counted} per query, by {kind.by}", header, rows)


def _cases(grid: Grid, server: str, row: Row) -> list[CaseResult]:
    found = (grid.cell(server, row, column) for column in grid.columns)
    return [case for case in found if case is not None]


def _sum(cases: Sequence[CaseResult], counts_of: CountsOf) -> Counts:
    total: Counts = Counter()
    for case in cases:
        for item in case.measurements:
            # A cell to which no load was sent has none.
            if "upstream" in item:
                total.update(counts_of(item["upstream"]))
    return total


def _cell(counts: Counts, names: Sequence[str], answered: int) -> Cell:
    queries = sum(counts[name] for name in names)
    return Cell(short_number(queries / answered)) if answered else NOTHING
