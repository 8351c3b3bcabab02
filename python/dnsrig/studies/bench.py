"""The frame of a study's measurements: servers by turns, repetitions interleaved, every case recorded or accounted for.

A `Bench` measures blocks. A block is one server, started once a repetition, and the cases that are measured while it
is up.
"""

import json
import os
import re
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Generic, Protocol, TypeVar

import pyarrow as pa

from dnsrig import _core
from dnsrig.errors import DnsrigError
from dnsrig.monitor.counters import read_counters, usage
from dnsrig.monitor.sampler import Monitor
from dnsrig.monitor.usage import other_cpu_share
from dnsrig.runs.folder import RunFolder
from dnsrig.servers.base import ServedZone, Server, ServerSettings
from dnsrig.servers.registry import driver
from dnsrig.studies.interleave import interleaved, rotated
from dnsrig.studies.placement import Placement
from dnsrig.studies.progress import Step, Watcher

DISTURBING_CPUS = 0.15
"""Other programs that use more than this, in CPUs, can take sides between cases."""
TIMEOUT_S = 2.0
"""How long an answer is waited for: ample on one machine, and a lost query holds up the closed loop no longer."""

_AMOUNTS = (
    (re.compile(r"used [\d.]+ % of its CPU"), "used nearly all of its CPU"),
    (re.compile(r"from its CPU for [\d.]+ % of the time"), "from its CPU"),
    (re.compile(r"lasted only [\d.]+ s"), "was short"),
    (re.compile(r"^[\d.,]+ (?:% of the )?(?=queries|datagrams|messages)"), "some "),
)
"""Amounts in the core's reasons for distrust, which differ from repetition to repetition."""

Value = TypeVar("Value")


class Block(Protocol):
    """One server as it is configured for some cases. Hashable."""

    @property
    def label(self) -> str:
        """Label of the server, such as `nsd#2`."""

    @property
    def program(self) -> str:
        """Name of the server's driver."""

    @property
    def file_name(self) -> str:
        """Name of the block in file names."""

    @property
    def title(self) -> str:
        """Name of the block for readers."""

    @property
    def axes(self) -> dict[str, Any]:
        """What the block's cases have in common, as measurements and failures record it."""


AnyBlock = TypeVar("AnyBlock", bound=Block)


@dataclass(frozen=True, slots=True)
class Observation:
    """What server, generator and machine used while something ran; as a measurement records it."""

    started: datetime
    server: dict[str, Any]
    generator: dict[str, Any]
    machine: dict[str, Any]
    monitor: dict[str, Any]
    series: pa.Table

    @property
    def disturbances(self) -> list[str]:
        """Say what else kept the machine busy, in words that are the same for all repetitions."""
        if other_cpu_share(self.machine, self.server, self.generator) < DISTURBING_CPUS:
            return []
        return [f"other programs used more than {DISTURBING_CPUS:g} CPUs during the load"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one case came to. `load` is the report of the load that it is judged by."""

    load: dict[str, Any]
    observed: Observation
    cpu_us_per_query: float | None
    bottleneck: str
    evidence: list[str]
    tainted: list[str]
    axes: dict[str, Any]
    """What tells the case from the others of its block."""
    more: dict[str, Any]
    """What else the measurement holds."""


def observe(server: Server, act: Callable[[], Value]) -> tuple[Value, Observation]:
    """Do something to a server; give what it returned, and what was used meanwhile."""
    started = datetime.now(UTC)
    with Monitor({"server": server.pids, "generator": _own_pid}) as monitor:
        before, own_before = read_counters(server.pids()), read_counters(_own_pid())
        value = act()
        after, own_after = read_counters(server.pids()), read_counters(_own_pid())
        samples = monitor.stop()
    server.check_running()
    return value, Observation(
        started=started,
        server=usage(before, after, samples, "server"),
        generator=usage(own_before, own_after, samples, "generator"),
        machine=samples.usage("machine"),
        monitor=samples.facts(),
        series=samples.table,
    )


def judge(load: dict[str, Any], observed: Observation, placement: Placement) -> dict[str, Any]:
    """Judge a load's `bottleneck`, with `evidence` and `tainted`, knowing what share of its CPUs the server used."""
    share = observed.server["cpu_share"] / len(placement.server)
    judged: dict[str, Any] = json.loads(_core.judge_bottleneck(json.dumps(load), share))
    return {**judged, "tainted": [without_amount(reason) for reason in judged["tainted"]]}


def without_amount(reason: str) -> str:
    """Say a reason for distrust in words that are the same for all repetitions; the load's report has its figures."""
    for pattern, words in _AMOUNTS:
        reason = pattern.sub(words, reason)
    return reason


def server_labels(names: Sequence[str]) -> list[tuple[str, str]]:
    """Pair each server with a label of its own: `nsd, nsd` becomes `nsd` and `nsd#2`."""
    seen: dict[str, int] = {}
    labels = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        labels.append((name if seen[name] == 1 else f"{name}#{seen[name]}", name))
    return labels


class Bench(ABC, Generic[AnyBlock]):
    """Runs every case of a study into a run's folder."""

    def __init__(self, blocks: Sequence[AnyBlock], repetitions: int, run: RunFolder, watcher: Watcher) -> None:
        self._blocks = blocks
        self._repetitions = repetitions
        self._run = run
        self._watcher = watcher
        self._total = repetitions * sum(len(self._case_ids(block)) for block in blocks)
        measured = run.measurements()
        self._done = len(measured)
        self._order = max((item["order"] + 1 for item in measured), default=0)
        self._unable: set[AnyBlock] = set()

    @abstractmethod
    def _case_ids(self, block: AnyBlock) -> list[str]:
        """Name the block's cases; fit for file names."""

    @abstractmethod
    def _placement(self, block: AnyBlock) -> Placement:
        """Say on which processors a block's server and the generator run."""

    @abstractmethod
    def _served(self, block: AnyBlock) -> tuple[ServedZone, ServerSettings]:
        """Give what the block's server serves, and how."""

    @abstractmethod
    def _measure_case(self, block: AnyBlock, case_id: str, server: Server) -> Outcome:
        """Measure one case once. Raises SubjectFailedError if the server did not do what the case needs."""

    def measure(self) -> None:
        """Measure what the run does not hold yet; a case that cannot be measured is recorded with the reason.

        Raises the first such reason if no case at all could be measured.
        """
        first_error: DnsrigError | None = None
        for repetition, block in interleaved(self._blocks, self._repetitions):
            cases = rotated(self._case_ids(block), repetition)
            missing = [case_id for case_id in cases if not self._run.done(case_id, repetition)]
            if not missing or block in self._unable:
                continue
            # Threads inherit this, so monitor and generator keep off the server's processor.
            os.sched_setaffinity(0, self._placement(block).generator)
            self._watcher.phase(f"{block.title}, repetition {repetition + 1}")
            try:
                self._measure_block(block, repetition, missing)
            except DnsrigError as error:
                first_error = first_error or error
                self._unable.add(block)
                left = [case_id for case_id in missing if not self._run.done(case_id, repetition)]
                self._run.record_failure(left, block.axes, str(error))
                self._watcher.problem(f"not measured: {block.title}: {error}")
        if first_error is not None and self._done == 0:
            raise first_error

    def _measure_block(self, block: AnyBlock, repetition: int, case_ids: Sequence[str]) -> None:
        folder = self._run.path / "servers" / f"{block.file_name}-{repetition}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        zone, settings = self._served(block)
        with driver(block.program)([zone], settings, folder) as server:
            for case_id in case_ids:
                try:
                    outcome = self._measure_case(block, case_id, server)
                except DnsrigError:
                    # That the server is gone says more than what its absence led to.
                    server.check_running()
                    raise
                self._record(block, case_id, repetition, server, outcome)

    def _record(self, block: AnyBlock, case_id: str, repetition: int, server: Server, outcome: Outcome) -> None:
        observed = outcome.observed
        tainted = [*outcome.tainted, *observed.disturbances]
        measurement = {
            "case_id": case_id,
            "case": {
                **block.axes,
                "server_title": server.title,
                "server_version": server.version,
                **outcome.axes,
            },
            "repetition": repetition,
            "order": self._order,
            "started": observed.started.isoformat(),
            "load": outcome.load,
            **outcome.more,
            "server": observed.server,
            "generator": observed.generator,
            "machine": observed.machine,
            "monitor": observed.monitor,
            "server_cpu_us_per_query": outcome.cpu_us_per_query,
            "bottleneck": outcome.bottleneck,
            "evidence": outcome.evidence,
            "tainted": tainted,
            "remarks": [*server.remarks(), self._placement(block).remark],
        }
        self._order += 1
        self._run.record(measurement, observed.series)
        self._done += 1
        self._watcher.step(
            Step(
                done=self._done,
                total=self._total,
                case_id=case_id,
                repetition=repetition,
                qps=outcome.load["qps"],
                server_cpu_us_per_query=outcome.cpu_us_per_query,
                tainted=bool(tainted),
            )
        )


def _own_pid() -> list[int]:
    return [os.getpid()]
