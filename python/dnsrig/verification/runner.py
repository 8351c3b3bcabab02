"""Running items against a subject."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Protocol

from dnsrig.verification.item import Item, KnownItem
from dnsrig.verification.verdicts import Outcome, inconclusive, not_applicable

AT_ONCE = 8
"""Items that run at a time: most of their time is spent waiting."""


class Subject(Protocol):
    """What items are run against."""

    def lacks(self, need: str) -> str | None:
        """Say, as a sentence, why the subject has not what an item needs; None if it has."""
        ...

    def silence(self) -> str:
        """Say, as a sentence, that the target does not answer even the simplest question any more; "" if it does."""
        ...


@dataclass(frozen=True, slots=True)
class Result:
    """What became of an item."""

    item: Item
    outcome: Outcome
    elapsed_s: float = 0.0


def run_items(
    items: Sequence[KnownItem], subject: Subject, tell: Callable[[Result], None] = lambda _: None
) -> list[Result]:
    """Run the items, several at a time but those that run alone, and give their results in the order of `items`.

    `tell` is called with each result as it comes, from the calling thread.
    """
    results: dict[str, Result] = {}
    stop = threading.Event()
    pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="item")
    try:
        for together in _in_turn(items):
            waiting: dict[Future[Result], KnownItem] = {
                pool.submit(_run_unless, stop, known, subject): known for known in together
            }
            while waiting:
                # A time-out lets signals through.
                done, _ = wait(waiting, timeout=0.1, return_when=FIRST_COMPLETED)
                for future in done:
                    known = waiting.pop(future)
                    results[known.item.id] = future.result()
                    tell(results[known.item.id])
    finally:
        stop.set()
        pool.shutdown(wait=False, cancel_futures=True)
    return [results[known.item.id] for known in items]


def _in_turn(items: Sequence[KnownItem]) -> Sequence[Sequence[KnownItem]]:
    """Give what may run at the same time, then each item that runs alone."""
    return [[known for known in items if not known.item.runs_alone], *([one] for one in items if one.item.runs_alone)]


def _run_unless(stop: threading.Event, known: KnownItem, subject: Subject) -> Result:
    if stop.is_set():
        return Result(known.item, inconclusive("It was interrupted."))
    return run_item(known, subject)


def run_item(known: KnownItem, subject: Subject) -> Result:
    """Run one item."""
    for need in known.item.needs:
        lacking = subject.lacks(need)
        if lacking is not None:
            return Result(known.item, not_applicable(lacking))
    return Result(known.item, known.check(subject))
