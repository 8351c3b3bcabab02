"""The table of cases in which programs were run to their end."""

from dnsrig.report.cases import CaseResult
from dnsrig.report.figures import CPU_TIME, FIGURES, MEMORY, OUTPUT_OCTETS, SIGNATURES, SIGNATURES_MADE, WALL
from dnsrig.report.grid import Grid
from dnsrig.report.notes import Notes
from dnsrig.report.tables import Cell, Table, interval_text

SHOWN = (WALL, CPU_TIME, MEMORY, OUTPUT_OCTETS, SIGNATURES, SIGNATURES_MADE)
HEADER = ("case", "n", "time [s]", "CPU time [s]", "peak memory", "output", "signatures", "made", "found valid by")


def work_table(grid: Grid, notes: Notes) -> Table:
    """Return what every case took, and what became of its output."""
    rows = [
        (
            Cell(grid.case_label(case), mark=notes.mark(case)),
            Cell(str(case.n)),
            *(_figure_cell(grid, case, figure.key) for figure in SHOWN),
            Cell(_verified_by(case)),
        )
        for case in grid.cases
    ]
    return Table("Medians with 95 % intervals", HEADER, tuple(rows), notes=tuple(notes.reasons(grid.cases)))


def _figure_cell(grid: Grid, case: CaseResult, key: str) -> Cell:
    found = case.estimate(key, grid.seed)
    return Cell("-") if found is None else Cell(FIGURES[key].text(found.median), interval_text(found, key))


def _verified_by(case: CaseResult) -> str:
    names = dict.fromkeys(item["work"].get("verified_by") for item in case.measurements)
    return ", ".join(str(name) for name in names if name) or "-"
