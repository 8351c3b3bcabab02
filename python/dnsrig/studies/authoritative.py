"""Measure authoritative servers that serve variants of one zone, stream by stream, in interleaved repetitions."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from dnsrig import _core
from dnsrig.loads import LoadSettings, Route, closed_loop, run_load
from dnsrig.runs.folder import RunFolder
from dnsrig.servers.base import ServedZone, Server, ServerSettings
from dnsrig.servers.registry import driver
from dnsrig.studies.answer_check import check_answers
from dnsrig.studies.base import Study
from dnsrig.studies.bench import TIMEOUT_S, Bench, Outcome, judge, observe, require_answers, server_labels
from dnsrig.studies.inputs import Inputs, Variant, prepare, variants
from dnsrig.studies.placement import Placement, place
from dnsrig.studies.plan import Plan, PlannedCase
from dnsrig.studies.progress import Watcher
from dnsrig.studies.settings import StudySettings, ZoneStudySettings

AROUND_A_LOAD_S = 1.0
"""What starting and stopping a server, looking at its answers and recording take, for each load."""
PREPARING_S = 5.0


class AuthoritativeStudy(Study[ZoneStudySettings]):
    """A study of authoritative servers: servers x variants of a zone x query streams."""

    settings_type: ClassVar[type[StudySettings]] = ZoneStudySettings
    quick: ClassVar[dict[str, Any]] = {
        "repetitions": 3,
        "load_s": 1.5,
        "warm_up_s": 0.3,
        "stream_queries": 300_000,
    }

    def plan(self, settings: ZoneStudySettings) -> Plan:
        """Say what a run would measure."""
        seconds = settings.warm_up_s + settings.load_s + AROUND_A_LOAD_S
        blocks = [
            ZoneBlock(label, name, variant)
            for variant in variants(settings)
            for label, name in server_labels(settings.servers)
        ]
        ids = [f"{block.file_name}-{stream}" for block in blocks for stream in settings.streams]
        cases = tuple(PlannedCase(case_id, seconds, seconds) for case_id in ids)
        return Plan(cases, settings.repetitions, preparing_s=PREPARING_S)

    def run(self, settings: ZoneStudySettings, run: RunFolder, watcher: Watcher) -> None:
        """Measure every case that `run` does not hold yet."""
        watcher.phase("making zones, keys and query streams")
        watcher.note(self.plan(settings).sentence)
        inputs = prepare(settings, run)
        run.note(inputs=inputs.facts)
        AuthoritativeBench(settings, run, inputs, watcher).measure()


@dataclass(frozen=True, slots=True)
class ZoneBlock:
    """One server serving one variant of the zone; all streams are measured while it is up."""

    label: str
    program: str
    variant: Variant

    @property
    def file_name(self) -> str:
        """Name the block in file names."""
        return f"{self.label.replace('#', '_')}-{self.variant.label}"

    @property
    def title(self) -> str:
        """Name the block for readers."""
        return f"{self.label}, zone {self.variant.label}"

    @property
    def axes(self) -> dict[str, Any]:
        """Give what the block's cases have in common, as measurements and failures record it."""
        return {"server": self.label, "denial": self.variant.denial, "iterations": self.variant.iterations}


class AuthoritativeBench(Bench[ZoneBlock, Server]):
    """Runs every case of an authoritative study into a run's folder."""

    def __init__(self, settings: ZoneStudySettings, run: RunFolder, inputs: Inputs, watcher: Watcher) -> None:
        self._settings = settings
        self._inputs = inputs
        self._where: Placement = place(settings.server_threads)
        blocks = [
            ZoneBlock(label, name, variant)
            for variant in inputs.zone_files
            for label, name in server_labels(settings.servers)
        ]
        super().__init__(blocks, settings.repetitions, run, watcher)

    def _case_ids(self, block: ZoneBlock) -> list[str]:
        return list(self._streams(block))

    def _streams(self, block: ZoneBlock) -> dict[str, str]:
        return {f"{block.file_name}-{name}": name for name in self._settings.streams}

    def _placement(self, block: ZoneBlock) -> Placement:
        return self._where

    def _server(self, block: ZoneBlock, folder: Path) -> Server:
        settings = ServerSettings(
            threads=self._settings.server_threads,
            cpus=self._where.server,
            answers=self._settings.answers,
            raise_limits=self._settings.raise_limits,
        )
        zone = ServedZone(self._inputs.origin, self._inputs.zone_files[block.variant])
        return driver(block.program)([zone], settings, folder)

    def _measure_case(self, block: ZoneBlock, case_id: str, server: Server) -> Outcome:
        name = self._streams(block)[case_id]
        stream = self._inputs.streams[name]
        check = check_answers(server.address, self._inputs.origin, stream.queries, block.variant, server.check_running)
        if self._settings.warm_up_s > 0:
            self._load(server, stream.warm_up, self._settings.warm_up_s)
        load, observed = observe(server, lambda: self._load(server, stream.queries, self._settings.load_s))
        require_answers(load, f"{block.title}, stream {name}")
        judged = judge(load, observed, self._where)
        return Outcome(
            load=load,
            observed=observed,
            cpu_us_per_query=observed.server["cpu_us"] / load["answered"],
            bottleneck=judged["bottleneck"],
            evidence=judged["evidence"],
            tainted=[*judged["tainted"], *check.faults],
            axes={"stream": name},
            more={},
        )

    def _load(self, server: Server, stream: _core.QueryStream, duration_s: float) -> dict[str, Any]:
        host, port = server.address
        settings = LoadSettings(
            routes=(Route(self._settings.transport, host, port, clients=self._settings.clients),),
            schedule=closed_loop(self._settings.outstanding),
            duration_s=duration_s,
            timeout_s=TIMEOUT_S,
            cpus=tuple(sorted(self._where.generator)[:1]),
        )
        # Looked after each second: a load of a dead server would go on to its end and tell nothing.
        report, interrupted = run_load(stream, settings, lambda _: server.check_running())
        if interrupted:
            raise KeyboardInterrupt
        return report
