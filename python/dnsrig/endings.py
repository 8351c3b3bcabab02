"""Waiting for work in other threads."""

from collections.abc import Callable, Collection, Iterable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

LOOK_S = 0.1
"""How often who waits is to look for signals: one that comes just before it begins to wait does not wake it."""
Found = TypeVar("Found", bound="Future[Any]")


class Endings(Generic[Found]):
    """Tells which of some futures have ended, each once, in their order.

    Waiting for the next of a thousand costs no more than for the last; `concurrent.futures.wait` takes the locks of all
    of them each time.
    """

    def __init__(self, futures: Iterable[Found] = ()) -> None:
        self._ended: SimpleQueue[Found] = SimpleQueue()
        for future in futures:
            self.add(future)

    def add(self, future: Found) -> None:
        """Look at one more, which may have ended already."""
        future.add_done_callback(lambda _: self._ended.put(future))

    def next(self, timeout_s: float) -> Found | None:
        """Give the next one that has ended; None if none does in time."""
        try:
            return self._ended.get(timeout=timeout_s)
        except Empty:
            return None


def wait_for(futures: "Collection[Future[Any]]", look: Callable[[], object]) -> None:
    """Wait until all have ended; `look`, which may raise, is called each LOOK_S, and when one has."""
    endings, left = Endings(futures), len(futures)
    while left:
        left -= endings.next(LOOK_S) is not None
        look()
