"""Which processors the server and the generator run on."""

import os
from collections.abc import Iterator, Set
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Placement:
    """Sets of processor numbers; disjoint where the machine has two or more."""

    server: frozenset[int]
    generator: frozenset[int]
    server_threads: int = field(default=1, compare=False)

    @property
    def is_crowded(self) -> bool:
        """Whether the server has more threads than processors: they measure how they take turns, too."""
        return self.server_threads > len(self.server)

    @property
    def remark(self) -> str:
        """Say in one sentence who runs where."""
        if self.server & self.generator:
            return "server and generator share one processor: rates and latencies are of both together"
        server = f"the {self.server_threads} threads of the server share" if self.is_crowded else "server on"
        return f"{server} processor {_text(self.server)}, generator and monitor on {_text(self.generator)}"


def place(server_threads: int, most_threads: int | None = None) -> Placement:
    """Give the server one processor a thread from the lowest number up, the generator what is left, at least one.

    With `most_threads`, the generator gets what a server of so many threads would leave it: in a series over numbers
    of threads it then has the same processors throughout.
    """
    available = sorted(os.sched_getaffinity(0))
    if len(available) == 1:
        return Placement(frozenset(available), frozenset(available), server_threads)
    count, most = (min(threads, len(available) - 1) for threads in (server_threads, most_threads or server_threads))
    return Placement(frozenset(available[:count]), frozenset(available[most:]), server_threads)


@contextmanager
def kept_to(processors: Set[int] | None = None) -> Iterator[None]:
    """Keep this thread, and those that it starts, to some processors, if any; it has again afterwards what it had."""
    before = os.sched_getaffinity(0)
    try:
        if processors is not None:
            os.sched_setaffinity(0, processors)
        yield
    finally:
        os.sched_setaffinity(0, before)


def _text(processors: frozenset[int]) -> str:
    return ", ".join(str(number) for number in sorted(processors))
