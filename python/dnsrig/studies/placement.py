"""Which processors the server and the generator run on."""

import os
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Placement:
    """Sets of processor numbers; disjoint where the machine has two or more."""

    server: frozenset[int]
    generator: frozenset[int]

    @property
    def remark(self) -> str:
        """Say in one sentence who runs where."""
        if self.server & self.generator:
            return "server and generator share one processor: rates and latencies are of both together"
        return f"server on processor {_text(self.server)}, generator and monitor on {_text(self.generator)}"


def place(server_threads: int) -> Placement:
    """Give the server one processor a thread from the lowest number up, the generator what is left, at least one."""
    available = sorted(os.sched_getaffinity(0))
    if len(available) == 1:
        return Placement(frozenset(available), frozenset(available))
    count = min(server_threads, len(available) - 1)
    return Placement(frozenset(available[:count]), frozenset(available[count:]))


def _text(processors: frozenset[int]) -> str:
    return ", ".join(str(number) for number in sorted(processors))
