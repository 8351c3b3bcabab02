"""The frame of a study's measurements: servers by turns, repetitions interleaved, every case recorded or accounted for.

A `Bench` measures blocks. A block is one server, started once a repetition and again after a failure, and the cases
that are measured while it is up.
"""

import json
import os
import re
import shutil
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import pyarrow as pa

from dnsrig import _core
from dnsrig.errors import DnsrigError, SubjectFailedError
from dnsrig.monitor.counters import read_counters, usage
from dnsrig.monitor.sampler import Monitor
from dnsrig.monitor.usage import other_cpu_share
from dnsrig.report.cases import DISTURBED
from dnsrig.runs.folder import RunFolder
from dnsrig.servers.driven import DrivenServer
from dnsrig.studies.clocks import NOTABLE_S, Clocks
from dnsrig.studies.interleave import interleaved, rotated
from dnsrig.studies.placement import Placement, kept_to
from dnsrig.studies.progress import Step, Watcher

DISTURBING_CPUS = 0.15
"""Other programs that use more than this, in CPUs, can take sides between cases."""
TIMEOUT_S = 2.0
"""How long an answer is waited for: ample on one machine, and a lost query holds up the closed loop no longer."""

_AMOUNTS = (
    (re.compile(r"used [\d.]+ % of its CPU"), "used nearly all of its CPU"),
    (re.compile(r"from its CPU for [\d.]+ % of the time"), "from its CPU"),
    (re.compile(r"lasted only [\d.]+ s"), "was short"),
    (re.compile(r"were sent [\d.]+ \S+ or more after their time"), "were sent late"),
    (re.compile(r"^[\d.,]+ queries per second were sent instead of"), "fewer queries per second were sent than"),
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
AnyServer = TypeVar("AnyServer", bound=DrivenServer)


@dataclass(frozen=True, slots=True)
class Observation:
    """What server, generator and machine used while something ran; as a measurement records it."""

    started: datetime
    server: dict[str, Any]
    generator: dict[str, Any]
    machine: dict[str, Any]
    monitor: dict[str, Any]
    series: pa.Table
    clock_step_s: float = 0.0
    """How far the system's clock was set meanwhile."""

    @property
    def disturbances(self) -> list[str]:
        """Say what else kept the machine busy, in words that are the same for all repetitions."""
        found = []
        if other_cpu_share(self.machine, self.server, self.generator) >= DISTURBING_CPUS:
            found.append(f"{DISTURBED} {DISTURBING_CPUS:g} CPUs during the load")
        # Servers go by it for TTLs and signatures, and the kernel stamps packets with it.
        if abs(self.clock_step_s) > NOTABLE_S:
            found.append("the system's clock was set during the load, or the machine was suspended")
        return found


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


class Observed(Protocol):
    """What is observed: a server, or several."""

    def pids(self) -> list[int]:
        """List its processes."""

    def check_running(self) -> None:
        """Raise SubjectFailedError if it has ended."""


def observe(
    server: Observed,
    act: Callable[[], Value],
    network_of: int | None = None,
    sampled_each_s: float = 0.1,
) -> tuple[Value, Observation]:
    """Do something to a server; give what it returned, and what was used meanwhile.

    The network's counters are of the namespace of process `network_of`; None: of this process's. `sampled_each_s` is
    how often the monitor looks, which takes a processor for a millisecond.
    """
    started, clocks = datetime.now(UTC), Clocks.read()
    subjects = {"server": server.pids, "generator": _own_pid}
    with Monitor(subjects, interval_s=sampled_each_s, network_of=network_of) as monitor:
        before, own_before = read_counters(server.pids()), read_counters(_own_pid())
        value = act()
        after, own_after = read_counters(server.pids()), read_counters(_own_pid())
        samples = monitor.stop()
    clock_step_s = Clocks.read().step_s(clocks)
    server.check_running()
    return value, Observation(
        started=started,
        server=usage(before, after, samples, "server"),
        generator=usage(own_before, own_after, samples, "generator"),
        machine=samples.usage("machine"),
        monitor=samples.facts(),
        series=samples.table,
        clock_step_s=clock_step_s,
    )


def require_answers(load: dict[str, Any], of: str) -> None:
    """Raise SubjectFailedError if nothing was answered while the load lasted: what came later makes no rate."""
    if load["qps"] == 0:
        raise SubjectFailedError(
            f"{of}: none of {load['sent']} queries was answered in the {load['duration_s']:.2f} s of the load; "
            "if the server answers at all, make it longer (--load-seconds)"
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


class Bench(ABC, Generic[AnyBlock, AnyServer]):
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
        self._first_error: DnsrigError | None = None

    @abstractmethod
    def _case_ids(self, block: AnyBlock) -> list[str]:
        """Name the block's cases; fit for file names."""

    @abstractmethod
    def _placement(self, block: AnyBlock) -> Placement:
        """Say on which processors a block's server and the generator run."""

    @abstractmethod
    def _server(self, block: AnyBlock, folder: Path) -> AnyServer:
        """Make the driver of a block's server in a folder; it is not started yet."""

    @abstractmethod
    def _measure_case(self, block: AnyBlock, case_id: str, server: AnyServer) -> Outcome:
        """Measure one case once. Raises SubjectFailedError if the server did not do what the case needs."""

    def measure(self) -> None:
        """Measure what the run does not hold yet; a measurement that fails is recorded with the reason.

        After a failure the server is started afresh for the cases that are left, and the next repetition tries all.
        Raises the first such reason if no case at all could be measured.
        """
        with kept_to():
            self._measure_all()
        if self._first_error is not None and self._done == 0:
            raise self._first_error

    def _measure_all(self) -> None:
        for repetition, block in interleaved(self._blocks, self._repetitions):
            cases = self._order_of(self._case_ids(block), repetition)
            missing = [case_id for case_id in cases if not self._run.done(case_id, repetition)]
            if not missing:
                continue
            # Threads inherit this, so monitor and generator keep off the server's processor.
            os.sched_setaffinity(0, self._placement(block).generator)
            self._watcher.phase(f"{block.title}, repetition {repetition + 1}")
            self._measure_block(block, repetition, missing)

    def _check_rig(self) -> None:
        """Raise what ends the run: what the rig itself runs for all servers is gone, and no server is to blame."""

    def _order_of(self, case_ids: list[str], repetition: int) -> list[str]:
        """Give the order of a block's cases in a repetition: each begins with another one."""
        return rotated(case_ids, repetition)

    def _measure_block(self, block: AnyBlock, repetition: int, case_ids: Sequence[str]) -> None:
        waiting = deque(case_ids)
        start = 0
        while waiting:
            start += 1
            try:
                server = self._started(block, repetition, start)
            except DnsrigError as error:
                self._check_rig()
                self._failed(block, waiting, repetition, error)
                return
            try:
                while waiting and self._try_case(block, waiting.popleft(), repetition, server):
                    pass
            finally:
                server.stop()

    def _started(self, block: AnyBlock, repetition: int, start: int) -> AnyServer:
        """Start the block's server, for the `start`-th time in this repetition, in a folder of its own."""
        name = f"{block.file_name}-{repetition}"
        folder = self._run.path / "servers" / (name if start == 1 else f"{name}-start{start}")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        server = self._server(block, folder)
        server.start()
        return server

    def _try_case(self, block: AnyBlock, case_id: str, repetition: int, server: AnyServer) -> bool:
        """Measure a case and record it, or why that failed; say whether it was measured."""
        try:
            outcome = self._measure_case(block, case_id, server)
        except DnsrigError as error:
            self._check_rig()
            self._failed(block, [case_id], repetition, _end_of(server) or error)
            return False
        self._record(block, case_id, repetition, server, outcome)
        return True

    def _failed(self, block: AnyBlock, case_ids: Iterable[str], repetition: int, error: DnsrigError) -> None:
        """Record that these cases could not be measured in this repetition."""
        self._first_error = self._first_error or error
        self._run.record_failure(sorted(case_ids), block.axes, str(error), repetition)
        self._watcher.problem(f"not measured: {block.title}, repetition {repetition + 1}: {error}")

    def _record(self, block: AnyBlock, case_id: str, repetition: int, server: AnyServer, outcome: Outcome) -> None:
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


def _end_of(server: DrivenServer) -> DnsrigError | None:
    """Say that the server is gone, if it is: that tells more than what its absence led to."""
    try:
        server.check_running()
    except DnsrigError as error:
        return error
    return None


def _own_pid() -> list[int]:
    return [os.getpid()]
