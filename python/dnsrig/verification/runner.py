"""Running items against a subject."""

import math
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from typing import Protocol

from dnsrig.errors import DnsrigError
from dnsrig.verification.item import Item, KnownItem
from dnsrig.verification.stopping import Stop, StoppedError, check_stopped, thread_pool
from dnsrig.verification.verdicts import Evidence, Outcome, inconclusive, not_applicable

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


class RunInterruptedError(KeyboardInterrupt):
    """A run of items was interrupted; `results` are as those of `run_on_each`.

    Items that had not ended are inconclusive in it; `unended` is how many (item, subject) they are.
    """

    def __init__(self, results: list[list[Result]], unended: int) -> None:
        super().__init__()
        self.results = results
        self.unended = unended


def run_items(
    items: Sequence[KnownItem],
    subject: Subject,
    tell: Callable[[Result], None] = lambda _: None,
    limit_s: float | None = None,
) -> list[Result]:
    """Run the items, several at a time but those that run alone, and give their results in the order of `items`.

    Slow ones, most of whose time is a wait, come last.

    `tell` is called with each result as it comes, from the calling thread. What has not ended after `limit_s` is given
    up, and inconclusive.
    """
    return run_on_each(items, [subject], tell, limit_s)[0]


def run_on_each(
    items: Sequence[KnownItem],
    subjects: Sequence[Subject],
    tell: Callable[[Result], None] = lambda _: None,
    limit_s: float | None = None,
) -> list[list[Result]]:
    """Run the items on subjects of one target, such as its zones, at the same time; give the results of each.

    Where it is interrupted, what items wait for is given up, and they put away what they had started.

    Raises:
        RunInterruptedError: it was interrupted.

    """
    results: dict[tuple[int, str], Result] = {}
    by_id = {known.item.id: known.item for known in items}
    stop = Stop()
    ends_s = math.inf if limit_s is None else time.monotonic() + limit_s
    with thread_pool(AT_ONCE * len(subjects), "item", stop) as pool:
        try:
            for together in _in_turn(items, len(subjects)):
                waiting: dict[Future[Result], tuple[int, str]] = {
                    pool.submit(run_item, known, subjects[place]): (place, known.item.id) for place, known in together
                }
                while waiting:
                    # A time-out lets signals through.
                    done, _ = wait(waiting, timeout=0.1, return_when=FIRST_COMPLETED)
                    # This thread may itself be one of a run, such as a study's.
                    check_stopped()
                    if time.monotonic() >= ends_s:
                        stop.set()
                    for future in done:
                        key = waiting.pop(future)
                        results[key] = _result(future, by_id[key[1]], limit_s)
                        tell(results[key])
        except BaseException as error:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            if isinstance(error, KeyboardInterrupt):
                raise _interrupted(items, results, len(subjects)) from None
            raise
    return [[results[place, known.item.id] for known in items] for place in range(len(subjects))]


def _interrupted(
    items: Sequence[KnownItem], results: Mapping[tuple[int, str], Result], subjects: int
) -> RunInterruptedError:
    """Give what was found until a run was interrupted."""
    rest = inconclusive("It had not ended when the run was interrupted.")
    found = [
        [results.get((place, known.item.id)) or Result(known.item, rest) for known in items]
        for place in range(subjects)
    ]
    return RunInterruptedError(found, len(items) * subjects - len(results))


def _result(future: Future[Result], item: Item, limit_s: float | None) -> Result:
    """Give what an item found, or that it was given up."""
    try:
        return future.result()
    except StoppedError:
        if limit_s is None:
            raise
        return Result(
            item, inconclusive(f"It had not ended when all items together had taken {limit_s:g} s; --limit gives more.")
        )


def _in_turn(items: Sequence[KnownItem], subjects: int) -> Sequence[Sequence[tuple[int, KnownItem]]]:
    """Give what may run at the same time, by the subject's place, then each item that runs alone, then slow ones.

    An item is run on all subjects before the next, so that a run that is interrupted has items that ended on all.
    """
    pairs = [(place, known) for known in items for place in range(subjects)]
    alone = [(place, known) for place, known in pairs if known.item.runs_alone]
    together = [(place, known) for place, known in pairs if not known.item.runs_alone and not known.item.is_slow]
    slow = [(place, known) for place, known in pairs if not known.item.runs_alone and known.item.is_slow]
    return [together, *([one] for one in alone), slow]


def run_item(known: KnownItem, subject: Subject) -> Result:
    """Run one item; an error in its code is no verdict, and leaves the others alone."""
    began = time.monotonic()
    try:
        for need in known.item.needs:
            lacking = subject.lacks(need)
            if lacking is not None:
                return Result(known.item, not_applicable(lacking))
        outcome = known.check(subject)
    except StoppedError:
        raise
    except DnsrigError as error:
        outcome = inconclusive(f"{str(error).rstrip('.')}.")
    except Exception as error:
        outcome = _of_error(known.item, error)
    return Result(known.item, outcome, time.monotonic() - began)


def _of_error(item: Item, error: Exception) -> Outcome:
    text = str(error).rstrip(".")
    said = f"{type(error).__name__}: {text}" if text else type(error).__name__
    reason = f"Error in the item ({said}). This is a bug of dnsrig; please report it with the evidence."
    return inconclusive(reason, Evidence(f"Error in {item.id}", "".join(traceback.format_exception(error))))
