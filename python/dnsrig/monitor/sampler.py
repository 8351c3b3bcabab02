"""The monitor: samples subjects and the machine at intervals while a load runs."""

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import pyarrow as pa

from dnsrig.monitor.counters import GroupReader, MachineReader, usage
from dnsrig.monitor.usage import (
    MachineCounters,
    ProcessCounters,
    busy_by_cpu,
    machine_usage,
    steal_share,
)

MACHINE = "machine"
SLOW_PERIOD_S = 1.0
"""How often members of subjects, PSS, UDP errors and numbers of sockets are read; the rest at every sample."""
PSS_COST_SHARE = 0.001
"""Reading PSS walks all of a process's pages: a large one's is read less often, to use this share of a CPU."""
_STOP_DEADLINE_S = 10.0

SERIES_SCHEMA = pa.schema(
    [
        ("time_ns", pa.int64()),
        ("subject", pa.string()),
        ("cpu_us", pa.float64()),
        ("cpu_share", pa.float64()),
        ("rss_bytes", pa.int64()),
        ("pss_bytes", pa.int64()),
        ("threads", pa.int32()),
        ("processes", pa.int32()),
        ("busy_by_cpu", pa.list_(pa.float64())),
        ("steal_share", pa.float64()),
        ("packets_in", pa.int64()),
        ("packets_out", pa.int64()),
        ("bytes_in", pa.int64()),
        ("bytes_out", pa.int64()),
        ("udp_receive_errors", pa.int64()),
        ("udp_receive_buffer_errors", pa.int64()),
        ("udp_sockets", pa.int32()),
        ("tcp_sockets", pa.int32()),
        ("tcp_time_wait", pa.int32()),
    ]
)
"""Columns of a monitor's table: one row a sample and subject. `time_ns` is CLOCK_MONOTONIC; `cpu_us` and
network counters are cumulative; shares are since the sample before (0 in the first); null: not applicable."""


@dataclass(frozen=True, slots=True)
class Samples:
    """What a monitor saw.

    Attributes:
        table: all samples, see SERIES_SCHEMA.
        cost_share: CPU time of the monitor's own thread as a share of one CPU.
        late_ns: how late samples were taken, 99th percentile, in ns.
        interval_s: the interval that was asked for.
        ended: by subject, when (CLOCK_MONOTONIC, ns) it was first seen without a living process.
        first, last: the first and last counters by subject.
        machine: the machine's first and last counters.

    """

    table: pa.Table
    cost_share: float
    late_ns: int
    interval_s: float
    ended: Mapping[str, int]
    first: Mapping[str, ProcessCounters]
    last: Mapping[str, ProcessCounters]
    machine: tuple[MachineCounters, MachineCounters]

    def usage(self, subject: str) -> dict[str, Any]:
        """Return what `subject` (or "machine") used from the first sample to the last."""
        if subject == MACHINE:
            return machine_usage(*self.machine)
        return usage(self.first[subject], self.last[subject], self, subject)

    def largest_rss_bytes(self, subject: str) -> int:
        """Return the largest RSS of all samples of `subject`; 0 if it has none."""
        rows = self.table.select(["subject", "rss_bytes"]).to_pylist()
        return max((row["rss_bytes"] for row in rows if row["subject"] == subject), default=0)

    def facts(self) -> dict[str, Any]:
        """Return what a measurement records about the monitor itself."""
        return {
            "cost_share": self.cost_share,
            "late_p99_ns": self.late_ns,
            "interval_s": self.interval_s,
            "ended_ns": dict(self.ended),
        }


@dataclass(slots=True)
class _Taken:
    """What the thread has collected so far."""

    processes: dict[str, list[ProcessCounters]] = field(default_factory=dict)
    machine: list[MachineCounters] = field(default_factory=list)
    late_ns: list[int] = field(default_factory=list)
    ended: dict[str, int] = field(default_factory=dict)
    cost_ns: int = 0
    began_ns: int = 0
    failure: BaseException | None = None


class Monitor:
    """Samples `subjects` in a thread of its own, between `start` and `stop`.

    `subjects` gives for every name a function that returns the process numbers that belong to it; it is
    called once a second. The machine is always sampled too. `cpus` pins the thread. Counters of the network, which
    stand with the machine's, are those of the namespace of process `network_of`; None: of this process's.
    """

    def __init__(
        self,
        subjects: Mapping[str, Callable[[], Sequence[int]]],
        interval_s: float = 0.1,
        cpus: frozenset[int] | None = None,
        network_of: int | None = None,
    ) -> None:
        if MACHINE in subjects:
            raise ValueError(f"a subject cannot be called {MACHINE}: that is the machine itself")
        self._subjects = dict(subjects)
        self._interval_ns = round(interval_s * 1e9)
        self._cpus = cpus
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._readers = {name: GroupReader() for name in subjects}
        self._machine_reader = MachineReader(network_of)
        self._taken = _Taken(processes={name: [] for name in subjects})

    def start(self) -> None:
        """Take the first sample, then go on in the background. A monitor is started once."""
        if self._thread is not None:
            raise RuntimeError("this monitor was started already; make a new one")
        self._refresh()
        for reader in self._readers.values():
            reader.use_cgroup()
        self._sample(with_pss=True, all_counters=True)
        self._taken.began_ns = time.monotonic_ns()
        self._thread = threading.Thread(target=self._run, name="dnsrig-monitor", daemon=True)
        self._thread.start()

    def stop(self) -> Samples:
        """Take the last sample and return all of them. Raises what the thread failed with, if it did."""
        if self._thread is None:
            raise RuntimeError("this monitor was never started")
        self._stop.set()
        self._thread.join(_STOP_DEADLINE_S)
        taken = self._taken
        try:
            if taken.failure is not None:
                raise taken.failure
            self._sample(with_pss=True, all_counters=True)
        finally:
            for reader in self._readers.values():
                reader.close()
            self._machine_reader.close()
        elapsed_ns = max(1, taken.machine[-1].time_ns - taken.began_ns)
        return Samples(
            table=_table(taken),
            cost_share=taken.cost_ns / elapsed_ns,
            late_ns=int(np.percentile(taken.late_ns, 99)) if taken.late_ns else 0,
            interval_s=self._interval_ns / 1e9,
            ended=dict(taken.ended),
            first={name: rows[0] for name, rows in taken.processes.items()},
            last={name: rows[-1] for name, rows in taken.processes.items()},
            machine=(taken.machine[0], taken.machine[-1]),
        )

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._thread is not None and not self._stop.is_set():
            self.stop()

    def _run(self) -> None:
        """Sample at absolute deadlines, so that delays don't add up; missed deadlines are left out."""
        taken = self._taken
        began_cpu_ns = time.thread_time_ns()
        try:
            if self._cpus is not None:
                os.sched_setaffinity(threading.get_native_id(), self._cpus)
            due_ns = taken.began_ns + self._interval_ns
            slow_due_ns = pss_due_ns = taken.began_ns + round(SLOW_PERIOD_S * 1e9)
            while not self._stop.wait(max(0, due_ns - time.monotonic_ns()) / 1e9):
                now_ns = time.monotonic_ns()
                taken.late_ns.append(now_ns - due_ns)
                slow = now_ns >= slow_due_ns
                if slow:
                    self._refresh()
                    slow_due_ns += round(SLOW_PERIOD_S * 1e9)
                with_pss = slow and now_ns >= pss_due_ns
                before_cpu_ns = time.thread_time_ns()
                self._sample(with_pss=with_pss, all_counters=slow)
                if with_pss:
                    pss_due_ns = now_ns + round((time.thread_time_ns() - before_cpu_ns) / PSS_COST_SHARE)
                missed = (time.monotonic_ns() - due_ns) // self._interval_ns
                due_ns += self._interval_ns * (missed + 1)
        except BaseException as error:
            taken.failure = error
        finally:
            taken.cost_ns = time.thread_time_ns() - began_cpu_ns

    def _refresh(self) -> None:
        for name, pids in self._subjects.items():
            self._readers[name].watch(pids())

    def _sample(self, *, with_pss: bool, all_counters: bool) -> None:
        for name, reader in self._readers.items():
            counters = reader.read(with_pss=with_pss)
            self._taken.processes[name].append(counters)
            if counters.processes == 0:
                self._taken.ended.setdefault(name, counters.time_ns)
        self._taken.machine.append(self._machine_reader.read(all_counters=all_counters))


def _table(taken: _Taken) -> pa.Table:
    rows: list[dict[str, Any]] = []
    for name, readings in taken.processes.items():
        rows.extend(_process_row(name, readings, index) for index in range(len(readings)))
    rows.extend(_machine_row(taken.machine, index) for index in range(len(taken.machine)))
    return pa.Table.from_pylist(rows, schema=SERIES_SCHEMA).sort_by("time_ns")


def _process_row(subject: str, readings: Sequence[ProcessCounters], index: int) -> dict[str, Any]:
    now, before = readings[index], readings[max(0, index - 1)]
    elapsed_ns = now.time_ns - before.time_ns
    return {
        "time_ns": now.time_ns,
        "subject": subject,
        "cpu_us": now.cpu_ns / 1000,
        "cpu_share": (now.cpu_ns - before.cpu_ns) / elapsed_ns if elapsed_ns > 0 else 0.0,
        "rss_bytes": now.rss_bytes,
        "pss_bytes": now.pss_bytes,
        "threads": now.threads,
        "processes": now.processes,
    }


def _machine_row(readings: Sequence[MachineCounters], index: int) -> dict[str, Any]:
    now, before = readings[index], readings[max(0, index - 1)]
    busy = busy_by_cpu(before, now)
    interfaces = now.interfaces.values()
    return {
        "time_ns": now.time_ns,
        "subject": MACHINE,
        "cpu_share": sum(busy.values()),
        "busy_by_cpu": [busy.get(number, 0.0) for number in sorted(now.cpus)],
        "steal_share": steal_share(before, now),
        "packets_in": sum(item.packets_in for item in interfaces),
        "packets_out": sum(item.packets_out for item in interfaces),
        "bytes_in": sum(item.bytes_in for item in interfaces),
        "bytes_out": sum(item.bytes_out for item in interfaces),
        "udp_receive_errors": now.udp_receive_errors,
        "udp_receive_buffer_errors": now.udp_receive_buffer_errors,
        "udp_sockets": now.udp_sockets,
        "tcp_sockets": now.tcp_sockets,
        "tcp_time_wait": now.tcp_time_wait,
    }
