"""What happens second by second while a load runs: upstream queries, sockets, packets, octets, CPU, memory."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import pairwise
from typing import Any

from dnsrig.errors import SubjectFailedError
from dnsrig.monitor.counters import GroupReader, MachineReader, TimeWaitReader
from dnsrig.monitor.usage import MachineCounters, ProcessCounters
from dnsrig.servers.resolvers.counts import ResolverCounts
from dnsrig.studies.resolving.place import CLIENTS_DEVICE, INTERNET_DEVICE, Place

SIDES: Mapping[str, str] = {"clients": CLIENTS_DEVICE, "internet": INTERNET_DEVICE}
"""The resolver's links, by the words that stand for them in the names of series."""
WIRE_COUNTERS: Mapping[str, str] = {
    "packets_in": "packets_in",
    "packets_out": "packets_out",
    "octets_in": "bytes_in",
    "octets_out": "bytes_out",
}
"""Names of series by second, with the counters of an interface."""
TIME_WAIT = "tcp_time_wait"
SOCKETS = ("udp_sockets", "tcp_sockets", TIME_WAIT)
SHORTEST_S = 0.5
"""Of shorter intervals rates say nothing."""


def is_second(row: Mapping[str, Any]) -> bool:
    """Say whether an interval of a load is one at whose end there is a reading."""
    return bool(row.get("phase", "measure") != "drain" and row.get("length_s", 1.0) >= SHORTEST_S)


class Timeline(AbstractContextManager["Timeline"]):
    """Readings of a resolver and its namespace, one a second, from its making on, or from `begin` on.

    Args:
        place: where the resolver and the Internet are.
        pids: the resolver's processes.
        counts: asks the resolver what it has counted, where that is to be read each second too.
        began_s: when the load began, of which this may be a later part, by `time.monotonic`; None: not yet.

    """

    def __init__(
        self,
        place: Place,
        pids: Sequence[int],
        counts: Callable[[], ResolverCounts] | None = None,
        began_s: Callable[[], float | None] = lambda: None,
    ) -> None:
        self._place = place
        self._began_s = began_s
        self._time_wait = TimeWaitReader(pids[0])
        self._counts = counts
        self._counted: list[ResolverCounts | None] = []
        self._machine = MachineReader(pids[0])
        self._processes = GroupReader()
        self._processes.watch(pids)
        self._readings: list[tuple[float, int, MachineCounters, ProcessCounters, int]] = []
        """When, upstream queries, the namespace's counters, the resolver's, its connections in TIME-WAIT."""
        self._elapsed_s = 0.0
        self._read()

    def begin(self, elapsed_s: float) -> None:
        """Begin anew, as the load began so many seconds ago: before it a query shows that the resolver answers."""
        self._readings.clear()
        self._counted.clear()
        self._elapsed_s = elapsed_s
        self._read()

    def note(self, row: Mapping[str, Any]) -> None:
        """Take a reading at the end of an interval of the load, unless queries were no longer sent or it is short."""
        if is_second(row):
            self._read()

    def _read(self) -> None:
        if self._counts is not None:
            self._counted.append(_counted(self._counts))
        now_s, began_s = time.monotonic(), self._began_s()
        self._readings.append(
            (
                now_s,
                self._place.upstream_queries(),
                self._machine.read(all_counters=True),
                self._processes.read(with_pss=False),
                0 if began_s is None else self._time_wait.read(now_s - began_s),
            )
        )

    def __exit__(self, *_: object) -> None:
        """Close all files."""
        self._machine.close()
        self._time_wait.close()
        self._processes.close()

    @property
    def between_ns(self) -> tuple[int, int] | None:
        """When its first reading was, and its last, by CLOCK_MONOTONIC; None if there is but one."""
        if len(self._readings) < 2:
            return None
        first, last = self._readings[0][0], self._readings[-1][0]
        return round(first * 1e9), round(last * 1e9)

    @property
    def upstream_by_second(self) -> list[int]:
        """Give the upstream queries between each two readings."""
        counts = [upstream for _, upstream, *_ in self._readings]
        return [count - before for before, count in pairwise(counts)]

    @property
    def hit_share_by_second(self) -> list[float | None]:
        """Give the share of cache hits of the queries between each two readings; None where it is not known."""
        return [
            None if before is None or counts is None else counts.hit_share_since(before)
            for before, counts in pairwise(self._counted)
        ]

    def by_second(self) -> dict[str, list[Any]]:
        """Give the series, all of one length, as a measurement holds them.

        `time_s` counts from the beginning on; `cpu_share` is that since the reading before, of one CPU; sockets and
        `memory_octets` (resident) are those at that time; packets and octets are rates per second since the reading
        before, as the resolver sends and receives them. Of connections in TIME-WAIT only those count that the load led
        to: others of the namespace are of loads before, or of questions of the rig's own.
        """
        series: dict[str, list[Any]] = {
            "time_s": [],
            "cpu_share": [],
            "memory_octets": [],
            **{name: [] for name in SOCKETS},
            **{f"{side}_{name}": [] for side in SIDES for name in WIRE_COUNTERS},
        }
        began = self._readings[0][0] - self._elapsed_s
        for before, now in pairwise(self._readings):
            series["time_s"].append(round(now[0] - began, 3))
            elapsed_ns = now[3].time_ns - before[3].time_ns
            used = (now[3].cpu_ns - before[3].cpu_ns) / elapsed_ns if elapsed_ns > 0 else 0.0
            series["cpu_share"].append(round(used, 3))
            series["memory_octets"].append(now[3].rss_bytes)
            for name in SOCKETS:
                series[name].append(now[4] if name == TIME_WAIT else getattr(now[2], name))
            for key, rate in _rates(before[2], now[2], now[0] - before[0]).items():
                series[key].append(rate)
        return series


def _counted(counts: Callable[[], ResolverCounts]) -> ResolverCounts | None:
    """Ask for counts; None from a resolver that does not say now, which is told of when the load has ended."""
    try:
        return counts()
    except SubjectFailedError:
        return None


def _rates(before: MachineCounters, now: MachineCounters, elapsed_s: float) -> dict[str, float]:
    """Give packets and octets per second of both links; 0 for a link that is not there."""
    found = {}
    for side, device in SIDES.items():
        ends = before.interfaces.get(device), now.interfaces.get(device)
        for name, counter in WIRE_COUNTERS.items():
            first, last = (0 if end is None else getattr(end, counter) for end in ends)
            found[f"{side}_{name}"] = round((last - first) / elapsed_s, 1) if elapsed_s > 0 else 0.0
    return found
