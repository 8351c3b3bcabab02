"""resolver-cost: a resolver's rate and CPU per query by its share of cache hits, and in floods (JPRS-2010, case 1)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from dnsrig import _core
from dnsrig.errors import InputError
from dnsrig.report.claim_tables import published_section
from dnsrig.report.figures import CACHE_OCTETS, CPU, HIT_SHARE, MEMORY, MEMORY_GROWTH, QPS, UPSTREAM
from dnsrig.report.layout import Axis, PublishedClaim, RatioQuestion, StudyText
from dnsrig.report.sections import Findings, Section
from dnsrig.runs.folder import RunFolder
from dnsrig.studies.progress import Watcher
from dnsrig.studies.resolving import asked, jprs_2010, pictures, sections, words
from dnsrig.studies.resolving.cases import TREE, ResolverCase, Traffic
from dnsrig.studies.resolving.room import LISTED_OCTETS, left_octets, refuse_too_many
from dnsrig.studies.resolving.settings import RESOLVER_DEFAULTS, ResolverStudySettings
from dnsrig.studies.resolving.sockets import whole_hundreds
from dnsrig.studies.resolving.streams import distinct, misses, missing_below, with_hits, write_stream
from dnsrig.studies.resolving.study import ResolverStudy
from dnsrig.studies.resolving.trees import profile_path, read_profile
from dnsrig.studies.resolving.trial import measured_once
from dnsrig.studies.settings import StudySettings
from dnsrig.studies.wording import JPRS_2010

OFF, ON = "off", "on"
HOT = "hot"
FLOODS: Mapping[str, tuple[str, frozenset[str]]] = {
    "nsec": ("se", frozenset({"nsec"})),
    "nsec3": ("com", frozenset({"nsec3", "nsec3-opt-out"})),
}
"""Top-level domains whose names that do not exist are asked for, if the profile has them so, and how they deny."""
STEADY: Mapping[str, str] = {"steady": "names that exist", "steady-nsec3": "names that NSEC3 denies"}
STEADY_HITS = 0.8
"""Share of cache hits at the published fixed rate."""
HITS_ONLY = 100
STREAM_QUERIES = 200_000
"""What a load of hits alone asks again and again, and others that have as many names have at least."""
TRIAL_S = 1.0
ROOM = 1.5
"""So many times the names that the fastest resolver of the trial asked for: caches warm up while a load lasts."""
FIGURES = (QPS, CPU, HIT_SHARE, UPSTREAM, MEMORY, MEMORY_GROWTH, CACHE_OCTETS)


@dataclass(frozen=True, slots=True)
class ResolverCostSettings(ResolverStudySettings):
    """What the study of cache hits lets a user choose."""

    hit_shares: tuple[int, ...] = (0, 50, 90, 100)
    """Shares of cache hits, in per cent."""
    floods: tuple[str, ...] = tuple(FLOODS)
    """Queries for names that do not exist, by how their zone denies."""
    fresh_names: int | None = None
    """Different questions for cache misses: a load ends when it has asked all, before one comes again. None: as many as
    `misses_qps` needs."""
    misses_qps: int = 4000
    """Cache misses that there are names for in each second of a load, or more: a trial says how many it takes."""
    mixed_qps: int = 40_000
    """The same of all queries where some are cache hits."""
    flood_qps: int = 40_000
    """The same of floods."""
    hot_names: int = 1000
    rate_qps: float = 1000.0
    """The fixed rate at which memory is looked at."""
    steady_s: float = 30.0
    """How long memory is looked at, in seconds."""

    @property
    def new_names(self) -> int:
        """How many different questions there are for the cache misses of a load."""
        return self.fresh_names if self.fresh_names is not None else round(self.misses_qps * self.load_s)

    @property
    def flood_names(self) -> int:
        """How many names a flood has."""
        return round(self.flood_qps * self.load_s)

    def queries_of(self, hit_share: float, new_names: int) -> int:
        """How many queries a mix has whose misses are not more than the names there are for them."""
        most = max(STREAM_QUERIES, round(self.mixed_qps * self.load_s))
        return STREAM_QUERIES if hit_share >= 1 else min(most, int(new_names / (1 - hit_share)))


class ResolverCost(ResolverStudy[ResolverCostSettings]):
    """Validation off/on x shares of cache hits, floods, and a fixed rate."""

    name: ClassVar[str] = "resolver-cost"
    title: ClassVar[str] = "What a query costs a resolver, by cache hits and under floods"
    source: ClassVar[str] = f"{JPRS_2010}, performance case 1"
    settings_type: ClassVar[type[StudySettings]] = ResolverCostSettings
    defaults: ClassVar[dict[str, Any]] = {**RESOLVER_DEFAULTS, "load_s": 5.0}
    quick: ClassVar[dict[str, Any]] = {
        "repetitions": 3,
        "load_s": 1.5,
        "hit_shares": (0, 90),
        "fresh_names": 12_000,
        "steady_s": 3.0,
    }
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {"floods": tuple(FLOODS)}

    def tried(
        self, settings: ResolverCostSettings, chosen: ResolverCostSettings, watcher: Watcher
    ) -> tuple[ResolverCostSettings, Mapping[str, Any]]:
        """Have names for as many queries as the fastest resolver answers, where their number was not chosen."""
        if chosen.fresh_names is not None:
            return settings, {}
        shares = tuple(dict.fromkeys((min(settings.hit_shares), HITS_ONLY)))
        load_s = min(TRIAL_S, settings.load_s)
        short = replace(settings, hit_shares=shares, load_s=load_s, steady_s=TRIAL_S, repetitions=1)
        found = fastest(measured_once(_Trial(), short, watcher))
        fitting = with_names(settings, found)
        watcher.note(
            f"names for {fitting.misses_qps:,} cache misses a second, {fitting.mixed_qps:,} queries of which some are "
            f"hits, and {fitting.flood_qps:,} of a flood, by a trial (--fresh-names chooses others)"
        )
        return fitting, {"fastest_qps": found}

    def check(self, settings: ResolverCostSettings) -> None:
        """Refuse settings with which nothing can be measured."""
        if max(settings.hit_shares) > HITS_ONLY:
            raise InputError(f"--hit-share {max(settings.hit_shares)}: a share is at most 100 %")
        refuse_too_many(
            _steady(settings), f"--rate {settings.rate_qps:g} for {settings.steady_s:g} s (--steady-seconds)"
        )
        denying(settings.profile, (*settings.floods, "nsec3"))
        if settings.floods:
            refuse_too_many(settings.flood_names, f"floods of {settings.load_s:g} s (--load-seconds)")
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
            (kind, Traffic(kind, rate_qps=settings.rate_qps, load_s=settings.steady_s, is_once=True)) for kind in STEADY
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
        # The run's own copy: a run may be resumed elsewhere, and a profile may have changed meanwhile.
        denied_by = denying(str(profile_path(run, TREE)), (*settings.floods, "nsec3"))
        new = misses(steady, STEADY_HITS)
        least = settings.hot_names + max(settings.fresh_names or 1, new)
        names = distinct(internet, seed, settings.hot_names + max(settings.new_names, new), least=least)
        hot, rest = names[: settings.hot_names], names[settings.hot_names :]
        fresh = rest[: settings.new_names]
        found = {HOT: write_stream(run, HOT, hot)}
        for share in settings.hit_shares:
            mixed = with_hits(hot, fresh, share / 100, settings.queries_of(share / 100, len(fresh)), seed)
            found[f"hits-{share}"] = write_stream(run, f"hits-{share}", mixed)
        for kind in settings.floods:
            flood = missing_below(denied_by[kind], settings.flood_names, seed)
            found[f"flood-{kind}"] = write_stream(run, f"flood-{kind}", flood, do_bit=True)
        missing = list(missing_below(denied_by["nsec3"], new, seed + 1))
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
                f"{settings.new_names:,}, if the Internet has so many: none comes twice, and a load ends early when "
                "all were asked. The share of "
                "cache hits that was reached is the resolver's own count. Floods ask for names that do not exist, "
                "made at "
                "random and each once, below a top-level domain that denies by NSEC and one by NSEC3 (se. and com. "
                "where the profile has them so), with DO. At "
                f"{settings.rate_qps:,.0f} queries a second, of which 80 % are meant to be hits, memory is looked at "
                f"for {settings.steady_s:g} s.",
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
            claims=_claims(settings),
            limits=(
                *words.limits(settings),
                "Resolvers of today deny from NSEC records that they know (RFC 8198) when they validate: a flood then "
                "costs less with validation than without, other than in 2010.",
                f"Memory at a fixed rate is that of a load of {settings.steady_s:g} s, not of days.",
            ),
            sections=_sections,
        )


def _steady(settings: ResolverCostSettings) -> int:
    """Give how many queries a load at the fixed rate has."""
    return round(settings.rate_qps * settings.steady_s) + 1


def denying(profile: str, kinds: Sequence[str]) -> dict[str, str]:
    """Name, for each kind of denial, a top-level domain of a profile that is signed and denies so.

    Raises:
        InputError: it cannot be read, or has none.

    """
    # Each has a name and a registry, or it would be no profile's text.
    tlds = read_profile(_core.Internet.profile_text(profile), profile).get("tld", [])
    signed = [(tld["name"], tld["registry"].get("denial")) for tld in tlds if "algorithm" in tld["registry"]]
    found = {}
    for kind in dict.fromkeys(kinds):
        usual, denials = FLOODS[kind]
        names = [name for name, denial in signed if denial in denials]
        if not names:
            raise InputError(
                f"--profile {profile}: no top-level domain that it names is signed and denies by {kind.upper()}, as "
                f"resolver-cost needs; add a [[tld]] that does{', or take another --flood' if kind == 'nsec' else ''}"
            )
        found[kind] = f"{usual if usual in names else names[0]}."
    return found


def with_names(settings: ResolverCostSettings, fastest_qps: Mapping[str, float]) -> ResolverCostSettings:
    """Give settings with names for rates of a trial, by what was asked, and half as many again; never with fewer.

    A stream gets no more than there is memory for, all of them being made one after the other and then kept smaller.
    """
    most = int(left_octets() / LISTED_OCTETS / settings.load_s)

    def wanted(otherwise: int, asked: Iterable[str], share: float = 1.0) -> int:
        rates = (fastest_qps.get(kind, 0.0) for kind in asked)
        return max(otherwise, min(most, whole_hundreds(ROOM * share * max(rates, default=0.0))))

    lowest = min(settings.hit_shares)
    return replace(
        settings,
        misses_qps=wanted(settings.misses_qps, [f"hits-{lowest}"], 1 - lowest / 100),
        mixed_qps=wanted(settings.mixed_qps, [f"hits-{HITS_ONLY}"]),
        flood_qps=wanted(settings.flood_qps, [f"flood-{kind}" for kind in settings.floods]),
    )


def fastest(measurements: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Give, for what was asked, the highest rate that a resolver answered at."""
    found: dict[str, float] = {}
    for item in measurements:
        asked = str(item["case"]["asked"])
        found[asked] = max(found.get(asked, 0.0), float(item["load"]["qps"]))
    return found


class _Trial(ResolverCost):
    """Each resolver once as it is fastest: without validation, or in floods perhaps with it."""

    def cases(self, settings: ResolverCostSettings) -> Sequence[Sequence[ResolverCase]]:
        return [
            [case]
            for (case,) in super().cases(settings)
            if case.traffic.rate_qps is None and not (case.validates and case.traffic.stream.startswith("hits-"))
        ]


def _sections(findings: Findings) -> Sequence[Section]:
    return (
        sections.verdict_section(findings, "What validation costs", (QPS, CPU, UPSTREAM, MEMORY, CACHE_OCTETS)),
        published_section(findings, (_NOTE,)),
        sections.figure_section(findings, "What each case came to", FIGURES),
        pictures.picture_section(findings),
        sections.figure_section(findings, "Cache and upstream", sections.INSIDE),
        asked.section(findings),
    )


_NOTE = (
    "The published ratio of rates was measured with the hits of a query log, of which the share is not told: it is "
    "compared at the lowest share here, where validation costs most. Published memory is its growth over time at 100 "
    "queries a second with 80 % hits where NXDOMAIN by NSEC3 dominates; measured is by how much memory grows from the "
    "first second of the load at the fixed rate to its last."
)


def _claims(settings: ResolverCostSettings) -> tuple[PublishedClaim, ...]:
    """Give what the published figures of case 1, and that of case 3 on a full cache, are compared with."""

    def of(asked: str, state: str) -> dict[str, object]:
        return {"asked": asked, "validation": state}

    lowest = f"hits-{min(settings.hit_shares)}"
    exists, denied = STEADY
    claims = jprs_2010.case_1((of(lowest, ON), of(lowest, OFF)), (of(denied, ON), of(exists, ON)), settings.steady_s)
    if HITS_ONLY not in settings.hit_shares:
        return claims
    hits = f"hits-{HITS_ONLY}"
    return (*claims, jprs_2010.full_hits(of(hits, ON), of(hits, OFF)))
