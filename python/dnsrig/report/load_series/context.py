"""What a file of intervals says about the load that they are of."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dnsrig.loads import LoadSettings

ALL_TRANSPORTS = "all"
"""Name of the figures over all transports of a load that has several."""


@dataclass(frozen=True, slots=True)
class LoadContext:
    """What is known of a load before it begins."""

    argv: tuple[str, ...]
    """The command line, `dnsrig` first."""
    settings: LoadSettings


class LoadClock:
    """The time of day at which a load's intervals began.

    The load itself counts from its start. The time of day of that start is found once, when the first interval is
    passed on: its end is not later than then, and earlier by no more than that takes.
    """

    def __init__(self, now_ns: Callable[[], int] = time.time_ns) -> None:
        self._now_ns = now_ns
        self._start_ns: int | None = None

    def saw_end_of(self, interval: Mapping[str, Any]) -> None:
        """Take note that `interval` has just ended; only the first call counts."""
        if self._start_ns is None:
            self._start_ns = self._now_ns() - _nanoseconds(interval["start_s"] + interval["length_s"])

    def at_ns(self, since_start_s: float) -> int:
        """Give a time of the load in nanoseconds since 1970-01-01 00:00:00 UTC."""
        if self._start_ns is None:
            raise ValueError("no interval has been seen yet")
        return self._start_ns + _nanoseconds(since_start_s)


def transport_names(parts: Sequence[Mapping[str, Any]]) -> list[str]:
    """Name the transports of a load with several; the second of a kind is called udp#2, as the load lists them."""
    names: list[str] = []
    seen: dict[str, int] = {}
    for part in parts:
        kind = str(part["transport"])
        seen[kind] = seen.get(kind, 0) + 1
        names.append(kind if seen[kind] == 1 else f"{kind}#{seen[kind]}")
    return names


def _nanoseconds(seconds: float) -> int:
    return round(seconds * 1e9)
