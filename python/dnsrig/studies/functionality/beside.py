"""Cases that begin one after the other, and whose long waits pass side by side."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from types import TracebackType
from typing import Generic, Self, TypeVar

from dnsrig.verification.stopping import Stop, thread_pool

Key = TypeVar("Key")
Found = TypeVar("Found")
Work = Callable[[Callable[[], None]], Found]
"""Calls what it is given once it does nothing but wait, so that the next may begin."""
MOST = 8
"""Cases at a time: each has servers and namespaces."""
LET_SIGNALS_THROUGH_S = 0.1


class SideBySide(Generic[Key, Found]):
    """Begins work in threads, the next once the one before has ended or only waits. Use it as a context manager.

    An error in its block ends what all of them wait for, and it is left when they have put away what they had started.
    """

    def __init__(self) -> None:
        self._stop = Stop()
        self._pool = thread_pool(MOST, "case", self._stop)
        self._under_way: dict[Future[Found], Key] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)

    @property
    def waiting(self) -> list[Key]:
        """What has begun and was not taken yet, in its order."""
        return list(self._under_way.values())

    def begin(self, key: Key, work: Work[Found]) -> None:
        """Start work, and return once it has ended or only waits."""
        free = threading.Event()
        future = self._pool.submit(work, free.set)
        self._under_way[future] = key
        future.add_done_callback(lambda _: free.set())
        while not free.wait(LET_SIGNALS_THROUGH_S):
            pass

    def ended(self) -> Iterator[tuple[Key, Future[Found]]]:
        """Give what has ended by now."""
        yield from self._taken([future for future in self._under_way if future.done()])

    def rest(self) -> Iterator[tuple[Key, Future[Found]]]:
        """Wait for all, and give each as it ends."""
        while self._under_way:
            done, _ = wait(self._under_way, LET_SIGNALS_THROUGH_S, FIRST_COMPLETED)
            yield from self._taken([future for future in self._under_way if future in done])

    def _taken(self, futures: list[Future[Found]]) -> Iterator[tuple[Key, Future[Found]]]:
        for future in futures:
            yield self._under_way.pop(future), future
