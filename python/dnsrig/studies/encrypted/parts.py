"""What each program costs of a server that is made of several, such as dnsdist and the server behind it."""

from collections.abc import Mapping
from typing import Any

from dnsrig.monitor.counters import read_counters
from dnsrig.report.figures import MICRO, Figure, Measurement, short_number
from dnsrig.report.sections import Section
from dnsrig.report.tables import Table
from dnsrig.servers.base import Server
from dnsrig.studies.encrypted.cases import kind_labels
from dnsrig.studies.encrypted.findings import CaseFinder

PARTS_KEY = "server_cpu_us_by_part"


class PartsMeter:
    """Reads the CPU time of a server's programs, if it has several, when made and when asked."""

    def __init__(self, server: Server) -> None:
        parts = server.pids_by_part()
        self._pids: Mapping[str, list[int]] = parts if len(parts) > 1 else {}
        self._before = self._read()

    def used(self) -> dict[str, Any]:
        """Give what a measurement holds of the time used since then, in microseconds; nothing for a single program."""
        after = self._read()
        used = {part: (after[part] - before) / 1000 for part, before in self._before.items()}
        return {PARTS_KEY: used} if used else {}

    def _read(self) -> dict[str, int]:
        return {part: read_counters(pids).cpu_ns for part, pids in self._pids.items()}


def parts_section(finder: CaseFinder) -> Section | None:
    """Return the CPU per query by program; None where no server has several."""
    labels = kind_labels(finder.settings)
    tables = []
    for server in finder.findings.grid.servers:
        cases = [
            case
            for case in finder.findings.grid.cases
            if case.server == server and case.case["part"] == "transports" and PARTS_KEY in case.measurements[0]
        ]
        if not cases:
            continue
        parts = [_figure(part) for part in cases[0].measurements[0][PARTS_KEY]]
        rows = [
            (
                finder.label_cell(f"{labels[str(case.case['kind'])]}, {_certificate(case.case)}".rstrip(", "), case),
                *(finder.cell(case, figure, marked=False) for figure in parts),
            )
            for case in cases
            if case.case["server_threads"] == finder.settings.threads[0]
        ]
        title = f"{finder.findings.grid.titles[server]}: CPU per query by program, medians with 95 % intervals"
        header = ("", *(f"{figure.title} [{figure.unit}]" for figure in parts))
        tables.append(Table(title, header, tuple(rows), (), tuple(finder.findings.notes.reasons(cases))))
    return Section("What each program costs", (), tables=tuple(tables)) if tables else None


def _certificate(case: Mapping[str, Any]) -> str:
    """Name the certificate's key of a case, "" without one."""
    return "" if case["certificate"] == "none" else str(case["certificate"])


def _figure(part: str) -> Figure:
    def per_query(item: Measurement) -> float | None:
        answered = item["load"]["answered"]
        return item[PARTS_KEY][part] / answered if answered and PARTS_KEY in item else None

    return Figure(f"{part}_cpu_us_per_query", part, f"{MICRO}s", per_query, short_number)
