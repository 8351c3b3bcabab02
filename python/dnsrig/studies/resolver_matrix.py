"""resolver-matrix: does a resolver resolve and validate over bad paths, and at what cost (JPRS-2010, case 2)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Event
from typing import Any, ClassVar

from dnsrig import _core
from dnsrig.errors import EnvironmentLacksError, SubjectFailedError
from dnsrig.report.cases import CaseResult
from dnsrig.report.claim_tables import published_section
from dnsrig.report.figures import (
    CACHE_OCTETS,
    CPU,
    LATENCY_P50,
    LATENCY_P99,
    MEMORY,
    PATH_DROPPED,
    PATH_FRAGMENTS,
    UPSTREAM,
    UPSTREAM_OCTETS,
    UPSTREAM_TCP,
)
from dnsrig.report.grid import Grid
from dnsrig.report.layout import Axis, RatioQuestion, StudyText
from dnsrig.report.pictures import plots
from dnsrig.report.pictures.tiles import BADLY, PARTLY, PLAIN, WELL, Panel, Tile, draw_tiles
from dnsrig.report.sections import Drawing, Findings, Section
from dnsrig.report.tables import Cell, Table
from dnsrig.runs.folder import RunFolder
from dnsrig.servers.dnsdist import Dnsdist, find_dnsdist
from dnsrig.servers.programs import find_program
from dnsrig.studies.bench import Observation, Outcome, observe
from dnsrig.studies.resolving import asked, jprs_2010, sections, words
from dnsrig.studies.resolving.bench import GIVEN, UNSENT, ResolverBench
from dnsrig.studies.resolving.cases import ResolverCase, Traffic
from dnsrig.studies.resolving.conditions import (
    CONDITIONS,
    NO_FRAGMENTS,
    NO_UDP,
    OPEN,
    SMALL_MTU,
    needs_nft,
    path_counts,
)
from dnsrig.studies.resolving.front import Measured
from dnsrig.studies.resolving.place import Place
from dnsrig.studies.resolving.probes import PROBE_ATTEMPTS, PROBE_S, PROBES, ask_probes
from dnsrig.studies.resolving.room import refuse_too_many
from dnsrig.studies.resolving.settings import RESOLVER_DEFAULTS, ResolverStudySettings
from dnsrig.studies.resolving.streams import distinct, questions_of, write_stream
from dnsrig.studies.resolving.study import ResolverStudy
from dnsrig.studies.resolving.trees import UNSIGNED
from dnsrig.studies.settings import StudySettings
from dnsrig.studies.wording import JPRS_2010

BALANCED = "balanced"
ETHERNET = "ethernet"
PATHS: Mapping[str, str] = {
    ETHERNET: "Ethernet",
    **{name: condition.label for name, condition in CONDITIONS.items() if name != OPEN},
    BALANCED: "behind dnsdist",
}
"""Words for the paths, by their names."""
SIGNERS: Mapping[str, str] = {
    UNSIGNED: "unsigned",
    "rsa-1024": "RSA 1024",
    "rsa-2048": "RSA 2048",
    "p-256": "ECDSA P-256",
}
"""Words for the zone-signing keys, by the names of their Internets."""
UDP_SIZE = 4096
"""What resolvers offered in 2010. Answers to those that offer 1232, as today's do, pass any path whole."""
DENIED_EVERY = 4
"""One question of so many is for a name that does not exist: of signed zones these have the largest answers."""
FIGURES = (CPU, LATENCY_P50, LATENCY_P99, MEMORY, CACHE_OCTETS, UPSTREAM, UPSTREAM_OCTETS, UPSTREAM_TCP)
PATH_FIGURES = (PATH_FRAGMENTS, PATH_DROPPED)


@dataclass(frozen=True, slots=True)
class MatrixSettings(ResolverStudySettings):
    """What the matrix lets a user choose."""

    conditions: tuple[str, ...] = tuple(PATHS)
    keys: tuple[str, ...] = tuple(SIGNERS)
    """Zone-signing keys; with any but `unsigned`, all zones are signed."""
    rate_qps: float = 500.0


@dataclass(frozen=True, slots=True)
class Column:
    """What a cell's column is: the path, whether the resolver validates, whether clients set DO."""

    path: str
    validates: bool
    do_bit: bool

    @property
    def key(self) -> str:
        """Name it in file names."""
        return f"{self.path}-{'anchor' if self.validates else 'no-anchor'}-do{int(self.do_bit)}"

    @property
    def label(self) -> str:
        """Name it for readers."""
        return f"{PATHS[self.path]}, {'anchor' if self.validates else 'no anchor'}, DO {int(self.do_bit)}"


def columns_of(paths: Iterable[str]) -> list[Column]:
    """List the columns of some paths."""
    return [
        Column(path, validates, do_bit) for path in paths for validates in (False, True) for do_bit in (False, True)
    ]


COLUMNS: Mapping[str, Column] = {column.key: column for column in columns_of(PATHS)}
"""All that there may be, by their keys."""


def _size_words(settings: MatrixSettings) -> str:
    """Say up to which size answers come by UDP."""
    if settings.udp_size is None:
        return (
            "Resolvers offer to take what they ship with (EDNS), today 1232 octets, and no answer of that size "
            "is too large for any of these paths; --udp-size 4096 is how it was in 2010."
        )
    return (
        f"Resolvers offer to take {settings.udp_size:,} octets by UDP (EDNS), and servers of domains send up to 4096, "
        "those of root and registries up to 1232. In 2010 4096 was common; today's resolvers ship with 1232, and "
        "--udp-size 1232 is how it is with them."
    )


class NoLoadError(SubjectFailedError):
    """A load's first probe had no answer, so that nothing of it was sent."""


class MatrixBench(ResolverBench):
    """Asks whether names resolve and validate in a cell before it is measured."""

    requires_answers: ClassVar[bool] = False
    """A cell that fails is what is asked for."""

    def _before_load(self, case: ResolverCase, server: Measured, where: Place, port: int) -> dict[str, Any]:
        lines = questions_of(self._streams[_probes(case.tree)])
        do_bit = COLUMNS[dict(case.axes)["cell"]].do_bit
        given_up = Event()
        try:
            asked = where.clients.call(lambda: ask_probes(lines, (where.address, port), given_up, do_bit=do_bit))
            return {"resolves": asked}
        finally:
            # After Ctrl-C no question is asked again.
            given_up.set()

    def _measured(self, case: ResolverCase, server: Measured, where: Place, port: int) -> Outcome:
        before = path_counts(where, case.condition)
        outcome = self._measured_or_not(case, server, where, port)
        after = path_counts(where, case.condition)
        path = {key: count - before[key] for key, count in after.items()}
        outcome.more["path"] = path
        return replace(outcome, tainted=_beside_the_path(outcome, path))

    def _measured_or_not(self, case: ResolverCase, server: Measured, where: Place, port: int) -> Outcome:
        try:
            return super()._measured(case, server, where, port)
        except NoLoadError as error:
            # No load goes where nothing is answered; a resolver that is gone or hangs is another matter.
            server.check_running()
            server.counts()
            _, observed = observe(server, lambda: None, network_of=server.pids()[0])
            return unanswered(case, str(error), observed)

    def _load(
        self,
        server: Measured,
        where: Place,
        traffic: Traffic,
        port: int,
        *,
        on_start: Callable[[float], None] = lambda _: None,
        on_second: Callable[[Mapping[str, Any]], None] = lambda _: None,
        is_warm_up: bool = False,
    ) -> dict[str, Any]:
        """Send a load; raise NoLoadError if it fails before its first interval: what was sent is not to be lost."""
        is_under_way = False

        def heard(row: Mapping[str, Any]) -> None:
            nonlocal is_under_way
            is_under_way = True
            on_second(row)

        try:
            return super()._load(
                server, where, traffic, port, on_start=on_start, on_second=heard, is_warm_up=is_warm_up
            )
        except SubjectFailedError as error:
            # A resolver that ends in the first second is seen before the interval is heard of.
            server.check_running()
            if is_under_way:
                raise
            raise NoLoadError(str(error)) from error


def _beside_the_path(outcome: Outcome, path: Mapping[str, int]) -> list[str]:
    """Give why a case is tainted, beside what its path is for: what that drops, the Internet could not send."""
    is_the_path = outcome.more.get("upstream", {}).get("dropped", 0) <= path["dropped"]
    return [reason for reason in outcome.tainted if not (is_the_path and reason == UNSENT)]


def unanswered(case: ResolverCase, reason: str, observed: Observation) -> Outcome:
    """Make the outcome of a cell to which no load was sent, because its resolver answered nothing before."""
    nothing = {"sent": 0, "answered": 0, "timed_out": 0, "qps": 0.0, "rcodes": {}, "intervals": []}
    return Outcome(
        load={**nothing, "latency_ns": {"p50": None, "p99": None}, "bytes": {"sent": 0, "received": 0}},
        observed=observed,
        cpu_us_per_query=None,
        bottleneck=GIVEN,
        evidence=["no load was sent"],
        tainted=[f"no load was sent: {reason}"],
        axes=dict(case.axes),
        # The size of an idle resolver's cache is not to be compared with that of a loaded one.
        more={},
    )


class ResolverMatrix(ResolverStudy[MatrixSettings]):
    """Zone-signing keys x paths x trust anchor x DO."""

    name: ClassVar[str] = "resolver-matrix"
    title: ClassVar[str] = "Where a resolver resolves and validates, and what it costs there"
    source: ClassVar[str] = f"{JPRS_2010}, performance case 2"
    settings_type: ClassVar[type[StudySettings]] = MatrixSettings
    defaults: ClassVar[dict[str, Any]] = {**RESOLVER_DEFAULTS, "load_s": 5.0, "udp_size": UDP_SIZE}
    quick: ClassVar[dict[str, Any]] = {
        "repetitions": 2,
        "load_s": 1.0,
        "keys": (UNSIGNED, "p-256"),
        "conditions": (ETHERNET, "no-fragments"),
    }
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {"conditions": tuple(PATHS), "keys": tuple(SIGNERS)}

    def check(self, settings: MatrixSettings) -> None:
        """Refuse settings with which nothing can be measured."""
        if BALANCED in settings.conditions and find_dnsdist() is None:
            raise EnvironmentLacksError(
                f"not installed: {Dnsdist.title}; apt-get install {Dnsdist.package}, or leave {BALANCED} out of "
                "--condition"
            )
        ruled = [path for path in settings.conditions if path in CONDITIONS and needs_nft(path)]
        if ruled and find_program("nft") is None:
            raise EnvironmentLacksError(
                "the program nft is not installed: apt-get install nftables, or leave "
                f"{' and '.join(ruled)} out of --condition"
            )
        asked = len(settings.keys) * settings.rate_qps * settings.load_s
        refuse_too_many(asked, f"--rate {settings.rate_qps:g} for {settings.load_s:g} s (--load-seconds) by --key")
        super().check(settings)

    def cases(self, settings: MatrixSettings) -> Sequence[Sequence[ResolverCase]]:
        """List the cells."""
        return [
            [
                ResolverCase(
                    name=f"{key}-{column.key}",
                    axes=(("key", key), ("cell", column.key)),
                    traffic=Traffic(
                        _stream(key, column), rate_qps=settings.rate_qps, load_s=settings.load_s, is_once=True
                    ),
                    validates=column.validates,
                    tree=key,
                    condition=OPEN if column.path in {ETHERNET, BALANCED} else column.path,
                    is_balanced=column.path == BALANCED,
                )
            ]
            for column in columns_of(settings.conditions)
            for key in settings.keys
        ]

    def streams(
        self, settings: MatrixSettings, run: RunFolder, internets: Mapping[str, _core.Internet]
    ) -> dict[str, _core.QueryStream]:
        """Make the questions to each Internet, all different, with DO and without."""
        count = round(settings.rate_qps * settings.load_s) + 1
        found = {}
        for key, internet in internets.items():
            lines = _some_denied(distinct(internet, settings.seed, count + PROBES))
            # The probes are other questions than the load's, whose answers must not be in the cache.
            lines, probes = lines[:count], lines[count:]
            found[_probes(key)] = write_stream(run, _probes(key), probes)
            for column in columns_of(settings.conditions):
                name = _stream(key, column)
                found[name] = write_stream(run, name, lines, do_bit=column.do_bit)
        return found

    def around_s(self, case: ResolverCase) -> float:
        """Give about how long a cell takes beside its load: no resolver is known that resolves without UDP."""
        unanswered_s = PROBE_S * PROBE_ATTEMPTS if case.condition == NO_UDP else 0.0
        return super().around_s(case) + unanswered_s

    def bench(self, *arguments: Any) -> ResolverBench:  # noqa: ANN401 (those of ResolverBench)
        """Make what measures the cells."""
        return MatrixBench(*arguments)

    def text(self, settings: MatrixSettings) -> StudyText:
        """Give the words and the layout of the report."""
        columns = {column.key: column.label for column in columns_of(settings.conditions)}
        signed = [key for key in settings.keys if key != UNSIGNED]
        path = ETHERNET if ETHERNET in settings.conditions else settings.conditions[0]
        plain = Column(path, validates=True, do_bit=True)
        return StudyText(
            name=self.name,
            title=self.title,
            question=(
                "Over paths with a small MTU, without fragments, without UDP, and behind a load balancer: does a "
                "resolver "
                "resolve and validate, with a trust anchor and without, for clients with DO and without, by the "
                "keys that "
                "zones are signed with? What does it cost, and how many queries reach the authoritative servers?"
            ),
            method=(
                f"In each cell {PROBES} questions are asked at the same time before the load, with DO as the load has "
                "it, and without DO with the AD bit, by which a client asks whether an answer is secure (RFC 6840 "
                "section 5.7): it resolves where all have answers, and validates where those of signed zones have AD. "
                "Then "
                f"{settings.rate_qps:,.0f} queries a second are sent for {settings.load_s:g} s, for names of which "
                f"none comes twice, so that a full cache hides nothing. One in {DENIED_EVERY}, of both, is for a name "
                "that does not exist, unless a wildcard has it: of signed zones these have the largest answers. Where "
                "the key is not `unsigned`, all zones are signed.",
                "Paths are between resolver and Internet: Ethernet (1500 octets); an MTU of 1280; fragments "
                f"dropped; UDP refused, so that only TCP is left. {_size_words(settings)} Behind dnsdist: Ethernet, "
                "with dnsdist between clients and two resolvers, which share the resolver's processors; it chooses as "
                "it ships (the one with the fewest queries outstanding). CPU time, memory and caches of both are added "
                "up; dnsdist runs on the generator's processors, and its own CPU time is not counted.",
                words.internet(settings),
                words.resolver(settings, f"what resolving the {PROBES} names took"),
                words.order(settings),
            ),
            source=self.source,
            rows=Axis("key", "Zone-signing key", SIGNERS),
            columns=Axis("cell", "Cell", columns),
            baseline=UNSIGNED,
            baseline_label="unsigned zones",
            questions=tuple(
                RatioQuestion(
                    figure=figure.key,
                    of={"key": key, "cell": plain.key},
                    to={"key": UNSIGNED, "cell": plain.key},
                    sentence=f"{{server}}, {plain.label}: zones signed with {SIGNERS[key]} make {what} {{ratio}} times "
                    "that of unsigned ones",
                    no_difference=f"{{server}}, {plain.label}: no difference in {what} was seen between zones "
                    "signed with "
                    f"{SIGNERS[key]} and unsigned ones",
                    table=f"{plain.label}: with signed zones these are so many times what they are with unsigned ones "
                    "(95 % intervals)",
                    asked=f"{what}, {SIGNERS[key]}",
                )
                for figure, what in ((CACHE_OCTETS, "the cache"), (CPU, "CPU per query"))
                for key in signed
            ),
            claims=jprs_2010.case_2(
                [
                    (SIGNERS[key], {"key": key, "cell": plain.key}, {"key": UNSIGNED, "cell": plain.key})
                    for key in signed
                    if UNSIGNED in settings.keys
                ]
            ),
            limits=(
                *words.limits(settings),
                *_LIMITS,
            ),
            sections=_sections,
        )


_LIMITS = (
    "All zones of a signed Internet, also the root and the registries, have zone-signing keys of the size that is "
    "said, and key-signing keys of 2048 bits where they are of RSA, as in the report.",
    "Of the Internet without signed zones the root is signed all the same, as a trust anchor needs.",
)


def _some_denied(lines: Sequence[str]) -> list[str]:
    """Have every `DENIED_EVERY`th question ask for a name below its own; only where a wildcard has it does it exist."""
    return [line if (number + 1) % DENIED_EVERY else f"missing.{line}" for number, line in enumerate(lines)]


def _stream(key: str, column: Column) -> str:
    return f"{key}-do{int(column.do_bit)}"


def _probes(key: str) -> str:
    return f"{key}-probes"


def _sections(findings: Findings) -> Sequence[Section]:
    return (
        _resolves_section(findings),
        published_section(findings, (_PUBLISHED_NOTE,)),
        sections.figure_section(findings, "What each cell costs", (*FIGURES, *PATH_FIGURES, *sections.RIG)),
        sections.verdict_section(findings, "Signed against unsigned zones", FIGURES),
        asked.section(findings),
    )


def _resolves_section(findings: Findings) -> Section:
    """Say of each cell whether it resolves and validates."""
    grid = findings.grid
    tables = []
    for server in grid.servers:
        rows = tuple(
            (Cell(grid.column_label(column)), *(_resolves_cell(grid.cell(server, row, column)) for row in grid.rows))
            for column in grid.columns
        )
        header = ("", *(row.label for row in grid.rows))
        tables.append(Table(f"{grid.titles[server]}: answers without an error, and with AD", header, rows))
    drawing = Drawing(
        "resolves",
        "Where each resolver resolves and validates: by path, trust anchor and DO bit of clients (down), and by the "
        "key that zones are signed with (across).",
        lambda: _tiles(grid),
    )
    words_of = (
        f"Of {PROBES} questions a repetition, all repetitions together. An answer with AD is one that the resolver has "
        "found secure (RFC 4035 section 3.2.3); without a trust anchor there is none."
    )
    return Section(
        "Does it resolve, does it validate?", (words_of, *_untouched(findings)), (drawing,), tables=tuple(tables)
    )


def _tiles(grid: Grid) -> plots.Figure:
    panels = [
        Panel(
            grid.titles[server],
            [[_tile(grid.cell(server, row, column)) for row in grid.rows] for column in grid.columns],
        )
        for server in grid.servers
    ]
    lines = [grid.column_label(column) for column in grid.columns]
    legend = {WELL: "validates", PLAIN: "resolves", PARTLY: "in part", BADLY: "fails, or does not validate"}
    return draw_tiles(panels, lines, [row.label for row in grid.rows], legend)


def _tile(case: CaseResult | None) -> Tile:
    found = _probed(case)
    if case is None or found is None:
        return Tile("-", None)
    asked, answered, secure, has_load = found
    if not answered or not has_load:
        return Tile("fails", BADLY)
    if answered < asked:
        return Tile(f"{answered} of {asked}", PARTLY)
    if case.case["key"] == UNSIGNED or not COLUMNS[str(case.case["cell"])].validates:
        return Tile("resolves", PLAIN)
    if not secure:
        return Tile("not validated", BADLY)
    return Tile("validates", WELL) if secure == asked else Tile(f"{secure} of {asked} secure", PARTLY)


def _probed(case: CaseResult | None) -> tuple[int, int, int, bool] | None:
    """Count questions before loads, answers, secure ones, and say whether a load was answered; None: no cell."""
    probes = [] if case is None else [item["resolves"] for item in case.measurements if "resolves" in item]
    if case is None or not probes:
        return None
    asked, answered, secure = (sum(item[key] for item in probes) for key in ("asked", "answered", "secure"))
    return asked, answered, secure, bool(case.total("answered"))


def _untouched(findings: Findings) -> list[str]:
    """Name the paths that have had nothing to do with any answer, so that their cells say no more than Ethernet's."""
    grid, found = findings.grid, []
    for path, figure, what in (
        (SMALL_MTU, PATH_FRAGMENTS, "no answer was sent in fragments"),
        (NO_FRAGMENTS, PATH_DROPPED, "no fragment was dropped"),
    ):
        counts = [
            count
            for case in grid.cases
            if COLUMNS[str(case.case["cell"])].path == path
            for count in case.values(figure)
        ]
        if counts and not any(counts):
            found.append(
                f"{PATHS[path]}: {what}, as none was large enough. These cells say no more than those of "
                f"{PATHS[ETHERNET]}."
            )
    return found


def _resolves_cell(case: CaseResult | None) -> Cell:
    found = _probed(case)
    if found is None:
        return sections.MISSING
    asked, answered, secure, has_load = found
    if not answered:
        return Cell(f"fails (0 of {asked} answered)")
    if not has_load:
        text = f"fails (no answer under load; before it {answered} of {asked})"
    else:
        text = "resolves" if answered == asked else f"in part ({answered} of {asked} answered)"
    return Cell(text, f"{secure} of {asked} secure")


_PUBLISHED_NOTE = (
    "Published: the cache more than doubles with signed data; a difference in load was not seen, because the query "
    "list ended in cache hits. Here no name comes twice. Compared are cells with a trust anchor and DO, over Ethernet "
    "where that was measured. Some resolvers do not say how large their cache is."
)
