"""The cases of a run laid out as the study's tables: servers, rows and columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dnsrig.report.cases import CaseResult, servers_of
from dnsrig.report.figures import FIGURES
from dnsrig.report.identical import paired_in_run
from dnsrig.report.layout import StudyText
from dnsrig.report.statistics import RatioEstimate
from dnsrig.report.summary import server_titles


@dataclass(frozen=True, slots=True)
class Row:
    """One row of every server's table: a value of the row axis, and what else tells it from others."""

    value: object
    extras: tuple[tuple[str, str], ...]
    label: str
    is_baseline: bool

    @property
    def key(self) -> tuple[str, tuple[tuple[str, str], ...]]:
        """What identifies the row."""
        return str(self.value), self.extras


class Grid:
    """Cases by server, row and column; cells can be missing."""

    def __init__(self, text: StudyText, cases: Sequence[CaseResult], seed: int) -> None:
        self.text = text
        self.seed = seed
        self.cases = list(cases)
        self.servers = servers_of(cases)
        self.titles = server_titles(cases)
        self.columns = [str(value) for value in text.columns.ordered(self._values(text.columns.key))]
        self._extra_keys = _keys_that_vary_within_a_cell(text, cases)
        self.rows = self._rows()
        self._cells = {
            (case.server, self._row_of(case).key, str(case.case.get(text.columns.key))): case for case in cases
        }

    @property
    def baseline(self) -> Row | None:
        """The row that ratios refer to, if the run has it once."""
        rows = [row for row in self.rows if row.is_baseline]
        return rows[0] if len(rows) == 1 else None

    def cell(self, server: str, row: Row, column: str) -> CaseResult | None:
        """Return the case of a cell; None where it was not measured."""
        return self._cells.get((server, row.key, column))

    def column_label(self, column: str) -> str:
        """Return the words for a column."""
        return self.text.columns.label(column)

    def case_label(self, case: CaseResult) -> str:
        """Return a case in words: server, row, column."""
        column = self.column_label(str(case.case.get(self.text.columns.key)))
        return f"{self.titles[case.server]}, {self._row_of(case).label}, {column}"

    def ratio_to_baseline(self, server: str, row: Row, column: str, figure: str) -> RatioEstimate | None:
        """Return a figure's ratio to the same server's and column's baseline case."""
        baseline = self.baseline
        ours = self.cell(server, row, column)
        theirs = None if baseline is None else self.cell(server, baseline, column)
        return None if ours is None or theirs is None else paired_in_run(ours, theirs, FIGURES[figure])

    def cases_of_ratio(self, server: str, row: Row, column: str) -> list[CaseResult]:
        """Return the cases that `ratio_to_baseline` compares, as far as the run has them."""
        rows = [row] if self.baseline is None else [row, self.baseline]
        found = [self.cell(server, one, column) for one in rows]
        return [case for case in found if case is not None]

    def _values(self, key: str) -> list[Any]:
        return [case.case.get(key) for case in self.cases]

    def _row_of(self, case: CaseResult) -> Row:
        value = case.case.get(self.text.rows.key)
        extras = tuple((key, str(case.case[key])) for key in self._extra_keys if case.case.get(key) is not None)
        label = ", ".join([self.text.rows.label(value), *(f"{key} {extra}" for key, extra in extras)])
        return Row(value, extras, label, str(value) == self.text.baseline)

    def _rows(self) -> list[Row]:
        order = [str(value) for value in self.text.rows.ordered(self._values(self.text.rows.key))]
        rows = {row.key: row for row in map(self._row_of, self.cases)}
        return sorted(rows.values(), key=lambda row: (order.index(str(row.value)), _natural(row.extras)))


def _keys_that_vary_within_a_cell(text: StudyText, cases: Sequence[CaseResult]) -> list[str]:
    cells: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for case in cases:
        place = (case.server, str(case.case.get(text.rows.key)), str(case.case.get(text.columns.key)))
        cells.setdefault(place, []).append(case.case)
    keys = dict.fromkeys(key for case in cases for key in case.case if key != "server_version")
    return [
        key for key in keys if any(len({str(member.get(key)) for member in members}) > 1 for members in cells.values())
    ]


def _natural(extras: tuple[tuple[str, str], ...]) -> list[tuple[str, float, str]]:
    """Sort 5 before 10, as numbers."""
    return [(key, float(text) if text.isdigit() else 0.0, text) for key, text in extras]
