"""validation-cost: what DNSSEC validation costs a resolver under real clients' traffic (ISC-2022)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any, ClassVar

from dnsrig import _core
from dnsrig.capture_losses import losses_said
from dnsrig.errors import InputError
from dnsrig.report.claim_tables import published_section
from dnsrig.report.figures import CPU, INTERNET_IN, LATENCY_P50, LATENCY_P99, MEMORY, UDP_SOCKETS
from dnsrig.report.layout import Axis, RatioQuestion, StudyText
from dnsrig.report.sections import Findings, Section
from dnsrig.runs.folder import RunFolder
from dnsrig.studies.progress import Watcher
from dnsrig.studies.resolving import asked, isc_2022, pictures, sections, words
from dnsrig.studies.resolving.cases import TREE, ResolverCase, Traffic
from dnsrig.studies.resolving.clients import (
    PORTS,
    CaptureLength,
    Part,
    captured,
    lasting_s,
    length_at_most,
    names_on,
    rate_of_capture,
    sampled,
    synthetic,
)
from dnsrig.studies.resolving.replays import rate_with_room, refuse_replays, refuse_sockets
from dnsrig.studies.resolving.room import LINE_OCTETS, MOST_OF_A_STREAM
from dnsrig.studies.resolving.settings import RESOLVER_DEFAULTS, ResolverStudySettings
from dnsrig.studies.resolving.sockets import (
    clients_of_a_rate,
    fitting_rate,
    most_clients,
    require_as_before,
    require_sockets,
    shared_by_clients,
    whole_hundreds,
)
from dnsrig.studies.resolving.streams import has_queries, keep_queries, note_queries, read_shared_stream, read_stream
from dnsrig.studies.resolving.study import ResolverStudy
from dnsrig.studies.resolving.transports import IDLE_S, TCP_CLIENTS, read_mix, refuse_lacking
from dnsrig.studies.resolving.trees import ALL, IN_2010, UNSIGNED
from dnsrig.studies.resolving.trial import carried, measured_once
from dnsrig.studies.settings import SHORTEST_LOAD_S, StudySettings

TRAFFIC = "resolver-2022"
"""Profile of the clients' traffic where no capture is given."""
HIGHEST = 9000
"""The highest rate unless others are chosen, in queries a second: the lowest published one."""
TRIAL_QPS = 1000
TRIAL_S = 5.0
"""How much is asked, and for how long, to see what this machine carries."""
QUICK_QPS = 1000
"""The rate where a run is to be quick and none is chosen."""
CARRIED_SHARE = 0.9
"""Of the clients that this machine carries, those that rates have which are not chosen: how many ask is an estimate."""
ESTIMATE_TOLERATED = 1.1
SIGNED = {TREE: "profile", UNSIGNED: "unsigned", IN_2010: "2010", ALL: "all"}
"""Words for who signs, by the Internet's name."""
OFF, ON = "off", "on"
BETWEEN_LEVELS = 3
"""How many times as high as the lower one the higher rate is, where none are chosen."""
MORE_THAN_THERE_IS = 1.02
"""How many times a capture's rate may be asked for: rates of captures are no round numbers."""
LACKING_OF_A_PART = 0.02
"""Share of the last part that a capture may lack: times of queries are not even."""


@dataclass(frozen=True, slots=True)
class ValidationSettings(ResolverStudySettings):
    """What the study of validation lets a user choose. `load_s` is the length of each part, as published a minute."""

    rates: tuple[int, ...] = ()
    """Queries per second in the mean; each lower one has the traffic of some of the highest one's clients.

    None: a third of what this machine carries, and that, HIGHEST or the capture's own rate at most."""
    periods: int = 3
    """How many parts the load has: the first one meets a cold cache, the last one a hot cache."""
    capture: str | None = None
    """A capture of clients' queries to a resolver; None: synthetic traffic."""
    capture_ports: tuple[int, ...] = PORTS
    """Ports of the capture's resolvers."""
    signed: tuple[str, ...] = ("profile",)
    """Who signs: `profile`, `unsigned`, `2010`, `all`."""
    transports: tuple[str, ...] = ("udp",)
    """How clients ask: `udp`, `tcp`, `dot`, `doh`, or by shares such as `udp=80+dot=20`; published is UDP."""
    shared_sockets: bool = False
    """Whether clients share sockets where more ask in a part than sockets may be open."""

    @property
    def span_s(self) -> float:
        """Length of the whole load in seconds."""
        return self.load_s * self.periods


class ValidationCost(ResolverStudy[ValidationSettings]):
    """Validation off/on x rates x who signs x parts of the load, from a cold cache to a hot one."""

    name: ClassVar[str] = "validation-cost"
    title: ClassVar[str] = "What DNSSEC validation costs a resolver"
    source: ClassVar[str] = (
        "ISC-2022: DNSSEC validation requires more resources: is that valid in 2022? (P. Špaček, ISC, 2022)"
    )
    settings_type: ClassVar[type[StudySettings]] = ValidationSettings
    defaults: ClassVar[dict[str, Any]] = {**RESOLVER_DEFAULTS, "load_s": 60.0, "repetitions": 10, "distances": True}
    quick: ClassVar[dict[str, Any]] = {"repetitions": 3, "load_s": 5.0, "periods": 2}
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {
        # By shares there are more than can be listed; `check` reads them.
        "transports": (),
        "signed": tuple(SIGNED.values()),
    }

    def fitted(self, settings: ValidationSettings) -> ValidationSettings:
        """Choose rates that this machine carries, where none are chosen: their clients have a socket each, if they may.

        There is memory for their streams and sockets; of a capture it is not known yet how many clients it has.
        """
        if settings.rates:
            return settings
        highest, each = float(QUICK_QPS if settings.quick else HIGHEST), 0.0
        if settings.capture is not None:
            highest = min(highest, rate_of_capture(settings.capture, settings.span_s, settings.capture_ports))
        else:
            each = clients_of_a_rate(TRAFFIC, settings.load_s, settings.seed) / CARRIED_SHARE
            if not settings.shared_sockets:
                highest = min(highest, fitting_rate(each))
        if settings.quick:
            return replace(settings, rates=(int(highest),))
        most = most_clients()[0] if settings.shared_sockets else math.inf
        streams = (1 + 1 / BETWEEN_LEVELS) * len(settings.signed)
        return replace(settings, rates=_levels(min(highest, rate_with_room(settings.span_s, streams, each, most))))

    def tried(
        self, settings: ValidationSettings, chosen: ValidationSettings, watcher: Watcher
    ) -> tuple[ValidationSettings, Mapping[str, Any]]:
        """Lower rates that were not chosen to what all resolvers carry, with room for bursts."""
        if chosen.rates or chosen.quick:
            return settings, {}
        highest, load_s = max(settings.rates), min(TRIAL_S, settings.load_s)
        rate = min(TRIAL_QPS, highest)
        if settings.capture is not None:
            rate = min(rate, rate_of_capture(settings.capture, load_s, settings.capture_ports))
        short = replace(settings, rates=(rate,), periods=1, load_s=load_s, repetitions=1)
        found = carried(measured_once(_Trial(), short, watcher), rate, settings.server_threads)
        if not found:
            return settings, {}
        levels = _levels(min(highest, *found.values()))
        watcher.note(
            f"rates of {', '.join(f'{level:,}' for level in levels)} queries a second: {_said(found)} by a trial, with "
            "room for bursts (--rate chooses others)"
        )
        return replace(settings, rates=levels), {"trial": {"rate_qps": rate, "carried_qps": found}}

    def check(self, settings: ValidationSettings) -> None:
        """Refuse settings with which nothing can be measured."""
        if settings.capture is not None:
            # Before an Internet is made for one that cannot be read, or that is too short.
            length = length_at_most(settings.capture, settings.span_s, settings.capture_ports)
            _refuse_short(settings, settings.capture, length)
        elif settings.capture_ports != PORTS:
            raise InputError(
                "--capture-port is about the queries of a capture: give one with --capture, or leave it out"
            )
        highest, lowest = max(settings.rates), min(settings.rates)
        if lowest * settings.load_s < 1:
            raise InputError(
                f"--rate {lowest}: in a part of {settings.load_s:g} s (--load-seconds) there is less than one query; "
                "take a higher rate, or longer parts"
            )
        mixes = [read_mix(text) for text in settings.transports]
        refuse_lacking(settings.servers, mixes)
        if settings.shared_sockets and any(mix.has_sessions for mix in mixes):
            raise InputError(
                f"--shared-sockets with --transport {','.join(settings.transports)}: clients that share a connection "
                "are not what is to be measured; leave one of both out"
            )
        if highest * settings.load_s > MOST_OF_A_STREAM:
            raise InputError(
                f"--rate {highest:,} for a part of {settings.load_s:g} s: a part has {MOST_OF_A_STREAM:,} queries at "
                "most; take shorter parts (--load-seconds), and more of them (--periods)"
            )
        most = most_clients()[0]
        # Who asks in a capture is known when it is read (`streams`).
        is_synthetic = settings.capture is None
        clients = clients_of_a_rate(TRAFFIC, settings.load_s, settings.seed) * highest if is_synthetic else 0.0
        sockets = min(clients, most) if settings.shared_sockets else clients
        refuse_replays(settings.rates, settings.span_s, settings.signed, sockets)
        super().check(settings)
        if is_synthetic and not settings.shared_sockets:
            require_sockets(clients, highest, settings.load_s, ESTIMATE_TOLERATED)

    def input_octets(self, settings: ValidationSettings) -> float:
        """Give about how much room on the disk the streams take, in octets."""
        return sum(settings.rates) * settings.span_s * len(settings.signed) * LINE_OCTETS

    def cases(self, settings: ValidationSettings) -> Sequence[Sequence[ResolverCase]]:
        """List, for each rate, Internet and transport, validation off and on, each with its parts."""
        trees = [tree for tree, label in SIGNED.items() if label in settings.signed]
        return [
            self._parts(settings, rate, tree, transport, validates=validates)
            for rate in settings.rates
            for tree in trees
            for transport in settings.transports
            for validates in (False, True)
        ]

    def _parts(
        self, settings: ValidationSettings, rate: int, tree: str, transport: str, *, validates: bool
    ) -> list[ResolverCase]:
        parts = [
            Traffic(
                _stream(SIGNED[tree], rate, number),
                replays=True,
                load_s=settings.load_s,
                is_once=True,
                transport=transport,
            )
            for number in range(settings.periods)
        ]
        state = ON if validates else OFF
        return [
            ResolverCase(
                name=f"{state}-{rate}-{SIGNED[tree]}-{read_mix(transport).name}-part{number + 1}",
                axes=(("validation", state), ("traffic", _column(rate, SIGNED[tree], transport, number))),
                traffic=traffic,
                validates=validates,
                tree=tree,
                parts_before=tuple(parts[:number]),
            )
            for number, traffic in enumerate(parts)
        ]

    def streams(
        self, settings: ValidationSettings, run: RunFolder, internets: Mapping[str, _core.Internet]
    ) -> dict[str, _core.QueryStream]:
        """Make the parts of the traffic at each rate, with names of each Internet."""
        self._keep_parts(settings, run, internets)
        found = {}
        most = shared_by_clients(run) if settings.shared_sockets else None
        for tree, rate, number in product(internets, settings.rates, range(settings.periods)):
            name = _stream(SIGNED[tree], rate, number)
            if most is not None:
                found[name], is_shared = read_shared_stream(run, name, most)
                require_as_before(found[name].client_count)
                if is_shared:
                    run.note(shared_sockets=most)
            else:
                found[name] = read_stream(run, name, edns=False)
                require_sockets(found[name].client_count, rate, settings.load_s)
        if settings.capture is not None and found:
            refuse_sockets(max(stream.client_count for stream in found.values()), settings.capture)
        return found

    def _keep_parts(
        self, settings: ValidationSettings, run: RunFolder, internets: Mapping[str, _core.Internet]
    ) -> None:
        """Write the parts; what they are made of is let go before they are read, as each takes much memory.

        A run that is resumed and has all of them needs neither time nor the capture.
        """
        traffic: tuple[_core.AskedQueries, float] | None = None
        for tree, internet in internets.items():
            streams = [_stream(SIGNED[tree], *part) for part in product(settings.rates, range(settings.periods))]
            if all(has_queries(run, stream) for stream in streams):
                for stream in streams:
                    note_queries(run, stream)
                continue
            traffic = traffic or _traffic(settings, run)
            _write_parts(settings, run, tree, internet, traffic)

    def text(self, settings: ValidationSettings) -> StudyText:
        """Give the words and the layout of the report."""
        columns = {
            _column(rate, SIGNED[tree], transport, number): _column_label(
                settings, rate, SIGNED[tree], transport, number
            )
            for rate in settings.rates
            for tree in SIGNED
            for transport in settings.transports
            for number in range(settings.periods)
        }
        hottest = _hottest(settings)
        return StudyText(
            name=self.name,
            title=self.title,
            question=(
                "How much more latency, bandwidth, sockets, CPU time and memory does a resolver need when it "
                "validates, "
                "from an empty cache on, under the traffic of real clients?"
            ),
            method=_method(settings),
            source=self.source,
            rows=Axis("validation", "Validation", {OFF: "validation off", ON: "validation on"}),
            columns=Axis("traffic", "Traffic", columns),
            baseline=OFF,
            baseline_label="validation off",
            questions=_questions(settings),
            claims=isc_2022.claims(
                _on_and_off(hottest), {rate: _on_and_off(_last_part(settings, rate)) for rate in settings.rates}
            ),
            limits=(*words.limits(settings), *_limits(settings)),
            sections=partial(_sections, hottest),
        )


class _Trial(ValidationCost):
    """Each resolver once, validating: that is what costs most."""

    def cases(self, settings: ValidationSettings) -> Sequence[Sequence[ResolverCase]]:
        return [parts for parts in super().cases(settings) if parts[0].validates]


def _levels(highest: float) -> tuple[int, ...]:
    """Give the rates to measure where `highest` is the highest one."""
    highest = whole_hundreds(highest)
    return tuple(dict.fromkeys((whole_hundreds(highest / BETWEEN_LEVELS), highest)))


def _said(found: Mapping[str, int]) -> str:
    """Say what each resolver carries."""
    return ", ".join(f"{label} carries {rate:,}" for label, rate in found.items())


def _write_parts(
    settings: ValidationSettings,
    run: RunFolder,
    tree: str,
    internet: _core.Internet,
    traffic: tuple[_core.AskedQueries, float],
) -> None:
    """Write the parts with an Internet's names; `traffic` is what `_traffic` gives."""
    asked, highest = traffic
    names = names_on(internet, asked, settings.seed)
    for rate in settings.rates:
        kept = sampled(asked, rate / highest, settings.seed) if rate < highest else None
        for number in range(settings.periods):
            part = Part(asked, names, number * settings.load_s, (number + 1) * settings.load_s, kept)
            keep_queries(run, _stream(SIGNED[tree], rate, number), part.write)


def _traffic(settings: ValidationSettings, run: RunFolder) -> tuple[_core.AskedQueries, float]:
    """Give the clients' queries as long as the load is or longer, and how many there are a second.

    Raises:
        InputError: the capture is shorter, or has fewer.

    """
    if settings.capture is None:
        rate = max(settings.rates)
        return synthetic(TRAFFIC, rate, settings.span_s, settings.seed), rate
    found = captured(settings.capture, settings.span_s, settings.capture_ports)
    run.note(capture=found.as_facts())
    asked = found.asked
    queries = asked.count_before(round(settings.span_s * 1e9))
    length = CaptureLength(queries, lasting_s(asked.span_ns / 1e9, len(asked)))
    # What can be asked is known now.
    _refuse_short(settings, settings.capture, length)
    return asked, length.rate_in(settings.span_s)


def _refuse_short(settings: ValidationSettings, capture: str, length: CaptureLength) -> None:
    """Refuse a capture that is shorter than the load, or has fewer queries than are to be asked.

    Raises:
        InputError: it is.

    """
    fitting = int(length.lasting_s / settings.load_s + LACKING_OF_A_PART)
    most = "at most " if length.is_most else ""
    if fitting < settings.periods:
        shorter = length.lasting_s / settings.periods
        advice = ""
        if fitting:
            advice = f"take --periods {fitting}, or "
        elif shorter >= SHORTEST_LOAD_S:
            advice = f"take --load-seconds of at most {shorter:.3g}, or "
        raise InputError(
            f"{capture}: the first {settings.span_s:g} s of the capture have queries for {most}{length.lasting_s:.3f} "
            f"s, in which {fitting} parts of {settings.load_s:g} s fit, not {settings.periods}; {advice}give a capture "
            "that is longer and has no pause (editcap -A cuts one off)"
        )
    highest = length.rate_in(settings.span_s)
    if max(settings.rates) > MORE_THAN_THERE_IS * highest:
        raise InputError(
            f"--rate {max(settings.rates)}: the capture {capture} has {most}{highest:,.1f} queries per second in its "
            f"first {settings.span_s:g} s; take {'at most that, or ' if highest >= 1 else ''}another capture"
        )


Pair = tuple[dict[str, object], dict[str, object]]
"""What picks the case that is compared, and the one that it is compared with."""
_ASKED = (
    (CPU, "CPU per query"),
    (MEMORY, "memory"),
    (LATENCY_P50, "median latency"),
    (LATENCY_P99, "latency at the 99th percentile"),
    (UDP_SOCKETS, "number of UDP sockets in use"),
    (INTERNET_IN, "bandwidth from the Internet"),
)


def _questions(settings: ValidationSettings) -> tuple[RatioQuestion, ...]:
    """Ask what validation costs where the profile's share of zones is signed, and what it costs more where all are."""
    usual = _on_and_off(_hottest(settings))
    of_all = _on_and_off(_last_part(settings, max(settings.rates), SIGNED[ALL]))
    asked = {"validation": usual}
    if SIGNED[ALL] in settings.signed and of_all != usual:
        asked["validation where all zones are signed"] = of_all
        asked["signing all zones, for who validates,"] = of_all[0], usual[0]
    return tuple(_question(figure.key, what, *reason) for reason in asked.items() for figure, what in _ASKED)


def _question(figure: str, what: str, reason: str, pair: Pair) -> RatioQuestion:
    when = "last part at the highest rate"
    return RatioQuestion(
        figure=figure,
        of=pair[0],
        to=pair[1],
        sentence=f"{{server}}, {when}: {reason} makes the {what} {{ratio}} times as much",
        no_difference=f"{{server}}, {when}: no difference in {what} was seen by {reason}",
        table=f"{reason.capitalize()} makes these so many times as much ({when}, 95 % intervals)",
        asked=what,
    )


def _stream(signed: str, rate: int, number: int) -> str:
    return f"clients-{rate}-{signed}-part{number + 1}"


def _column(rate: int, signed: str, transport: str, number: int) -> str:
    return f"{rate}-{signed}-{read_mix(transport).name}-{number + 1}"


def _hottest(settings: ValidationSettings) -> str:
    """Name the column that is compared with what was published: the last part at the highest rate, as published."""
    return _last_part(settings, max(settings.rates))


def _last_part(settings: ValidationSettings, rate: int, signed: str = "") -> str:
    """Name the column of the last part at a rate, as published: over UDP, and as the profile says or `signed`."""
    signed = signed or (SIGNED[TREE] if SIGNED[TREE] in settings.signed else settings.signed[0])
    transport = "udp" if "udp" in settings.transports else settings.transports[0]
    return _column(rate, signed, transport, settings.periods - 1)


def _on_and_off(column: str) -> Pair:
    """Pick the cases of a column with validation and without."""
    return {"validation": ON, "traffic": column}, {"validation": OFF, "traffic": column}


def _column_label(settings: ValidationSettings, rate: int, signed: str, transport: str, number: int) -> str:
    begin, end = number * settings.load_s, (number + 1) * settings.load_s
    label = f"{rate:,} qps, {begin:g}-{end:g} s"
    if settings.transports != ("udp",):
        label += f", {read_mix(transport).label}"
    return label if settings.signed == ("profile",) else f"{label}, signed: {signed}"


def _method(settings: ValidationSettings) -> tuple[str, ...]:
    source = (
        f"synthetic, by the profile {TRAFFIC} of dnsrig traffic (landline and mobile clients)"
        if settings.capture is None
        else f"the capture {settings.capture}, whose names are replaced by names of the Internet, each always by "
        "the same"
    )
    rates = ", ".join(f"{rate:,}" for rate in settings.rates)
    return (
        f"The traffic is {source}. Its rates are {rates} queries per second in the mean: for a lower one, clients are "
        "left out at random with all their queries, so that the share of cache hits and bursts stay real, as "
        "published. "
        f"Every client asks from a socket of its own{_sharing(settings)} at its own times.{_sessions(settings)}",
        f"The load lasts {settings.span_s:g} s, in {settings.periods} parts of {settings.load_s:g} s that follow one "
        "another without the resolver being started again: the first one meets an empty cache, the last one a hot "
        "cache. Each part is reported apart, as the published study reports minutes.",
        words.internet(settings),
        words.resolver(settings, "nothing; each further part finds what the parts before it have left there"),
        words.order(settings),
    )


def _sharing(settings: ValidationSettings) -> str:
    return ", as far as so many may be open," if settings.shared_sockets else ""


def _sessions(settings: ValidationSettings) -> str:
    """Say how clients that open connections use them, where there are any."""
    if not any(read_mix(text).has_sessions for text in settings.transports):
        return ""
    return (
        " Over TCP, DoT and DoH a client keeps one connection, closes it when it has not used it for "
        f"{IDLE_S:g} s, and resumes its TLS session; resolvers may have {TCP_CLIENTS:,} connections at a time where "
        "that can be set. Of shares, each client has one transport for all its queries."
    )


def _limits(settings: ValidationSettings) -> tuple[str, ...]:
    found = ["Between two parts of a load a moment passes without queries, in which the resolver goes on."]
    if settings.capture is None:
        found.append("The published capture is not available; the synthetic traffic's shape is assumed.")
    if not {SIGNED[UNSIGNED], SIGNED[IN_2010]}.isdisjoint(settings.signed):
        found.append(
            "Also of the Internet of 2010 and of that without signed zones the root is signed: a resolver that "
            "validates begins there. The top-level domains that are said to be signed in 2010 are those of its end."
        )
    return tuple(found)


def _sections(hottest: str, findings: Findings) -> Sequence[Section]:
    return (
        *_capture_sections(findings),
        *_socket_sections(findings),
        sections.verdict_section(findings, "What validation costs"),
        published_section(findings, (isc_2022.NOTE,), (isc_2022.beside(findings, hottest, OFF, ON),)),
        pictures.picture_section(findings, pictures.RESOURCES),
        sections.figure_section(findings, "From outside", sections.OUTSIDE),
        sections.figure_section(findings, "Cache and upstream", sections.INSIDE),
        asked.section(findings),
        sections.figure_section(findings, "Sockets and wires", sections.SOCKETS_AND_WIRES),
    )


def _capture_sections(findings: Findings) -> list[Section]:
    """Say how much of the capture was left out, if anything was."""
    capture = findings.facts.get("capture", {})
    said = []
    if capture.get("left_out"):
        said.append(
            f"{capture['left_out']:,} messages were left out, because they cannot be read or have no question (cut "
            "ones, signed ones (TSIG), such with two OPT records)."
        )
    # Of runs before 28 November 2026 it is not known.
    losses = losses_said(capture.get("lost", {}), capture.get("cut_packet"))
    said += [f"{loss[0].upper()}{loss[1:]}." for loss in losses]
    if not said:
        return []
    return [Section("The capture", (f"{capture['queries']:,} messages were taken as queries.", *said))]


def _socket_sections(findings: Findings) -> list[Section]:
    """Say that clients shared sockets, if they did."""
    most = findings.facts.get("shared_sockets")
    if not most:
        return []
    text = (
        f"More clients ask in a part than sockets could be open, which were {most:,}. There so many clients have a "
        "socket each, and every further one asks from that of one of these, at its own times: the resolver sees fewer "
        "ports of clients, but all of their queries."
    )
    return [Section("Clients that share sockets", (text,))]
