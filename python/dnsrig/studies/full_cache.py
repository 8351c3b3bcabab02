"""full-cache: what DNSSEC answers cost a resolver that has everything in its cache (JPRS-2010, case 4)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, ClassVar

from dnsrig import _core
from dnsrig.report.claim_tables import published_section
from dnsrig.report.figures import CPU, HIT_SHARE, QPS, RESPONSE_BYTES, ratio_text
from dnsrig.report.layout import Axis, RatioQuestion, StudyText
from dnsrig.report.sections import Findings, Section
from dnsrig.report.tables import Cell, Table
from dnsrig.runs.folder import RunFolder
from dnsrig.studies.resolving import asked, jprs_2010, pictures, sections, words
from dnsrig.studies.resolving.cases import ResolverCase, Traffic
from dnsrig.studies.resolving.published import read_published
from dnsrig.studies.resolving.settings import RESOLVER_DEFAULTS, ResolverStudySettings
from dnsrig.studies.resolving.streams import distinct, write_stream
from dnsrig.studies.resolving.study import ResolverStudy
from dnsrig.studies.resolving.trees import ALL
from dnsrig.studies.settings import StudySettings
from dnsrig.studies.wording import JPRS_2010

PLAIN, DNSSEC = "plain", "do"
OFF, ON = "off", "on"
FIGURES = (QPS, CPU, RESPONSE_BYTES, HIT_SHARE)


@dataclass(frozen=True, slots=True)
class FullCacheSettings(ResolverStudySettings):
    """What the study of full caches lets a user choose."""

    questions: int = 100
    """Different questions, all of which are in the cache before the load begins."""


class FullCache(ResolverStudy[FullCacheSettings]):
    """Queries plain or with DO x validation off/on, with 100 % cache hits."""

    name: ClassVar[str] = "full-cache"
    title: ClassVar[str] = "What DNSSEC answers cost a resolver whose cache has them all"
    source: ClassVar[str] = f"{JPRS_2010}, performance case 4"
    settings_type: ClassVar[type[StudySettings]] = FullCacheSettings
    defaults: ClassVar[dict[str, Any]] = {**RESOLVER_DEFAULTS, "load_s": 5.0}
    quick: ClassVar[dict[str, Any]] = {"repetitions": 3, "load_s": 1.5}

    def cases(self, settings: FullCacheSettings) -> Sequence[Sequence[ResolverCase]]:
        """List plain queries and such with DO, to a resolver that does not validate and to one that does."""
        return [
            [
                ResolverCase(
                    name=f"{queries}-{state}",
                    axes=(("queries", queries), ("validation", state)),
                    traffic=Traffic(queries, load_s=settings.load_s),
                    validates=state == ON,
                    tree=ALL,
                    warm_up=(queries, queries),
                )
            ]
            for state in (OFF, ON)
            for queries in (PLAIN, DNSSEC)
        ]

    def streams(
        self, settings: FullCacheSettings, run: RunFolder, internets: Mapping[str, _core.Internet]
    ) -> dict[str, _core.QueryStream]:
        """Make the same questions without EDNS, and with EDNS and DO."""
        lines = distinct(internets[ALL], settings.seed, settings.questions)
        return {
            PLAIN: write_stream(run, PLAIN, lines, edns=False),
            DNSSEC: write_stream(run, DNSSEC, lines, do_bit=True),
        }

    def text(self, settings: FullCacheSettings) -> StudyText:
        """Give the words and the layout of the report."""
        return StudyText(
            name=self.name,
            title=self.title,
            question=(
                "When every answer is in the cache, how many fewer queries a second does a resolver answer if "
                "clients set "
                "DO and get signatures, and what does each answer cost it?"
            ),
            method=(
                f"Clients ask {settings.questions:,} different questions for names that exist, again and again, "
                "once plain "
                "(no EDNS) and once with EDNS and the DO bit. All zones of the Internet are signed. Each stream is "
                "asked "
                "through twice before the load, so that all answers are in the cache; the reached share of cache "
                "hits is "
                "the resolver's own count.",
                words.closed_loop(settings),
                words.internet(settings),
                words.resolver(settings, "all answers"),
                words.order(settings),
            ),
            source=self.source,
            rows=Axis("queries", "Queries", {PLAIN: "plain", DNSSEC: "with DO"}),
            columns=Axis("validation", "Validation", {OFF: "validation off", ON: "validation on"}),
            baseline=PLAIN,
            baseline_label="plain queries",
            questions=(
                _question(QPS.key, "answers {ratio} times as many queries a second", "rate"),
                _question(CPU.key, "needs {ratio} times the CPU for each answer", "CPU per query"),
                _question(RESPONSE_BYTES.key, "sends {ratio} times the octets in each answer", "sizes of answers"),
            ),
            claims=jprs_2010.case_4(*({"queries": queries, "validation": ON} for queries in (DNSSEC, PLAIN))),
            limits=(
                *words.limits(settings),
                "A closed loop finds the rate at which a fixed number of outstanding queries is answered; its "
                "latencies "
                "are those at saturation.",
                f"{settings.questions:,} answers stay in the processor's caches.",
                "The seed draws the names, and sizes of answers are those of the names drawn: by five seeds 100 of "
                "them had 5.0 to 5.8 times the octets with DO. Intervals are of the repetitions of one draw.",
            ),
            sections=_sections,
        )


def _question(figure: str, what: str, of: str) -> RatioQuestion:
    return RatioQuestion(
        figure=figure,
        of={"queries": DNSSEC, "validation": ON},
        to={"queries": PLAIN, "validation": ON},
        sentence=f"With DO, from its cache and validating, {{server}} {what}",
        no_difference=f"{{server}}: no difference in {of} was seen between plain queries and such with DO",
    )


def _sections(findings: Findings) -> Sequence[Section]:
    return (
        published_section(findings, (_NOTE,), (_beside(findings),)),
        sections.figure_section(findings, "What each case came to", (*FIGURES, *sections.RIG)),
        sections.verdict_section(findings, "What DO costs", (QPS, CPU, RESPONSE_BYTES)),
        pictures.picture_section(findings),
        asked.section(findings),
    )


_NOTE = (
    "Absolute rates belong to the hardware of 2010: compare the ratios. Sizes depend on the lengths of names and the "
    "algorithms of signatures."
)


def _beside(findings: Findings) -> Table:
    """Print rates and sizes themselves beside the published ones."""
    case = read_published(jprs_2010.FILE)["case4_appliance_full_cache"]
    plain, dnssec, octets = fmean(case["qps_plain"]), fmean(case["qps_dnssec"]), case["response_bytes"]
    grid = findings.grid
    rows: list[tuple[Cell, ...]] = [
        (
            Cell("JPRS-2010 (published), an appliance"),
            Cell(f"{plain:,.0f}"),
            Cell(f"{dnssec:,.0f}"),
            Cell(ratio_text(dnssec / plain)),
            Cell(str(octets["plain"])),
            Cell(str(octets["dnssec"])),
            Cell(ratio_text(octets["dnssec"] / octets["plain"])),
        )
    ]
    for server in grid.servers:
        for column in grid.columns:
            cells = []
            for figure in (QPS, RESPONSE_BYTES):
                for row in grid.rows:
                    case_of = grid.cell(server, row, column)
                    found = None if case_of is None else case_of.estimate(figure.key, grid.seed)
                    cells.append(sections.MISSING if found is None else Cell(figure.text(found.median)))
                other = next((row for row in grid.rows if not row.is_baseline), None)
                ratio = None if other is None else grid.ratio_to_baseline(server, other, column, figure.key)
                cells.append(sections.MISSING if ratio is None else Cell(ratio_text(ratio.ratio)))
            if len(cells) == 6:
                rows.append((Cell(f"{grid.titles[server]}, {grid.column_label(column)}"), *cells))
    return Table(
        "Plain queries and such with DO, all from the cache: published and measured",
        ("", "plain [qps]", "with DO [qps]", "ratio", "plain [octets]", "with DO [octets]", "ratio"),
        tuple(rows),
    )
