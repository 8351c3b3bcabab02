"""Measures cases of resolvers: each start with an empty cache, against an Internet that holds still."""

import math
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import pyarrow.compute as pc

from dnsrig import _core
from dnsrig.errors import DnsrigError, InputError, SubjectFailedError
from dnsrig.loads import LoadSettings, closed_loop, fixed_rate, run_load
from dnsrig.monitor.seconds import mean_by_second
from dnsrig.runs.folder import RunFolder
from dnsrig.servers.certificates import make_certificate
from dnsrig.servers.resolvers.base import Resolver
from dnsrig.servers.resolvers.counts import ResolverCounts
from dnsrig.servers.resolvers.registry import resolver_driver
from dnsrig.servers.resolvers.settings import ResolverSettings
from dnsrig.studies.bench import Bench, Observation, Outcome, judge, observe, require_answers
from dnsrig.studies.placement import Placement
from dnsrig.studies.progress import Watcher
from dnsrig.studies.resolving.cases import ResolverBlock, ResolverCase, Traffic
from dnsrig.studies.resolving.conditions import conditioned
from dnsrig.studies.resolving.front import FRONT_PORT, SECOND_PORT, Measured, balanced
from dnsrig.studies.resolving.memory import MADE_AT_LEAST, MADE_TOLERATED
from dnsrig.studies.resolving.place import CLIENTS_DEVICE, INTERNET_DEVICE, Place
from dnsrig.studies.resolving.rehearsal import longest_s, rehearsals
from dnsrig.studies.resolving.settings import ResolverStudySettings
from dnsrig.studies.resolving.silence import Silence
from dnsrig.studies.resolving.sockets import addresses_for
from dnsrig.studies.resolving.timeline import TIME_WAIT, Timeline
from dnsrig.studies.resolving.transports import TCP_CLIENTS, read_mix

PORT = 53
READY_S = 60.0
ANSWER_S = 5.0
"""How long clients wait for an answer, as stub resolvers do by default (resolv.conf(5))."""
REPLAY = {"kind": "replay", "speed": 1.0}
GIVEN = "none"
"""The bottleneck of a load whose rate is given."""
AT_ONCE_FAR = 400
"""Questions that may be under way in a rehearsal where servers are far away: fewer than the four resolvers take."""
WAY_S = 0.1
"""About how long an answer takes there that is not in the cache."""
SAMPLES = 30
SAMPLED_EACH_S = (0.1, 1.0)
UNSENT = "the simulated Internet could not send some of its answers"
"""Why a case is tainted."""
FAILURES_TOLERATED = 0.01
"""Share of SERVFAIL from which a case's figures are of something else than resolution."""
BUSY = 0.9
"""A resolver above this share of its CPU has none to spare, as `judge` has it of servers."""
_OTHERS = "other programs kept the generator from its CPU"
_INTERNET = "the simulated Internet, or other programs, kept the generator from its CPU"


@dataclass(frozen=True, slots=True)
class Setup:
    """What a bench measures: blocks, with the streams by their names and the places by their Internets', and where."""

    blocks: Sequence[ResolverBlock]
    streams: Mapping[str, _core.QueryStream]
    places: Mapping[str, Place]
    where: Placement
    """On which processors: made before the calling thread is kept to some of them."""


class ResolverBench(Bench[ResolverBlock, Resolver]):
    """Runs every case of a study of resolvers into a run's folder."""

    requires_answers: ClassVar[bool] = True
    """Whether a load in which nothing is answered is a failure, not a result."""
    reads_counts_each_second: ClassVar[bool] = False
    """Whether resolvers are asked for their counts each second of a load, which costs them and generators a little."""

    def __init__(
        self,
        settings: ResolverStudySettings,
        run: RunFolder,
        setup: Setup,
        watcher: Watcher,
    ) -> None:
        self._settings = settings
        self._streams = setup.streams
        self._places = setup.places
        self._where = setup.where
        self._sent: WeakKeyDictionary[Measured, list[Traffic]] = WeakKeyDictionary()
        self._began_s: WeakKeyDictionary[Measured, float] = WeakKeyDictionary()
        """When the first part of a resolver's load began, on the clock of `time.monotonic`."""
        super().__init__(setup.blocks, settings.repetitions, run, watcher)

    def _check_rig(self) -> None:
        """Raise EnvironmentLacksError if one of the Internets has ended."""
        for where in self._places.values():
            where.check_running()

    def _case_ids(self, block: ResolverBlock) -> list[str]:
        return list(block.case_ids())

    def _order_of(self, case_ids: list[str], repetition: int) -> list[str]:
        """Keep the order: a block's cases are parts of one load, from a cold cache to a hot one."""
        return case_ids

    def _placement(self, block: ResolverBlock) -> Placement:
        return self._where

    def _server(self, block: ResolverBlock, folder: Path) -> Resolver:
        return self.resolver(block.program, block.cases[0], folder)

    def resolver(self, program: str, case: ResolverCase, folder: Path, port: int = PORT) -> Resolver:
        """Make the driver of a resolver as a case wants it; it is not started yet."""
        where = self._places[case.tree]
        mix = read_mix(case.traffic.transport)
        settings = ResolverSettings(
            addresses=(where.address,),
            port=port,
            root_hints=where.internet.root_hints,
            trust_anchors=where.internet.trust_anchor if case.validates else "",
            validate=case.validates,
            threads=self._settings.server_threads,
            cpus=self._where.server,
            cache_octets=self._settings.cache_octets,
            memory_octets=self._settings.memory_octets,
            prefetch=self._settings.prefetch,
            serve_stale=self._settings.serve_stale,
            udp_limit=self._settings.udp_size,
            statistics=True,
            encrypted_ports=mix.encrypted_ports,
            certificate=make_certificate(folder, addresses=(where.address,)) if mix.encrypted_ports else None,
            tcp_clients=TCP_CLIENTS if mix.has_sessions else None,
            upstream_queries=self._settings.upstream_queries,
            deadline_s=READY_S,
        )
        return resolver_driver(program)(settings, folder, where.resolver)

    def rehearse(self, folder: Path) -> None:
        """Have every resolver, as the cases have it, ask each of their streams once, unmeasured.

        The Internet then has the zones, signatures and answers that the measured loads need, as far as its memory and
        the time for that reach, and making them is not what they wait for. Resolvers do not ask for all the same, and
        not in the same way: what one asked has no answers for some of another's queries, nor one that validates for
        one that does not.
        """
        wanted = rehearsals(block for block in self._blocks if self._is_missing(block))
        if not self._settings.rehearses_each:
            wanted = [one for one in wanted if one.program == wanted[0].program and one.case.validates]
        asked: set[tuple[str, str]] = set()
        for number, rehearsal in enumerate(wanted):
            case, left = rehearsal.case, list(rehearsal.lasting_s)
            self._watcher.phase(f"rehearsing {', '.join(left)} with {rehearsal.who}, {number + 1} of {len(wanted)}")
            own = folder / f"rehearsal-{number}"
            # A run that is resumed may have had another resolver there.
            shutil.rmtree(own, ignore_errors=True)
            try:
                with self.resolver(rehearsal.program, case, own) as server:
                    for stream, load_s in rehearsal.lasting_s.items():
                        traffic = Traffic(
                            stream,
                            load_s=longest_s(load_s, is_first=(case.tree, stream) not in asked),
                            outstanding=self._rehearsed_at_once(stream, load_s),
                        )
                        self._ask_through(server, self._places[case.tree], traffic)
                        asked.add((case.tree, stream))
                        left.remove(stream)
            except DnsrigError as error:
                self._check_rig()
                # Its cases will say so too; those of other resolvers may go on.
                self._watcher.problem(f"not rehearsed: {', '.join(left)}, by {rehearsal.who}: {error}")

    def _rehearsed_at_once(self, stream: str, load_s: float | None) -> int | None:
        """Give how many questions of a stream are under way in a rehearsal; None: as many as in closed loops.

        Where servers are far away, these would be too few for the rate of a load. With many more than are under way in
        the load, resolvers ask other servers: it is not known yet which ones are near.
        """
        if load_s is None or not self._settings.distances:
            return None
        at_once = min(AT_ONCE_FAR, round(len(self._streams[stream]) / load_s * WAY_S))
        return max(at_once, self._settings.outstanding)

    def _is_missing(self, block: ResolverBlock) -> bool:
        """Whether the run does not hold all measurements of a block yet."""
        wanted = product(block.case_ids(), range(self._repetitions))
        return not all(self._run.done(case_id, repetition) for case_id, repetition in wanted)

    def _failed(self, block: ResolverBlock, case_ids: Iterable[str], repetition: int, error: DnsrigError) -> None:
        """Record a failure, with the limit that its resolver had."""
        limit = self._settings.memory_limit_mib
        if limit is not None and isinstance(error, SubjectFailedError):
            first, newline, rest = str(error).partition("\n")
            error = SubjectFailedError(f"{first} (it had at most {limit} MiB of memory of its own){newline}{rest}")
        super()._failed(block, case_ids, repetition, error)

    def _measure_case(self, block: ResolverBlock, case_id: str, server: Resolver) -> Outcome:
        case = block.case_ids()[case_id]
        where = self._places[case.tree]
        with ExitStack() as stack:
            stack.enter_context(conditioned(where, case.condition))
            if not case.is_balanced:
                return self._measure_at(case, server, where, PORT)
            second = self.resolver(block.program, case, server.folder / "second", SECOND_PORT)
            several = stack.enter_context(balanced(server, [second], where, self._where.generator))
            outcome = self._measure_at(case, several, where, FRONT_PORT)
            outcome.more["balanced"] = {"queries": [counts.queries for counts in several.counts_of_each()]}
            return outcome

    def _measure_at(self, case: ResolverCase, server: Measured, where: Place, port: int) -> Outcome:
        """Measure a case on what answers at a port."""
        for stream in case.warm_up:
            self._ask_through(server, where, Traffic(stream, load_s=math.inf), port)
        if case.is_flushed:
            server.flush_cache()
        self._catch_up(server, where, case, port)
        more = self._before_load(case, server, where, port)
        outcome = self._measured(case, server, where, port)
        outcome.more.update(more)
        return outcome

    def _before_load(self, case: ResolverCase, server: Measured, where: Place, port: int) -> dict[str, Any]:
        """Do what a study wants done before a case's load; give what the measurement is to hold of it."""
        return {}

    def _catch_up(self, server: Measured, where: Place, case: ResolverCase, port: int) -> None:
        """Send the parts before a case's own that this resolver has not had since its start."""
        sent = self._sent.setdefault(server, [])
        for traffic in case.parts_before[len(sent) :]:
            self._load(server, where, traffic, port)
            sent.append(traffic)

    def _measured(self, case: ResolverCase, server: Measured, where: Place, port: int) -> Outcome:
        counts, reading = server.counts(), where.reading()
        server.check_running()
        with Timeline(
            where,
            server.pids(),
            server.counts_in_load if self.reads_counts_each_second else None,
            lambda: self._began_s.get(server),
        ) as timeline:
            load, observed = observe(
                server,
                lambda: self._load(server, where, case.traffic, port, on_start=timeline.begin, on_second=timeline.note),
                network_of=server.pids()[0],
                sampled_each_s=sampled_each_s(case.traffic.load_s),
            )
        self._sent.setdefault(server, []).append(case.traffic)
        if self.requires_answers:
            require_answers(load, case.name)
        after_counts, after = self._counts_after(server, load), where.reading()
        upstream = after.since(reading)
        by_second = timeline.by_second()
        used = mean_by_second(by_second, "cpu_share", observed.server["cpu_share"])
        verdict = self._judge(case.traffic, load, observed, used)
        return Outcome(
            load=load,
            observed=observed,
            cpu_us_per_query=observed.server["cpu_us"] / load["answered"] if load["answered"] else None,
            bottleneck=verdict["bottleneck"],
            evidence=verdict["evidence"],
            tainted=[*verdict["tainted"], *_faults(load, upstream)],
            axes=dict(case.axes),
            more={
                "resolver": _resolver_facts(after_counts, counts),
                "upstream": {**upstream, "by_second": timeline.upstream_by_second},
                "network": _network_facts(observed, timeline.between_ns, by_second[TIME_WAIT]),
                "by_second": by_second,
                **self._of_seconds(load, timeline),
            },
        )

    def _of_seconds(self, load: Mapping[str, Any], timeline: Timeline) -> dict[str, Any]:
        """Give what a study wants to be in the measurement of the seconds of a load."""
        return {}

    def _counts_after(self, server: Measured, load: dict[str, Any]) -> ResolverCounts:
        """Ask for the counts after a load; where there are none because the resolver hangs, say that."""
        try:
            return server.counts()
        except SubjectFailedError as error:
            heard = Silence(server.title)
            for row in load["intervals"]:
                heard.note(row)
            if not heard.silent_s:
                raise
            raise SubjectFailedError(f"{heard.said}; and it takes no commands: {error}") from error

    def _judge(self, traffic: Traffic, load: dict[str, Any], observed: Observation, cpu_share: float) -> dict[str, Any]:
        judged = judge(load, observed, self._where)
        tainted = [reason.replace(_OTHERS, _INTERNET) for reason in judged["tainted"]]
        if traffic.is_closed_loop:
            return {**judged, "tainted": tainted}
        tainted += _at_its_end(cpu_share / len(self._where.server))
        return {**judged, "bottleneck": GIVEN, "evidence": ["the rate of queries was given"], "tainted": tainted}

    def _ask_through(self, server: Measured, where: Place, traffic: Traffic, port: int = PORT) -> None:
        """Send a stream once in a closed loop, unmeasured."""
        self._load(server, where, replace(traffic, is_once=True), port, is_warm_up=True)

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
        """Send a load from the clients' namespace and give its report."""
        given_up = threading.Event()
        silence = Silence(server.title) if self.requires_answers else None

        def each_second(row: dict[str, Any]) -> None:
            # A load of a dead resolver would go on to its end and tell nothing.
            server.check_running()
            where.check_running()
            if given_up.is_set():
                raise KeyboardInterrupt
            on_second(row)
            if silence is not None:
                silence.note(row)
                silence.refuse()

        settings = self._load_settings(where, traffic, port)
        # Parts of a load are one in the schedule, whatever is done between them.
        before_s = sum(part.load_s for part in self._sent.get(server, ()))

        def begun(elapsed_s: float) -> None:
            if not is_warm_up:
                self._began_s.setdefault(server, time.monotonic() - elapsed_s)
                where.server.begin_outages(before_s + elapsed_s)
            on_start(elapsed_s)

        # Others are under way while one waits; at a fixed rate there may be none.
        where.server.gather(self._settings.loop_gathers_us if traffic.is_closed_loop else 0)
        try:
            report, interrupted = where.clients.call(
                lambda: run_load(self._streams[traffic.stream], settings, each_second, begun)
            )
        except BaseException as error:
            # The namespace's thread looks each second, so that after Ctrl-C no load is left.
            given_up.set()
            if isinstance(error, DnsrigError):
                # That nothing listens any more is because the resolver has ended, if it has: that says why.
                server.check_running()
            raise
        finally:
            # Servers are not out while a resolver starts, nor in what is asked of it beforehand.
            where.server.hold_outages()
            where.server.gather(0)
        if interrupted:
            raise KeyboardInterrupt
        return report

    def _sources(self, where: Place, traffic: Traffic) -> tuple[str, ...]:
        """Give the addresses of a replay's clients, if they need several; else the kernel takes the one there is."""
        count = addresses_for(self._streams[traffic.stream].client_count) if traffic.replays else 1
        return where.client_addresses[:count] if count > 1 else ()

    def _load_settings(self, where: Place, traffic: Traffic, port: int) -> LoadSettings:
        own = self._settings
        schedule = (
            closed_loop(traffic.outstanding or own.outstanding)
            if traffic.rate_qps is None
            else fixed_rate(traffic.rate_qps)
        )
        mix = read_mix(traffic.transport)
        return LoadSettings(
            routes=mix.routes(where.address, port, None if traffic.replays else own.clients),
            schedule=REPLAY if traffic.replays else schedule,
            duration_s=traffic.load_s if math.isfinite(traffic.load_s) else None,
            passes=1 if traffic.is_once else None,
            timeout_s=ANSWER_S,
            cpus=tuple(sorted(self._where.generator)[:1]),
            sources=self._sources(where, traffic),
            keep_clients=traffic.replays,
            tcp_fallback=any(transport == "udp" for transport, _ in mix.shares),
            seed=own.seed,
            # The target is in a namespace of the rig, which the clients' own knows nothing of.
            allow_any_target=True,
        )


def sampled_each_s(load_s: float) -> float:
    """Give how often a load of a length is looked at: some `SAMPLES` times, more often in long ones.

    A look takes a millisecond of the generator's processor, and queries that are due meanwhile leave late: ten a second
    would be what the 99th percentile of their lateness shows.
    """
    return min(max(load_s / SAMPLES, SAMPLED_EACH_S[0]), SAMPLED_EACH_S[1])


def check_blocks(blocks: Sequence[ResolverBlock]) -> None:
    """Raise InputError where the choices on the command line make no case."""
    if not blocks:
        raise InputError("these choices make no case")


def _resolver_facts(after: ResolverCounts, before: ResolverCounts) -> dict[str, Any]:
    return {
        "queries": after.queries - before.queries,
        "cache_hit_share": after.hit_share_since(before),
        "cache_octets": after.cache_octets,
        "cache_entries": after.cache_entries,
    }


def _network_facts(
    observed: Observation, between_ns: tuple[int, int] | None, in_time_wait: Sequence[int]
) -> dict[str, Any]:
    """Give what the resolver's namespace had: sockets in the mean over the samples, octets and packets by side.

    Of samples only those count that were taken while queries were sent, `between_ns` by CLOCK_MONOTONIC; None: all.
    Connections `in_time_wait` are those of the load alone, by second.
    """
    machine = observed.series.filter(pc.equal(observed.series["subject"], "machine"))
    if between_ns is not None:
        is_within = pc.and_(
            pc.greater_equal(machine["time_ns"], between_ns[0]), pc.less_equal(machine["time_ns"], between_ns[1])
        )
        within = machine.filter(is_within)
        machine = within if within.num_rows else machine
    sockets = {
        key: fmean(value for value in machine[key].to_pylist() if value is not None)
        for key in ("udp_sockets", "tcp_sockets")
    }
    sockets[TIME_WAIT] = fmean(in_time_wait) if in_time_wait else 0.0
    sides = observed.machine["interfaces"]
    return {**sockets, CLIENTS_DEVICE: sides.get(CLIENTS_DEVICE, {}), INTERNET_DEVICE: sides.get(INTERNET_DEVICE, {})}


def _at_its_end(cpu_share: float) -> list[str]:
    """Say of a load at a given rate that the resolver can hardly carry it, by the share that it used of its CPU."""
    said = f"the resolver used more than {BUSY * 100:g} % of its CPU: queries waited for one another"
    return [said] if cpu_share > BUSY else []


def _faults(load: Mapping[str, Any], upstream: Mapping[str, Any]) -> list[str]:
    found = []
    if not load["qps"]:
        found.append("nothing was answered while the load lasted")
    if load["rcodes"].get("SERVFAIL", 0) > FAILURES_TOLERATED * load["answered"]:
        found.append(f"more than {FAILURES_TOLERATED:.0%} of the answers are SERVFAIL".replace("%", " %"))
    made = upstream["zones"] + upstream["signatures"]
    if made > max(MADE_TOLERATED * upstream["queries"], MADE_AT_LEAST):
        found.append(
            f"for more than {MADE_TOLERATED * 100:g} % of the upstream queries the simulated Internet made zones or "
            "signatures meanwhile: give it more memory (--internet-memory)"
        )
    if upstream["dropped"]:
        found.append(UNSENT)
    return found
