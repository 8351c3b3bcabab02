"""resolver-cost: a resolver's rate and CPU per query by its share of cache hits, and in floods (JPRS-2010, case 1)."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any, ClassVar

from dnsrig import _core
from dnsrig.errors import InputError
from dnsrig.report.figures import CACHE_OCTETS, CPU, HIT_SHARE, MEMORY, QPS, UPSTREAM, ratio_text
from dnsrig.report.layout import Axis, RatioQuestion, StudyText
from dnsrig.report.sections import Findings, Section
from dnsrig.report.tables import Cell, Table
from dnsrig.runs.folder import RunFolder
from dnsrig.studies.resolving import pictures, sections, words
from dnsrig.studies.resolving.cases import TREE, ResolverCase, Traffic
from dnsrig.studies.resolving.settings import ResolverStudySettings
from dnsrig.studies.resolving.streams import distinct, misses, missing_below, refuse_too_many, with_hits, write_stream
from dnsrig.studies.resolving.study import ResolverStudy
from dnsrig.studies.settings import StudySettings
from dnsrig.studies.wording import JPRS_2010

OFF, ON = "off", "on"
HOT = "hot"
FLOODS: Mapping[str, str] = {"nsec": "se.", "nsec3": "com."}
"""Top-level domains whose names that do not exist are asked for, by how they deny; both profiles have them so."""
STEADY: Mapping[str, str] = {"steady": "names that exist", "steady-nsec3": "names that NSEC3 denies"}
STEADY_HITS = 0.8
"""Share of cache hits at the published fixed rate."""
HITS_ONLY = 100
STREAM_QUERIES = 200_000
FLOOD_QPS = 40_000
"""A flood has names for so many queries a second; a load ends early when all were asked."""
FIGURES = (QPS, CPU, HIT_SHARE, UPSTREAM, MEMORY, CACHE_OCTETS)


@dataclass(frozen=True, slots=True)
class ResolverCostSettings(ResolverStudySettings):
    """What the study of cache hits lets a user choose."""

    hit_shares: tuple[int, ...] = (0, 50, 90, 100)
    """Shares of cache hits, in per cent."""
    floods: tuple[str, ...] = tuple(FLOODS)
    """Queries for names that do not exist, by how their zone denies."""
    fresh_names: int = 20_000
    """Different questions for cache misses: a load ends when it has asked all, before one comes again."""
    hot_names: int = 1000
    rate_qps: float = 1000.0
    """The fixed rate at which memory is looked at."""


class ResolverCost(ResolverStudy[ResolverCostSettings]):
    """Validation off/on x shares of cache hits, floods, and a fixed rate."""

    name: ClassVar[str] = "resolver-cost"
    title: ClassVar[str] = "What a query costs a resolver, by cache hits and under floods"
    source: ClassVar[str] = f"{JPRS_2010}, performance case 1"
    settings_type: ClassVar[type[StudySettings]] = ResolverCostSettings
    defaults: ClassVar[dict[str, Any]] = {"load_s": 5.0}
    quick: ClassVar[dict[str, Any]] = {"repetitions": 3, "load_s": 1.5, "hit_shares": (0, 90), "fresh_names": 5000}
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {"floods": tuple(FLOODS)}

    def check(self, settings: ResolverCostSettings) -> None:
        """Refuse settings with which nothing can be measured."""
        if max(settings.hit_shares) > HITS_ONLY:
            raise InputError(f"--hit-share {max(settings.hit_shares)}: a share is at most 100 %")
        refuse_too_many(_steady(settings), f"--rate {settings.rate_qps:g} for {settings.load_s:g} s (--load-seconds)")
        if settings.floods:
            refuse_too_many(FLOOD_QPS * settings.load_s, f"floods of {settings.load_s:g} s (--load-seconds)")
        super().check(settings)

    def cases(self, settings: ResolverCostSettings) -> Sequence[Sequence[ResolverCase]]:
        """List what is asked, each with validation off and on."""
        asked: list[tuple[str, Traffic]] = [
            (f"hits-{share}", Traffic(f"hits-{share}", load_s=settings.load_s, is_once=share < HITS_ONLY))
            for share in settings.hit_shares
        ]
        asked += [
            (f"flood-{kind}", Traffic(f"flood-{kind}", load_s=settings.load_s, is_once=True))
            for kind in settings.floods
        ]
        asked += [
            (kind, Traffic(kind, rate_qps=settings.rate_qps, load_s=settings.load_s, is_once=True)) for kind in STEADY
        ]
        return [[self._case(kind, traffic, state)] for kind, traffic in asked for state in (OFF, ON)]

    def _case(self, kind: str, traffic: Traffic, state: str) -> ResolverCase:
        return ResolverCase(
            name=f"{kind}-{state}",
            axes=(("validation", state), ("asked", kind)),
            traffic=traffic,
            validates=state == ON,
            warm_up=(HOT,),
        )

    def streams(
        self, settings: ResolverCostSettings, run: RunFolder, internets: Mapping[str, _core.Internet]
    ) -> dict[str, _core.QueryStream]:
        """Make the names that are in the cache, and streams that mix them with new ones."""
        internet, seed = internets[TREE], settings.seed
        steady = _steady(settings)
        new = misses(steady, STEADY_HITS)
        names = distinct(internet, seed, settings.hot_names + max(settings.fresh_names, new))
        hot, rest = names[: settings.hot_names], names[settings.hot_names :]
        fresh = rest[: settings.fresh_names]
        found = {HOT: write_stream(run, HOT, hot)}
        for share in settings.hit_shares:
            count = _queries(len(fresh), share / 100)
            found[f"hits-{share}"] = write_stream(run, f"hits-{share}", with_hits(hot, fresh, share / 100, count, seed))
        for kind in settings.floods:
            flood = missing_below(FLOODS[kind], round(FLOOD_QPS * settings.load_s), seed)
            found[f"flood-{kind}"] = write_stream(run, f"flood-{kind}", flood, do_bit=True)
        missing = list(missing_below(FLOODS["nsec3"], new, seed + 1))
        for kind, some in zip(STEADY, (rest, missing), strict=True):
            found[kind] = write_stream(run, kind, with_hits(hot, some, STEADY_HITS, steady, seed), do_bit=True)
        return found

    def text(self, settings: ResolverCostSettings) -> StudyText:
        """Give the words and the layout of the report."""
        columns = {f"hits-{share}": f"{share} % cache hits" for share in settings.hit_shares}
        columns |= {f"flood-{kind}": f"names that {kind.upper()} denies" for kind in settings.floods}
        columns |= {kind: f"{settings.rate_qps:,.0f} qps, 80 % hits and {label}" for kind, label in STEADY.items()}
        return StudyText(
            name=self.name,
            title=self.title,
            question=(
                "How many queries a second does a resolver answer, and what CPU time does each cost it, by the "
                "share that "
                "its cache answers, with validation and without, and when names are asked for that do not exist? "
                "How much "
                "memory does it take at a fixed rate?"
            ),
            method=(
                f"Before each load {settings.hot_names:,} questions are asked once, so that the cache has their "
                "answers. "
                "The load mixes them with questions that were never asked before, of which there are "
                f"{settings.fresh_names:,}: none comes twice, and a load ends early when all were asked. The share of "
                "cache hits that was reached is the resolver's own count. Floods ask for names that do not exist, "
                "made at "
                f"random and each once, below {FLOODS['nsec']} (NSEC) and {FLOODS['nsec3']} (NSEC3 with opt-out), with "
                "DO. At "
                f"{settings.rate_qps:,.0f} queries a second, of which 80 % are meant to be hits, memory is looked at.",
                words.closed_loop(settings),
                words.internet(settings),
                words.resolver(settings, "the answers to the questions asked before, and what resolving them took"),
                words.order(settings),
            ),
            source=self.source,
            rows=Axis("validation", "Validation", {OFF: "validation off", ON: "validation on"}),
            columns=Axis("asked", "Queries", columns),
            baseline=OFF,
            baseline_label="validation off",
            questions=tuple(
                RatioQuestion(
                    figure=CPU.key,
                    of={"validation": ON, "asked": kind},
                    to={"validation": OFF, "asked": kind},
                    sentence=f"{{server}}, {columns[kind]}: with validation a query costs {{ratio}} times the CPU",
                    no_difference=f"{{server}}, {columns[kind]}: no difference in CPU was seen with validation",
                )
                for kind in (f"hits-{min(settings.hit_shares)}", f"hits-{max(settings.hit_shares)}")
            ),
            limits=(
                *words.limits(settings),
                "Resolvers of today deny from NSEC records that they know (RFC 8198) when they validate: a flood then "
                "costs less with validation than without, other than in 2010.",
                "Memory at a fixed rate is that of a load of seconds, not of days.",
            ),
            sections=_sections,
        )


def _steady(settings: ResolverCostSettings) -> int:
    """Give how many queries a load at the fixed rate has."""
    return round(settings.rate_qps * settings.load_s) + 1


def _queries(fresh: int, hit_share: float) -> int:
    """Give how many queries a mix has whose misses are not more than the names there are for them."""
    if hit_share >= 1:
        return STREAM_QUERIES
    return min(STREAM_QUERIES, int(fresh / (1 - hit_share)))


def _sections(findings: Findings) -> Sequence[Section]:
    return (
        sections.verdict_section(findings, "What validation costs", (QPS, CPU, UPSTREAM, MEMORY, CACHE_OCTETS)),
        _published_section(findings),
        sections.figure_section(findings, "What each case came to", FIGURES),
        pictures.picture_section(findings),
        sections.figure_section(findings, "Cache and upstream", sections.INSIDE),
    )


def _published_section(findings: Findings) -> Section:
    text = resources.files("dnsrig.published").joinpath("jprs-2010.toml").read_text(encoding="utf-8")
    case = tomllib.loads(text)["case1_resolver"]
    grid = findings.grid
    hits = [column for column in grid.columns if column.startswith("hits-")]
    lowest = min(hits, key=lambda column: int(column.removeprefix("hits-")), default=None)
    rows = [
        (
            Cell("JPRS-2010 (published)"),
            *(Cell(ratio_text(case["qps_ratio_dnssec_on_to_off"]) if column == lowest else "-") for column in hits),
            Cell(ratio_text(case["memory_growth_ratio_nsec3_nxdomain"])),
        )
    ]
    for server in grid.servers:
        on = next((row for row in grid.rows if not row.is_baseline), None)
        if on is None:
            continue
        ratios = [grid.ratio_to_baseline(server, on, column, QPS.key) for column in hits]
        rates = [sections.MISSING if ratio is None else Cell(ratio_text(ratio.ratio)) for ratio in ratios]
        rows.append((Cell(grid.titles[server]), *rates, _memory_cell(findings, server, on)))
    table = Table(
        "Rate with validation to that without, and memory with NSEC3 denial to that with names that exist (validating)",
        ("", *(grid.column_label(column) for column in hits), "memory"),
        tuple(rows),
    )
    note = (
        "The published ratio of rates was measured with the hits of a query log, so it stands at the lowest share "
        "here. "
        "Published memory is the growth over time at 100 queries a second with 80 % hits where NXDOMAIN by NSEC3 "
        "dominates; measured is the largest memory at the fixed rate. Today's resolvers bound their caches, share "
        "records of denial between names and use few iterations (RFC 9276), so that it hardly grows."
    )
    return Section("Published and measured", (note,), tables=(table,))


def _memory_cell(findings: Findings, server: str, row: Any) -> Cell:  # noqa: ANN401 (a row of the grid)
    grid = findings.grid
    cases = [grid.cell(server, row, kind) for kind in STEADY]
    exists, denied = (None if case is None else case.estimate(MEMORY.key, grid.seed) for case in cases)
    return sections.MISSING if denied is None or exists is None else Cell(ratio_text(denied.median / exists.median))
