"""Long waits that pass side by side, while whatever else there is to do goes on."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack
from types import TracebackType
from typing import Generic, Self, TypeVar

from dnsrig.endings import LOOK_S, Endings
from dnsrig.held_signals import held_signals
from dnsrig.verification.stopping import Stop, thread_pool

Key = TypeVar("Key")
Found = TypeVar("Found")
MOST = 8
"""Waits at a time: each has servers and namespaces."""


class SideBySide(Generic[Key, Found]):
    """Work that does little but wait, each in a thread. Use it as a context manager.

    An error in its block ends what all of them wait for, and it is left when they have put away what they hold.
    """

    def __init__(self) -> None:
        self._stop = Stop()
        self._pool = thread_pool(MOST, "waiting", self._stop)
        self._under_way: dict[Future[Found], Key] = {}
        self._endings: Endings[Future[Found]] = Endings()
        self._ended: list[Future[Found]] = []
        """What has ended, and was not taken yet."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._stop.set()
        self._pool.shutdown(wait=True)

    @property
    def waiting(self) -> list[Key]:
        """What has begun and was not taken yet, in its order."""
        return list(self._under_way.values())

    def begin(self, key: Key, held: ExitStack, work: Callable[[], Found]) -> None:
        """Start work that needs what `held` holds, and puts it away at its end; waits while there is much already."""

        def work_and_put_away(stack: ExitStack) -> Found:
            with stack:
                return work()

        while len(self._under_way) - len(self._ended) >= MOST:
            self._look(LOOK_S)
        with held_signals():
            future = self._pool.submit(work_and_put_away, held.pop_all())
            self._under_way[future] = key
            self._endings.add(future)

    def ended(self) -> Iterator[tuple[Key, Future[Found]]]:
        """Give what has ended by now."""
        while self._look(0.0):
            pass
        yield from self._taken()

    def rest(self) -> Iterator[tuple[Key, Future[Found]]]:
        """Wait for all, and give each as it ends."""
        while self._under_way:
            self._look(LOOK_S)
            yield from self._taken()

    def _look(self, timeout_s: float) -> bool:
        """Say whether another one ends in time, and note it."""
        ended = self._endings.next(timeout_s)
        if ended is not None:
            self._ended.append(ended)
        return ended is not None

    def _taken(self) -> Iterator[tuple[Key, Future[Found]]]:
        while self._ended:
            future = self._ended.pop(0)
            yield self._under_way.pop(future), future
