"""Pictures in the reports of resolvers: CPU, latency, and what was in use second by second."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise, starmap

from dnsrig.report.cases import CaseResult
from dnsrig.report.figures import CPU
from dnsrig.report.grid import Grid
from dnsrig.report.latency import LatencyCurve, core_percentiles, latency_curve
from dnsrig.report.notes import Notes
from dnsrig.report.pictures.bars import draw_bars
from dnsrig.report.pictures.latency import draw_latency
from dnsrig.report.pictures.series import Line, draw_series
from dnsrig.report.sections import Drawing, Findings, Section

MIB = 1 << 20
SERIES: Sequence[tuple[str, str, str, float]] = (
    ("cpu_share", "cpu-over-time", "CPUs in use", 1),
    ("memory_octets", "memory-over-time", "resident memory [MiB]", MIB),
    ("udp_sockets", "udp-sockets-over-time", "UDP sockets in use", 1),
    ("tcp_sockets", "tcp-sockets-over-time", "TCP sockets in use", 1),
    ("tcp_time_wait", "time-wait-over-time", "TCP in TIME-WAIT", 1),
    ("internet_octets_in", "from-internet-over-time", "MiB/s from the Internet", MIB),
    ("internet_octets_out", "to-internet-over-time", "MiB/s to the Internet", MIB),
    ("clients_octets_in", "from-clients-over-time", "MiB/s from clients", MIB),
    ("clients_octets_out", "to-clients-over-time", "MiB/s to clients", MIB),
    ("internet_packets_in", "packets-from-internet", "packets/s from the Internet", 1),
    ("internet_packets_out", "packets-to-internet", "packets/s to the Internet", 1),
    ("clients_packets_in", "packets-from-clients", "packets/s from clients", 1),
    ("clients_packets_out", "packets-to-clients", "packets/s to clients", 1),
)
"""Series of a measurement's `by_second` that can be drawn: key, name of the picture, title, what a unit of it is."""
OWN = ("cpu_share", "memory_octets")
"""Series of the resolver's processes."""
RESOURCES = tuple(key for key, _, _, _ in SERIES)


def picture_section(findings: Findings, series: Sequence[str] = OWN) -> Section:
    """Draw CPU, latency by percentile, upstream queries and some `series` over time, each with all cases."""
    grid, notes = findings.grid, findings.notes
    drawings = [_bars(grid, notes), *_latency(grid)]
    if any(value for case in grid.cases for _, values in upstream_lines(case) for value in values):
        drawings.append(
            Drawing(
                "upstream-over-time",
                "Queries of the resolver to the simulated Internet, second by second, a line a repetition.",
                lambda: draw_series(grid, "upstream queries per second", upstream_lines),
            )
        )
    wanted = [item for item in SERIES if item[0] in series]
    drawings += [drawing for drawing in starmap(partial(_over_time, grid), wanted) if drawing is not None]
    return Section("Pictures", (), tuple(drawings))


def upstream_lines(case: CaseResult) -> list[Line]:
    """Return the upstream queries per second in the middle of the time between each two readings, by repetition."""
    found: list[Line] = []
    for item in case.measurements:
        counts = item.get("upstream", {}).get("by_second", [])
        ends = item.get("by_second", {}).get("time_s") or [float(index + 1) for index in range(len(counts))]
        # Two readings within a millisecond, after one that came late, have the same time: between them is no rate.
        known = [item for item in zip(pairwise([0.0, *ends]), counts, strict=True) if item[0][1] > item[0][0]]
        times = [(begin + end) / 2 for (begin, end), _ in known]
        found.append((times, [count / (end - begin) for (begin, end), count in known]))
    return found


def lines_of(key: str, unit: float) -> Callable[[CaseResult], list[Line]]:
    """Give what returns a series of a case's repetitions, in units of so many of what was read."""

    def lines(case: CaseResult) -> list[Line]:
        rows = [item.get("by_second", {}) for item in case.measurements]
        return [(row["time_s"], [value / unit for value in row[key]]) for row in rows if key in row]

    return lines


def _over_time(grid: Grid, key: str, name: str, title: str, unit: float) -> Drawing | None:
    """Draw a series of all repetitions; None if it is not known, or nothing ever was in use."""
    lines = lines_of(key, unit)
    if not any(value for case in grid.cases for _, values in lines(case) for value in values):
        return None
    where = "of the resolver's processes" if key in OWN else "of the resolver's namespace"
    caption = f"{title[0].upper()}{title[1:]}, {where}, second by second, a line a repetition."
    return Drawing(name, caption, lambda: draw_series(grid, title, lines))


def _latency(grid: Grid) -> list[Drawing]:
    curves = {case.case_id: latency_curve(case, core_percentiles) for case in grid.cases}
    known = {case_id: curve for case_id, curve in curves.items() if curve is not None}
    if not known:
        return []
    each = {case.case_id: _of_repetitions(case) for case in grid.cases if case.case_id in known}
    return [
        Drawing(
            "latency",
            "Latency by percentile of all queries sent; each further nine has the same room. Thin lines are "
            "repetitions, the band reaches from the lowest to the highest of them, the thick line is all of them "
            "together. A curve ends where the share of lost queries begins.",
            lambda: draw_latency(grid, known, each),
        )
    ]


def _of_repetitions(case: CaseResult) -> list[LatencyCurve]:
    alone = (replace(case, measurements=(item,)) for item in case.measurements)
    curves = (latency_curve(item, core_percentiles) for item in alone)
    return [curve for curve in curves if curve is not None]


def _bars(grid: Grid, notes: Notes) -> Drawing:
    caption = (
        "Server CPU time per answered query. Bars are medians, whiskers 95 % intervals; letters refer to the notes on "
        "tainted cases."
    )
    return Drawing("cpu", caption, lambda: draw_bars(grid, CPU.key, notes), has_letters=True)
