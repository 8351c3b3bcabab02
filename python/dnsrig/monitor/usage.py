"""Cumulative counters of processes and of the machine, and what was used between two readings."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from dnsrig.monitor.proc import TICKS_PER_S, CpuTicks, Interface

_ROUNDED_TICKS = 3
"""What idle time, waiting for devices and steal may be rounded by together."""


@dataclass(frozen=True, slots=True)
class ProcessCounters:
    """A set of processes, exact at `time_ns` (CLOCK_MONOTONIC).

    `cpu_ns` is user and system time of all threads and of children, also of those that ended; `rss_bytes`,
    `threads` and `processes` count those alive. `pss_bytes` is None where it wasn't or may not be read.
    `cpu_source` says in words where the CPU time comes from.
    """

    time_ns: int
    cpu_ns: int
    rss_bytes: int
    pss_bytes: int | None
    threads: int
    processes: int
    cpu_source: str


@dataclass(frozen=True, slots=True)
class MachineCounters:
    """The machine and this network namespace at `time_ns`; UDP counters are of IPv4 and IPv6 together.

    `udp_receive_errors` includes `udp_receive_buffer_errors`, the datagrams dropped because a socket's
    receive buffer was full.
    """

    time_ns: int
    cpus: Mapping[int, CpuTicks]
    interfaces: Mapping[str, Interface]
    udp_receive_errors: int
    udp_receive_buffer_errors: int
    udp_send_buffer_errors: int
    udp_no_ports: int
    udp_sockets: int
    tcp_sockets: int
    tcp_time_wait: int


_UDP_COUNTERS = ("udp_receive_errors", "udp_receive_buffer_errors", "udp_send_buffer_errors", "udp_no_ports")


def process_usage(before: ProcessCounters, after: ProcessCounters) -> dict[str, Any]:
    """Return what the processes used between two readings; shares are of one CPU (1.0: one CPU busy)."""
    wall_ns = max(1, after.time_ns - before.time_ns)
    cpu_ns = after.cpu_ns - before.cpu_ns
    return {
        "wall_us": wall_ns / 1000,
        "cpu_us": cpu_ns / 1000,
        "cpu_share": cpu_ns / wall_ns,
        "cpu_source": after.cpu_source,
        "rss_bytes_max": max(before.rss_bytes, after.rss_bytes),
        "pss_bytes": after.pss_bytes if after.pss_bytes is not None else before.pss_bytes,
        "threads": after.threads,
        "processes": after.processes,
    }


def machine_usage(before: MachineCounters, after: MachineCounters) -> dict[str, Any]:
    """Return what the machine did between two readings.

    `cpu_share` is the sum over its CPUs (2.0: two busy ones), `steal_share` the part of all CPU time that a
    hypervisor gave to others. `packets_in` and the like are sums over all interfaces; on loopback every
    packet counts once out and once in.
    """
    interfaces = {
        name: _difference(before.interfaces[name], counters)
        for name, counters in after.interfaces.items()
        if name in before.interfaces
    }
    return {
        "wall_us": (after.time_ns - before.time_ns) / 1000,
        "cpu_share": sum(busy_by_cpu(before, after).values()),
        "busy_by_cpu": {str(number): share for number, share in busy_by_cpu(before, after).items()},
        "steal_share": steal_share(before, after),
        **{
            name: sum(counters[name] for counters in interfaces.values())
            for name in ("packets_in", "packets_out", "bytes_in", "bytes_out")
        },
        "interfaces": {name: counters for name, counters in interfaces.items() if any(counters.values())},
        **{name: getattr(after, name) - getattr(before, name) for name in _UDP_COUNTERS},
        "udp_sockets": after.udp_sockets,
        "tcp_sockets": after.tcp_sockets,
        "tcp_time_wait": after.tcp_time_wait,
    }


def busy_by_cpu(before: MachineCounters, after: MachineCounters) -> dict[int, float]:
    """Return each CPU's busy share between two readings, interrupts included, in steps of 10 ms (see `CpuTicks`)."""
    wall = _wall_ticks(before, after)
    shares = {}
    for number, ticks in after.cpus.items():
        if number in before.cpus:
            then = before.cpus[number]
            free = ticks.idle - then.idle + ticks.steal - then.steal
            # That of a CPU that was offline meanwhile may begin anew.
            if free >= -_ROUNDED_TICKS:
                shares[number] = min(max(1 - free / wall, 0.0), 1.0) if wall > 0 else 0.0
    return shares


def steal_share(before: MachineCounters, after: MachineCounters) -> float:
    """Return the share of all CPU time that a hypervisor took away between two readings."""
    common = before.cpus.keys() & after.cpus.keys()
    stolen = sum(after.cpus[number].steal - before.cpus[number].steal for number in common)
    total = _wall_ticks(before, after) * len(common)
    return min(max(stolen / total, 0.0), 1.0) if total > 0 else 0.0


def _wall_ticks(before: MachineCounters, after: MachineCounters) -> float:
    """Return the time between two readings in the ticks of `CpuTicks`."""
    return (after.time_ns - before.time_ns) * TICKS_PER_S / 1e9


def other_cpu_share(machine: Mapping[str, Any], *processes: Mapping[str, Any]) -> float:
    """Return how many CPUs others than `processes` kept busy; all are usages with a `cpu_share`, 0 where one has none.

    Work that the kernel does outside of any process, such as interrupts, counts here too.
    """
    shares = [used.get("cpu_share") for used in (machine, *processes)]
    if any(share is None for share in shares):
        return 0.0
    return max(0.0, float(shares[0] or 0) - sum(float(share or 0) for share in shares[1:]))


def _difference(before: Interface, after: Interface) -> dict[str, int]:
    earlier = asdict(before)
    return {name: value - earlier[name] for name, value in asdict(after).items()}
