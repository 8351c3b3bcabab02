"""The figures of ISC-2022 (what validation costs), and what a run has that is like them."""

from collections.abc import Mapping

from dnsrig.report.figures import (
    CACHE_OCTETS,
    CPU,
    INTERNET_IN,
    LATENCY_P50,
    LATENCY_P99,
    MEMORY,
    UDP_SOCKETS,
    UPSTREAM,
    Figure,
    ratio_text,
)
from dnsrig.report.layout import PublishedClaim
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
ABOVE = (
    "nothing else varies between the loads of this run, where on the Internet of 2022 it was within what varied, and "
    "the Internet of this run has only the shares of signed zones that its profile assumes"
)
BELOW = "a resolver that validates denies from NSEC records that it knows (RFC 8198), and asks less"


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
            above=ABOVE,
            below=BELOW,
            evidence=(UPSTREAM.key,),
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
    for key, rate_qps, what, figure in (
        ("9k udp_sockets", LOWEST_QPS, "UDP sockets in use", UDP_SOCKETS),
        ("9k received_mib_per_second", LOWEST_QPS, "octets received", INTERNET_IN),
        ("135k received_mib_per_second", HIGHEST_QPS, "octets received", INTERNET_IN),
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
                above=ABOVE,
                below=BELOW,
                evidence=(UPSTREAM.key,),
                lacking=""
                if rate_qps in by_rate
                else f"this run has no {rate_qps:,} queries per second (--rate {rate_qps})",
            )
        )
    return found
