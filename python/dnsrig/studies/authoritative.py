"""Measure authoritative servers that serve variants of one zone, stream by stream, in interleaved repetitions."""

import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, ClassVar

from dnsrig import _core
from dnsrig.errors import DnsrigError, SubjectFailedError
from dnsrig.loads import LoadSettings, Route, closed_loop, run_load
from dnsrig.monitor.counters import read_counters, usage
from dnsrig.monitor.sampler import Monitor
from dnsrig.monitor.usage import other_cpu_share
from dnsrig.runs.folder import RunFolder
from dnsrig.servers.base import ServedZone, Server, ServerSettings
from dnsrig.servers.registry import driver
from dnsrig.studies.answer_check import check_answers
from dnsrig.studies.base import Study
from dnsrig.studies.inputs import Inputs, Variant, prepare
from dnsrig.studies.interleave import interleaved, rotated
from dnsrig.studies.placement import Placement, place
from dnsrig.studies.progress import Step, Watcher
from dnsrig.studies.settings import StudySettings

DISTURBING_CPUS = 0.15
"""Other programs that use more than this, in CPUs, can take sides between cases."""
TIMEOUT_S = 2.0
"""How long an answer is waited for: ample on one machine, and a lost query holds up the closed loop no longer."""


class AuthoritativeStudy(Study):
    """A study of authoritative servers: servers x variants of a zone x query streams."""

    quick: ClassVar[dict[str, Any]] = {
        "repetitions": 3,
        "load_s": 1.5,
        "warm_up_s": 0.3,
        "stream_queries": 300_000,
    }

    def run(self, settings: StudySettings, run: RunFolder, watcher: Watcher) -> None:
        """Measure every case that `run` does not hold yet."""
        watcher.phase("making zones, keys and query streams")
        inputs = prepare(settings, run)
        run.note(inputs=inputs.facts)
        AuthoritativeBench(settings, run, inputs, watcher).measure()


@dataclass(frozen=True, slots=True)
class Block:
    """One server serving one variant of the zone; all streams are measured while it is up."""

    label: str
    program: str
    variant: Variant

    @property
    def file_name(self) -> str:
        """Name the block in file names."""
        return f"{self.label.replace('#', '_')}-{self.variant.label}"

    @property
    def axes(self) -> dict[str, Any]:
        """Give what the block's cases have in common, as measurements and failures record it."""
        return {"server": self.label, "denial": self.variant.denial, "iterations": self.variant.iterations}


def server_labels(names: Sequence[str]) -> list[tuple[str, str]]:
    """Pair each server with a label of its own: `nsd, nsd` becomes `nsd` and `nsd#2`."""
    seen: dict[str, int] = {}
    labels = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        labels.append((name if seen[name] == 1 else f"{name}#{seen[name]}", name))
    return labels


def case_id(block: Block, stream: str) -> str:
    """Name a case; fit for a file name."""
    return f"{block.file_name}-{stream}"


class AuthoritativeBench:
    """Runs every case of an authoritative study into a run's folder."""

    def __init__(self, settings: StudySettings, run: RunFolder, inputs: Inputs, watcher: Watcher) -> None:
        self._settings = settings
        self._run = run
        self._inputs = inputs
        self._watcher = watcher
        self._placement: Placement = place(settings.server_threads)
        self._blocks = [
            Block(label, name, variant)
            for variant in inputs.zone_files
            for label, name in server_labels(settings.servers)
        ]
        self._total = len(self._blocks) * len(settings.streams) * settings.repetitions
        measured = run.measurements()
        self._done = len(measured)
        self._order = max((item["order"] + 1 for item in measured), default=0)
        self._unable: set[Block] = set()

    def measure(self) -> None:
        """Measure what the run does not hold yet; a case that cannot be measured is recorded with the reason.

        Raises the first such reason if no case at all could be measured.
        """
        # Threads inherit this, so monitor and generator keep off the server's processor.
        os.sched_setaffinity(0, self._placement.generator)
        first_error: DnsrigError | None = None
        for repetition, block in interleaved(self._blocks, self._settings.repetitions):
            streams = rotated(self._settings.streams, repetition)
            missing = [name for name in streams if not self._run.done(case_id(block, name), repetition)]
            if not missing or block in self._unable:
                continue
            self._watcher.phase(f"{block.label}, zone {block.variant.label}, repetition {repetition + 1}")
            try:
                self._measure_block(block, repetition, missing)
            except DnsrigError as error:
                first_error = first_error or error
                self._unable.add(block)
                self._run.record_failure(
                    [case_id(block, name) for name in missing],
                    block.axes,
                    str(error),
                )
                self._watcher.problem(f"not measured: {block.label}, zone {block.variant.label}: {error}")
        if first_error is not None and self._done == 0:
            raise first_error

    def _measure_block(self, block: Block, repetition: int, streams: Sequence[str]) -> None:
        folder = self._run.path / "servers" / f"{block.file_name}-{repetition}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        settings = ServerSettings(
            threads=self._settings.server_threads,
            cpus=self._placement.server,
            answers=self._settings.answers,
            raise_limits=self._settings.raise_limits,
        )
        zone = ServedZone(self._inputs.origin, self._inputs.zone_files[block.variant])
        with driver(block.program)([zone], settings, folder) as server:
            for name in streams:
                try:
                    self._measure_stream(block, repetition, name, server)
                except DnsrigError:
                    # That the server is gone says more than what its absence led to.
                    server.check_running()
                    raise

    def _measure_stream(self, block: Block, repetition: int, name: str, server: Server) -> None:
        stream = self._inputs.streams[name]
        check = check_answers(server.address, self._inputs.origin, stream.queries, block.variant, server.check_running)
        if self._settings.warm_up_s > 0:
            self._load(server, stream.warm_up, self._settings.warm_up_s)
        started = datetime.now(UTC)
        with Monitor({"server": server.pids, "generator": _own_pid}) as monitor:
            before, own_before = read_counters(server.pids()), read_counters(_own_pid())
            load = self._load(server, stream.queries, self._settings.load_s)
            after, own_after = read_counters(server.pids()), read_counters(_own_pid())
            samples = monitor.stop()
        server.check_running()
        if load["answered"] == 0:
            raise SubjectFailedError(f"{block.label} answered none of {load['sent']} queries of stream {name}")
        used = usage(before, after, samples, "server")
        judged = json.loads(_core.judge_bottleneck(json.dumps(load), used["cpu_share"] / len(self._placement.server)))
        own = usage(own_before, own_after, samples, "generator")
        machine = samples.usage("machine")
        cpu_us_per_query = used["cpu_us"] / load["answered"]
        measurement = {
            "case_id": case_id(block, name),
            "case": {
                **block.axes,
                "server_title": server.title,
                "server_version": server.version,
                "stream": name,
            },
            "repetition": repetition,
            "order": self._order,
            "started": started.isoformat(),
            "load": load,
            "server": used,
            "generator": own,
            "machine": machine,
            "monitor": samples.facts(),
            "server_cpu_us_per_query": cpu_us_per_query,
            "bottleneck": judged["bottleneck"],
            "evidence": judged["evidence"],
            "tainted": [*judged["tainted"], *check.faults, *_disturbances(used, own, machine)],
            "remarks": [*server.remarks(), self._placement.remark],
        }
        self._order += 1
        self._run.record(measurement, samples.table)
        self._done += 1
        self._watcher.step(
            Step(
                done=self._done,
                total=self._total,
                case_id=case_id(block, name),
                repetition=repetition,
                qps=load["qps"],
                server_cpu_us_per_query=cpu_us_per_query,
                tainted=bool(measurement["tainted"]),
            )
        )

    def _load(self, server: Server, stream: _core.QueryStream, duration_s: float) -> dict[str, Any]:
        host, port = server.address
        settings = LoadSettings(
            routes=(Route(self._settings.transport, host, port, clients=self._settings.clients),),
            schedule=closed_loop(self._settings.outstanding),
            duration_s=duration_s,
            timeout_s=TIMEOUT_S,
            cpus=tuple(sorted(self._placement.generator)[:1]),
        )
        # Looked after each second: a load of a dead server would go on to its end and tell nothing.
        report, interrupted = run_load(stream, settings, lambda _: server.check_running())
        if interrupted:
            raise KeyboardInterrupt
        return report


def _disturbances(server: dict[str, Any], own: dict[str, Any], machine: dict[str, Any]) -> list[str]:
    """Say what else kept the machine busy, in words that are the same for all repetitions."""
    others = other_cpu_share(machine, server, own)
    if others < DISTURBING_CPUS:
        return []
    return [f"other programs used more than {DISTURBING_CPUS:g} CPUs during the load"]


def _own_pid() -> list[int]:
    return [os.getpid()]
