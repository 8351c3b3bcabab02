"""Readers of a set of processes and of the machine, which keep their files open between readings."""

import os
import time
from collections.abc import Collection, Iterable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Protocol

from dnsrig.monitor.cgroup import Cgroup, own_cgroup
from dnsrig.monitor.files import KeptFile, open_kept
from dnsrig.monitor.proc import (
    TICKS_PER_S,
    ProcessStat,
    count_time_wait,
    parse_cpu_stat,
    parse_net_dev,
    parse_process_stat,
    parse_smaps_rollup,
    parse_snmp,
    parse_snmp6,
    parse_sockstat,
)
from dnsrig.monitor.usage import MachineCounters, ProcessCounters, process_usage

_PROC = Path("/proc")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_TICK_NS = 1_000_000_000 // TICKS_PER_S
CPU_FROM_CLOCKS = "process CPU clocks"


class ProcessReader:
    """Counts what one process used. Its files stay open, so that a re-used process number cannot deceive."""

    def __init__(self, pid: int) -> None:
        """Open the files of process `pid`. Raises OSError when there is no such process."""
        self.pid = pid
        self._stat = KeptFile(_PROC / str(pid) / "stat")
        self._rollup = open_kept(_PROC / str(pid) / "smaps_rollup")
        self._last_cpu_ns = 0
        self.parent = 0
        self.last_total_ns = 0

    def read(self) -> tuple[ProcessStat, int] | None:
        """Return the state and the CPU time in ns, threads that ended included; None once it is reaped.

        The kernel's CPU clock of a process (clock_getcpuclockid(3)) counts in ns, in one system call, the
        threads that run at this moment and those that ended; /proc/PID/task/*/schedstat does neither.
        """
        try:
            stat = parse_process_stat(self._stat.read())
            self._last_cpu_ns = time.clock_gettime_ns(process_clock(self.pid))
        except (OSError, ValueError):
            return None
        self.parent = stat.parent
        self.last_total_ns = self._last_cpu_ns + stat.reaped_ticks * _TICK_NS
        return stat, self.last_total_ns

    def pss_bytes(self) -> int | None:
        """Return the proportional set size; None where it may not be read or the process has ended."""
        if self._rollup is None:
            return None
        try:
            return parse_smaps_rollup(self._rollup.read()).get("Pss")
        except (OSError, ValueError):
            return None

    def close(self) -> None:
        """Close the process's files."""
        self._stat.close()
        if self._rollup is not None:
            self._rollup.close()


class GroupReader:
    """Counts what a changing set of processes used together, as one subject."""

    def __init__(self) -> None:
        self._readers: dict[int, ProcessReader] = {}
        # CPU time of processes that ended without a watched parent that would account for them.
        self._ended_ns = 0
        self._floor_ns = 0
        self._cgroup: Cgroup | None = None

    @property
    def cpu_source(self) -> str:
        """Where the CPU time comes from, in words."""
        return CPU_FROM_CLOCKS if self._cgroup is None else f"cgroup v{self._cgroup.version}"

    def watch(self, pids: Collection[int]) -> None:
        """Set which processes are watched from now on; those that ended stay counted."""
        for pid in pids:
            if pid not in self._readers:
                try:
                    self._readers[pid] = ProcessReader(pid)
                except OSError:
                    continue

    def use_cgroup(self) -> None:
        """Take CPU time from the processes' own control group, where they have one."""
        self._cgroup = own_cgroup(self._readers.keys())

    def read(self, *, with_pss: bool) -> ProcessCounters:
        """Return the counters of all watched processes together, CPU time first."""
        cpu_ns, rss_pages, threads, alive = self._ended_ns, 0, 0, 0
        for pid, reader in list(self._readers.items()):
            found = reader.read()
            if found is None:
                cpu_ns += self._forget(pid)
                continue
            stat, total_ns = found
            cpu_ns += total_ns
            if not stat.ended:
                alive += 1
                threads += stat.threads
                rss_pages += stat.rss_pages
        time_ns = time.monotonic_ns()
        if self._cgroup is not None:
            try:
                cpu_ns = self._cgroup.cpu_ns()
            except (OSError, ValueError):
                self._cgroup = None
        # A child's time moves to its parent in clock ticks only: never let the sum go back for that.
        self._floor_ns = max(self._floor_ns, cpu_ns)
        return ProcessCounters(
            time_ns=time_ns,
            cpu_ns=self._floor_ns,
            rss_bytes=rss_pages * _PAGE_BYTES,
            pss_bytes=self._pss_bytes() if with_pss and alive else None,
            threads=threads,
            processes=alive,
            cpu_source=self.cpu_source,
        )

    def close(self) -> None:
        """Close all files."""
        for reader in self._readers.values():
            reader.close()
        self._readers.clear()

    def _forget(self, pid: int) -> int:
        """Drop a process that is gone; return its CPU time if no watched parent has taken it over."""
        reader = self._readers.pop(pid)
        reader.close()
        if reader.parent in self._readers:
            return 0
        self._ended_ns += reader.last_total_ns
        return reader.last_total_ns

    def _pss_bytes(self) -> int | None:
        sizes = [reader.pss_bytes() for reader in self._readers.values()]
        known = [size for size in sizes if size is not None]
        return sum(known) if known else None


class MachineReader:
    """Counts what the machine and a network namespace did: that of process `network_of`, or this process's."""

    _NETWORK = ("dev", "snmp", "snmp6", "sockstat", "sockstat6")

    def __init__(self, network_of: int | None = None) -> None:
        network = _PROC / ("self" if network_of is None else str(network_of)) / "net"
        with ExitStack() as opened:
            self._stat = KeptFile(_PROC / "stat")
            opened.callback(self._stat.close)
            self._network: dict[str, KeptFile] = {}
            for name in self._NETWORK:
                file = open_kept(network / name)
                if file is not None:
                    opened.callback(file.close)
                    self._network[name] = file
            self._opened = opened.pop_all()
        self._udp = self._read_udp()

    def read(self, *, all_counters: bool) -> MachineCounters:
        """Return the machine's counters; those of the network are 0 where the kernel has none.

        Without `all_counters`, UDP errors and numbers of sockets are those of the last time with them.
        """
        if all_counters:
            self._udp = self._read_udp()
        began_ns = time.monotonic_ns()
        stat = self._stat.read()
        return MachineCounters(
            # What was read is of about the middle.
            time_ns=(began_ns + time.monotonic_ns()) // 2,
            cpus=parse_cpu_stat(stat),
            interfaces=parse_net_dev(self._text("dev")),
            **self._udp,
        )

    def _read_udp(self) -> dict[str, int]:
        udp = parse_snmp(self._text("snmp"), "Udp")
        udp6 = parse_snmp6(self._text("snmp6"), "Udp6")
        sockets = parse_sockstat(self._text("sockstat"))
        sockets6 = parse_sockstat(self._text("sockstat6"))

        def both(name: str) -> int:
            return udp.get(name, 0) + udp6.get(name, 0)

        return {
            "udp_receive_errors": both("InErrors"),
            "udp_receive_buffer_errors": both("RcvbufErrors"),
            "udp_send_buffer_errors": both("SndbufErrors"),
            "udp_no_ports": both("NoPorts"),
            "udp_sockets": _in_use(sockets, "UDP") + _in_use(sockets6, "UDP6"),
            "tcp_sockets": _in_use(sockets, "TCP") + _in_use(sockets6, "TCP6"),
            "tcp_time_wait": sockets.get("TCP", {}).get("tw", 0),
        }

    def _text(self, name: str) -> bytes:
        file = self._network.get(name)
        return b"" if file is None else file.read()

    def close(self) -> None:
        """Close all files."""
        self._opened.close()


class TimeWaitReader:
    """Counts connections in TIME-WAIT in the network namespace of a process, but those of its loopback device."""

    def __init__(self, network_of: int) -> None:
        paths = (_PROC / str(network_of) / "net" / name for name in ("tcp", "tcp6"))
        self._files = [file for file in map(open_kept, paths) if file is not None]

    def read(self, longest_ago_s: float) -> int:
        """Count those that came to it at most so long ago, by any process, a server that has ended included."""
        return sum(count_time_wait(file.read(), longest_ago_s) for file in self._files)

    def close(self) -> None:
        """Close all files."""
        for file in self._files:
            file.close()


def read_counters(pids: Collection[int]) -> ProcessCounters:
    """Read the counters of a set of processes once, PSS included, for an exact window around a load."""
    reader = GroupReader()
    try:
        reader.watch(pids)
        reader.use_cgroup()
        return reader.read(with_pss=True)
    finally:
        reader.close()


class LargestRss(Protocol):
    """What `usage` needs of a monitor's samples."""

    def largest_rss_bytes(self, subject: str) -> int:
        """Return the largest RSS of all samples of `subject`."""


def usage(
    before: ProcessCounters,
    after: ProcessCounters,
    samples: LargestRss | None = None,
    subject: str | None = None,
) -> dict[str, Any]:
    """Return what processes used between two readings; `samples` of `subject` give its largest RSS."""
    used = process_usage(before, after)
    if samples is not None and subject is not None:
        used["rss_bytes_max"] = max(used["rss_bytes_max"], samples.largest_rss_bytes(subject))
    return used


def _in_use(sockets: Mapping[str, Mapping[str, int]], protocol: str) -> int:
    return sockets.get(protocol, {}).get("inuse", 0)


def process_clock(pid: int) -> int:
    """Return the clock id of a process's CPU time, as clock_getcpuclockid(3) makes it (CPUCLOCK_SCHED)."""
    return (~pid << 3) | 2


def cpu_time_s(pids: Iterable[int]) -> float:
    """Return the CPU time of processes in seconds, ended threads included; those that have ended count nothing."""
    total_ns = 0
    for pid in pids:
        with suppress(OSError):
            total_ns += time.clock_gettime_ns(process_clock(pid))
    return total_ns / 1e9
