"""The figures of ISC-2022 (what validation costs), and what a run has that is like them."""

from collections.abc import Mapping
from typing import Any

from dnsrig.report.figures import (
    CACHE_OCTETS,
    CPU,
    INTERNET_IN,
    LATENCY_P50,
    LATENCY_P99,
    MEMORY,
    UDP_SOCKETS,
    UPSTREAM,
    UPSTREAM_ANSWER,
    Figure,
    ratio_text,
)
from dnsrig.report.layout import PublishedClaim
from dnsrig.report.sections import Findings
from dnsrig.report.tables import Cell, Table
from dnsrig.studies.resolving import sections
from dnsrig.studies.resolving.published import NO_DIFFERENCE, read_published

FILE = "isc-2022"
ISC = "ISC-2022"
Picks = Mapping[str, object]
"""Values that pick a case."""
LOWEST_QPS, HIGHEST_QPS = 9000, 135_000
"""The published rates of which last minutes are told."""
IMPACTS: tuple[tuple[str, str, Figure], ...] = (
    ("latency", "median latency", LATENCY_P50),
    ("latency", "latency at the 99th percentile", LATENCY_P99),
    ("bandwidth", "octets from the Internet", INTERNET_IN),
    ("cpu", "CPU per query", CPU),
    ("sockets", "UDP sockets in use", UDP_SOCKETS),
)
"""Published keys, with the figures of a run that are like them."""
WITHIN_NOISE = (
    "nothing else varies between the loads of this run, where on the Internet of 2022 it was within what varied"
)
ABOVE = {
    "latency": "an answer that is not in the cache waits for the keys and DS records that are not either; "
    f"{WITHIN_NOISE}",
    "bandwidth": "keys and DS records are asked for as well, more of them the shorter the load, as they are kept for "
    "hours; and a resolver that wants signatures only to validate has smaller answers without (octets of an upstream "
    "answer)",
    "cpu": "each key and DS RRset is a query more, and signatures are verified: that is spent as the cache fills, and "
    f"the published minutes are mostly of a full one; {WITHIN_NOISE}",
    "sockets": "each key and DS RRset that is asked for has a socket open for as long as its server is away",
}
"""By published key, why a run finds more."""
BELOW = (
    "a resolver that validates can deny from NSEC records that it knows (RFC 8198): if that is why, its upstream "
    "queries for each query are fewer"
)
NOTE = (
    "Published: negligible in latency, bandwidth, CPU and sockets, about 10 % more memory, for BIND 9.18 against the "
    "Internet of 2022. Bytes received are those of all interfaces there, of the link to the Internet here; they grow "
    "with the rate, so compare off with on."
)


def claims(hottest: tuple[Picks, Picks], by_rate: Mapping[int, tuple[Picks, Picks]]) -> tuple[PublishedClaim, ...]:
    """Give the claims.

    Args:
        hottest: of the last part at the highest rate, the case with validation and that without.
        by_rate: the same of each rate that was measured, in queries per second.

    """
    table = read_published(FILE)
    impacts = [
        PublishedClaim(
            ISC,
            (f"impact.{key}",),
            f"{what} with validation to that without",
            table["impact"][key],
            figure.key,
            *hottest,
            NO_DIFFERENCE,
            above=ABOVE[key],
            below=BELOW,
            evidence=(UPSTREAM.key, UPSTREAM_ANSWER.key),
        )
        for key, what, figure in IMPACTS
    ]
    return (
        *impacts,
        _memory(table["memory_increase_percent"], hottest),
        *_last_minutes(table["last_minute_mean"], by_rate),
    )


def _memory(more_percent: float, hottest: tuple[Picks, Picks]) -> PublishedClaim:
    """Give the claim on memory: about a tenth more is anything from half of that to half as much again."""
    more = more_percent / 100
    return PublishedClaim(
        ISC,
        ("memory_increase_percent",),
        "memory with validation to that without",
        f"about {ratio_text(1 + more)}",
        MEMORY.key,
        *hottest,
        (1 + more / 2, 1 + more * 1.5),
        above="the cache is more of all memory than at the published resolver, or grows by more than BIND 9.18's",
        below="after so short a load the cache is little beside the memory that the resolver has anyhow",
        evidence=(CACHE_OCTETS.key,),
    )


def _last_minutes(
    minute: Mapping[str, Mapping[str, float]], by_rate: Mapping[int, tuple[Picks, Picks]]
) -> list[PublishedClaim]:
    """Give the claims on means of the last minute, validating to not, at the rates for which they are told."""
    found = []
    for key, rate_qps, what, figure, impact in (
        ("9k udp_sockets", LOWEST_QPS, "UDP sockets in use", UDP_SOCKETS, "sockets"),
        ("9k received_mib_per_second", LOWEST_QPS, "octets received", INTERNET_IN, "bandwidth"),
        ("135k received_mib_per_second", HIGHEST_QPS, "octets received", INTERNET_IN, "bandwidth"),
    ):
        pair = minute[key]
        of, to = by_rate.get(rate_qps, ({}, {}))
        found.append(
            PublishedClaim(
                ISC,
                (f"last_minute_mean.{key}",),
                f"{what} at {rate_qps:,} qps with validation to that without",
                f"{pair['validating']:g} to {pair['non_validating']:g}",
                figure.key,
                of,
                to,
                NO_DIFFERENCE,
                above=ABOVE[impact],
                below=BELOW,
                evidence=(UPSTREAM.key, UPSTREAM_ANSWER.key),
                lacking=""
                if rate_qps in by_rate
                else f"this run has no {rate_qps:,} queries per second (--rate {rate_qps})",
            )
        )
    return found


def beside(findings: Findings, column: str, without: str, validating: str) -> Table:
    """Print what was published beside what was measured in a column, the last part at the highest rate.

    `without` and `validating` are values of the grid's rows.
    """
    table = read_published(FILE)
    grid = findings.grid
    minute = table["last_minute_mean"]
    sockets = minute["9k udp_sockets"]
    inwards = minute["9k received_mib_per_second"]
    rows: list[tuple[Cell, ...]] = [
        (
            Cell("ISC-2022 (published), 9,000 qps"),
            Cell(str(sockets["non_validating"])),
            Cell(str(sockets["validating"])),
            Cell(str(inwards["non_validating"])),
            Cell(str(inwards["validating"])),
            Cell(f"+{table['memory_increase_percent']} %"),
        )
    ]
    for server in grid.servers:
        by_row = {str(row.value): grid.cell(server, row, column) for row in grid.rows}
        off, on = by_row.get(without), by_row.get(validating)
        if off is None or on is None:
            continue
        medians = [
            None if found is None else found.median
            for figure in (UDP_SOCKETS, INTERNET_IN)
            for found in (off.estimate(figure.key, grid.seed), on.estimate(figure.key, grid.seed))
        ]
        ratio = grid.ratio_to_baseline(server, _row(findings, validating), column, MEMORY.key)
        cache = grid.ratio_to_baseline(server, _row(findings, validating), column, CACHE_OCTETS.key)
        rows.append(
            (
                Cell(f"{grid.titles[server]}, {grid.column_label(column)}"),
                *(sections.MISSING if value is None else Cell(f"{value:.1f}") for value in medians[:2]),
                *(sections.MISSING if value is None else Cell(f"{value / 2**20:.3f}") for value in medians[2:]),
                sections.MISSING
                if ratio is None
                else Cell(
                    f"{(ratio.ratio - 1) * 100:+.0f} %",
                    "" if cache is None else f"its cache {(cache.ratio - 1) * 100:+.0f} %",
                ),
            )
        )
    return Table(
        "Means of the last part: published and measured",
        ("", "UDP sockets, off", "on", "MiB/s received, off", "on", "memory"),
        tuple(rows),
    )


def _row(findings: Findings, value: str) -> Any:  # noqa: ANN401 (a row of the grid)
    return next(row for row in findings.grid.rows if str(row.value) == value)
