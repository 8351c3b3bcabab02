"""cold-start: how long a resolver takes until its cache is hot, and what a warm-up saves (JPRS-2010, case 3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any, ClassVar

from dnsrig import _core
from dnsrig.report.claim_tables import published_section
from dnsrig.report.figures import (
    COLD_TO_HOT,
    CPU,
    HIT_SHARE,
    HOT_AFTER,
    HOT_HITS_AFTER,
    HOT_LATENCY_AFTER,
    LATENCY_P50,
    LATENCY_P99,
    MEMORY,
    SERVER_CPU,
    UPSTREAM,
)
from dnsrig.report.layout import Axis, RatioQuestion, StudyText
from dnsrig.report.sections import Findings, Section
from dnsrig.runs.folder import RunFolder
from dnsrig.studies.resolving import asked, jprs_2010, pictures, sections, words
from dnsrig.studies.resolving.bench import ResolverBench
from dnsrig.studies.resolving.cases import TREE, ResolverCase, Traffic
from dnsrig.studies.resolving.room import refuse_too_many
from dnsrig.studies.resolving.settings import RESOLVER_DEFAULTS, ResolverStudySettings
from dnsrig.studies.resolving.streams import OTHER_SEED_STEP, questions, write_stream
from dnsrig.studies.resolving.study import ResolverStudy
from dnsrig.studies.resolving.timeline import Timeline, is_second
from dnsrig.studies.resolving.warming import warming_section
from dnsrig.studies.settings import StudySettings
from dnsrig.studies.wording import JPRS_2010

NONE, FLUSH, SAMPLE, POPULAR = "none", "flush", "sample", "list"
METHODS = {NONE: "none", FLUSH: "none, after a flush", SAMPLE: "replayed sample", POPULAR: "list of popular names"}
WARM_UPS = {NONE: (), FLUSH: (SAMPLE,), SAMPLE: (SAMPLE,), POPULAR: (POPULAR,)}
"""The streams that are asked through before a load."""
CLIENTS = "clients"
OFF, ON = "off", "on"
HOT_WITHIN = 0.1
"""A second is as hot as the end if its upstream queries for each query are within this share of the end's."""
END_SHARE = 0.25
"""Last share of the load that counts as its end."""
SMOOTHED_S = 3
"""Seconds whose mean is looked at, because single ones vary."""
FIGURES = (
    HOT_AFTER,
    HOT_HITS_AFTER,
    HOT_LATENCY_AFTER,
    COLD_TO_HOT,
    LATENCY_P50,
    LATENCY_P99,
    HIT_SHARE,
    UPSTREAM,
    CPU,
    SERVER_CPU,
    MEMORY,
)


@dataclass(frozen=True, slots=True)
class ColdStartSettings(ResolverStudySettings):
    """What the study of cold starts lets a user choose."""

    rate_qps: float = 2000.0
    methods: tuple[str, ...] = tuple(METHODS)
    """What is before clients come: a start, a flush, or a way to warm the cache up."""
    warm_up_queries: int = 20_000
    """Queries of a warm-up."""


def hot_after_s(by_second: Sequence[int], answered: Sequence[int]) -> float | None:
    """Give the second from which on a load was as hot as at its end; None where that cannot be said.

    The measure is upstream queries for each query of clients, smoothed, because both the hit rate and the latency
    follow from it: it falls while the cache fills.

    Args:
        by_second: upstream queries of each second.
        answered: answered queries of each second.

    """
    pairs = list(zip(by_second, answered, strict=False))
    return settled_after_s([count / queries if queries else None for count, queries in pairs])


def settled_after_s(values: Sequence[float | None]) -> float | None:
    """Give the second from which on a figure that falls was as low as at the end; None where that cannot be said.

    Args:
        values: of each second; None: not known.

    """
    known = [value for value in values if value is not None]
    length = len(known)
    if length < 2 * SMOOTHED_S or length < len(values):
        return None
    smooth = [fmean(known[index : index + SMOOTHED_S]) for index in range(length - SMOOTHED_S + 1)]
    end = median(known[-max(1, round(length * END_SHARE)) :])
    limit = end * (1 + HOT_WITHIN)
    cold = [index for index, value in enumerate(smooth) if value > limit]
    if not cold:
        return 0.0
    # If even the last seconds are colder than the end's median, there was no steady end.
    return None if cold[-1] == len(smooth) - 1 else float(cold[-1] + 1)


def seconds(
    rows: Sequence[Mapping[str, Any]], upstream: Sequence[int], hit_shares: Sequence[float | None]
) -> dict[str, list[Any]]:
    """Give what happened in each second of a load, lists of one length.

    Args:
        rows: its intervals, those with readings.
        upstream: upstream queries of each second.
        hit_shares: shares of cache hits of each second.

    """
    found = list(zip(rows, upstream, hit_shares, strict=False))
    return {
        "start_s": [row["start_s"] for row, _, _ in found],
        "answered": [row["answered"] for row, _, _ in found],
        **{f"latency_{key}_ns": [row["latency_ns"][key] for row, _, _ in found] for key in ("mean", "p50", "p99")},
        "cache_hit_share": [share for _, _, share in found],
        "upstream_per_query": [count / row["answered"] if row["answered"] else None for row, count, _ in found],
    }


def cold_to_hot_latency(latency_mean_ns: Sequence[float | None]) -> float | None:
    """Give how many times the latency of a load's first seconds is that of its end; None where that cannot be said."""
    length = len(latency_mean_ns)
    first = latency_mean_ns[:SMOOTHED_S]
    last = latency_mean_ns[-max(1, round(length * END_SHARE)) :]
    known = [[value for value in some if value is not None] for some in (first, last)]
    if length < 2 * SMOOTHED_S or not all(known):
        return None
    return fmean(known[0]) / fmean(known[1])


class ColdStartBench(ResolverBench):
    """Measures as others do, and says what each load was like second by second, and when it was hot."""

    reads_counts_each_second: ClassVar[bool] = True

    def _of_seconds(self, load: Mapping[str, Any], timeline: Timeline) -> dict[str, Any]:
        rows = [row for row in load["intervals"] if is_second(row)]
        upstream = timeline.upstream_by_second
        by_second = seconds(rows, upstream, timeline.hit_share_by_second)
        missed = [None if share is None else 1 - share for share in by_second["cache_hit_share"]]
        return {
            "cold_start": {
                "hot_after_s": hot_after_s(upstream, by_second["answered"]),
                "hot_hits_after_s": settled_after_s(missed),
                "hot_latency_after_s": settled_after_s(by_second["latency_mean_ns"]),
                "cold_to_hot_latency": cold_to_hot_latency(by_second["latency_mean_ns"]),
                "by_second": by_second,
            }
        }


class ColdStart(ResolverStudy[ColdStartSettings]):
    """Validation off/on x ways to warm up, at a given rate."""

    name: ClassVar[str] = "cold-start"
    title: ClassVar[str] = "How long a resolver takes until it is hot, and what a warm-up saves"
    source: ClassVar[str] = f"{JPRS_2010}, performance case 3"
    settings_type: ClassVar[type[StudySettings]] = ColdStartSettings
    defaults: ClassVar[dict[str, Any]] = {**RESOLVER_DEFAULTS, "load_s": 60.0, "distances": True}
    quick: ClassVar[dict[str, Any]] = {"repetitions": 3, "load_s": 10.0, "rate_qps": 1000.0}
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {"methods": tuple(METHODS)}

    def check(self, settings: ColdStartSettings) -> None:
        """Refuse settings with which nothing can be measured."""
        asked = settings.rate_qps * settings.load_s
        refuse_too_many(asked, f"--rate {settings.rate_qps:g} for {settings.load_s:g} s (--load-seconds)")
        super().check(settings)

    def cases(self, settings: ColdStartSettings) -> Sequence[Sequence[ResolverCase]]:
        """List the ways to warm up, each with validation off and on."""
        return [
            [
                ResolverCase(
                    name=f"{method}-{state}",
                    axes=(("warm_up", method), ("validation", state)),
                    traffic=Traffic(CLIENTS, rate_qps=settings.rate_qps, load_s=settings.load_s, is_once=True),
                    validates=state == ON,
                    warm_up=WARM_UPS[method],
                    is_flushed=method == FLUSH,
                )
            ]
            for state in (OFF, ON)
            for method in METHODS
            if method in settings.methods
        ]

    def streams(
        self, settings: ColdStartSettings, run: RunFolder, internets: Mapping[str, _core.Internet]
    ) -> dict[str, _core.QueryStream]:
        """Make the clients' queries, a sample of what clients asked before, and the list of what they ask most."""
        internet = internets[TREE]
        count = round(settings.rate_qps * settings.load_s) + 1
        found = {CLIENTS: write_stream(run, CLIENTS, _first(internet, settings.seed, count))}
        # What was asked the day before: drawn from the same names, other queries.
        before = settings.seed + OTHER_SEED_STEP
        if SAMPLE in settings.methods or FLUSH in settings.methods:
            found[SAMPLE] = write_stream(run, SAMPLE, _first(internet, before, settings.warm_up_queries))
        if POPULAR in settings.methods:
            found[POPULAR] = write_stream(run, POPULAR, _popular(internet, before, settings.warm_up_queries))
        return found

    def bench(self, *arguments: Any) -> ResolverBench:  # noqa: ANN401 (those of ResolverBench)
        """Make what measures the cases."""
        return ColdStartBench(*arguments)

    def text(self, settings: ColdStartSettings) -> StudyText:
        """Give the words and the layout of the report."""
        return StudyText(
            name=self.name,
            title=self.title,
            question=(
                "After a start or a flush, how long does it take until a resolver's cache is hot, how many queries to "
                "the Internet and how much CPU time does that cost, with validation and without, and how much of it "
                "does a warm-up save?"
            ),
            method=(
                f"The resolver starts with an empty cache; clients ask {settings.rate_qps:,.0f} queries a second, as "
                f"popular as the Internet has its names, for {settings.load_s:g} s. Three ways to warm up beforehand "
                "are compared: none, after the start and after a flush (the resolver has answered the sample, and is "
                f"then told to empty its caches by its own command); a sample, {settings.warm_up_queries:,} queries of "
                "the same clients' earlier traffic replayed as fast as they are answered; and a list, as many "
                "different questions, those that were asked most in a larger sample. Warming up is not measured.",
                f"Hot is the second from which on the upstream queries for each query (mean of {SMOOTHED_S} s) stay "
                f"within {HOT_WITHIN:.0%} of what they are in the last quarter of the load. A load that gets steadily "
                "hotter until its end has no such second, and is left out of the median. The same is told of the share "
                "of queries that the cache does not answer, and of mean latency.".replace("%", " %"),
                words.internet(settings),
                words.resolver(settings, "nothing but what the warm-up, if there is one, has left there"),
                words.order(settings),
            ),
            source=self.source,
            rows=Axis("warm_up", "Warm-up", {key: f"warm-up: {label}" for key, label in METHODS.items()}),
            columns=Axis("validation", "Validation", {OFF: "validation off", ON: "validation on"}),
            baseline=NONE,
            baseline_label="no warm-up",
            questions=tuple(
                RatioQuestion(
                    figure=figure.key,
                    of={"warm_up": method, "validation": ON},
                    to={"warm_up": NONE, "validation": ON},
                    sentence=f"{{server}}, validating: a warm-up by {METHODS[method]} makes the {what} {{ratio}} times "
                    "what it is without",
                    no_difference=f"{{server}}, validating: no difference in {what} was seen with a warm-up by "
                    f"{METHODS[method]}",
                    table="A warm-up makes these so many times what they are without (validating, 95 % intervals)",
                    asked=f"{what}, {METHODS[method]}",
                )
                for figure, what in (
                    (UPSTREAM, "upstream queries per query"),
                    (LATENCY_P99, "latency at the 99th percentile"),
                )
                for method in (SAMPLE, POPULAR)
                if method in settings.methods
            )
            + tuple(
                RatioQuestion(
                    figure=figure.key,
                    of={"warm_up": FLUSH, "validation": ON},
                    to={"warm_up": NONE, "validation": ON},
                    sentence=f"{{server}}, validating: after a flush the {what} is {{ratio}} times what it is after a "
                    "start",
                    no_difference=f"{{server}}, validating: no difference in {what} was seen between a flush and a "
                    "start",
                )
                for figure, what in (
                    (UPSTREAM, "number of upstream queries per query"),
                    (LATENCY_P99, "latency at the 99th percentile"),
                )
                if FLUSH in settings.methods
            ),
            claims=jprs_2010.case_3({"warm_up": NONE, "validation": ON}, {"warm_up": NONE, "validation": OFF}),
            limits=(
                *words.limits(settings),
                "Each second the resolver is asked for its counts, for the share of cache hits: that is a part of its "
                "CPU time, the same in all cases.",
                "A flush empties what the resolver's own command empties: what Unbound and PowerDNS Recursor know of "
                "the times and peculiarities of servers outlives it.",
                "Warming up takes the Internet's servers as many queries as it saves later, at a better time.",
            ),
            sections=_sections,
        )


def _first(internet: _core.Internet, seed: int, count: int) -> list[str]:
    drawn = questions(internet, seed)
    return [next(drawn) for _ in range(count)]


def _popular(internet: _core.Internet, seed: int, count: int) -> list[str]:
    """List the questions that came most in a sample ten times as large, most popular first."""
    counts: dict[str, int] = {}
    for line in _first(internet, seed, 10 * count):
        counts[line] = counts.get(line, 0) + 1
    return sorted(counts, key=lambda line: (-counts[line], line))[:count]


def _sections(findings: Findings) -> Sequence[Section]:
    return (
        sections.figure_section(findings, "What each case came to", FIGURES),
        warming_section(findings),
        published_section(findings),
        sections.verdict_section(findings, "What a warm-up saves", FIGURES),
        pictures.picture_section(findings),
        sections.figure_section(findings, "Cache and upstream", sections.INSIDE),
        asked.section(findings),
    )
