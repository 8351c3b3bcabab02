"""Running items against a subject."""

import math
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Protocol, Self

from dnsrig.endings import LOOK_S, Endings, wait_for
from dnsrig.errors import DnsrigError, SubjectFailedError
from dnsrig.held_signals import held_signals
from dnsrig.verification.hearing import Asked, Hearing
from dnsrig.verification.item import Item, KnownItem
from dnsrig.verification.lateness import MACHINE, Late, Lateness
from dnsrig.verification.stopping import Stop, StoppedError, check_stopped, pause, thread_pool
from dnsrig.verification.verdicts import Evidence, Outcome, Verdict, inconclusive, not_applicable

AT_ONCE = 8
"""Items that run at a time: most of their time is spent waiting."""
MOST_AT_ONCE = 16
"""The same on several subjects: each thread waits for the interpreter behind all others, and the rig would be late."""
RETRIES = 2
"""So often an item is run again that failed while the rig was late."""
RETRIED_AT_ONCE = 2
CALM_S, CALM_WAIT_S = 1.0, 10.0
"""Before that the rig is to have been in time for so long, which is waited for so long at most."""


class Subject(Asked, Protocol):
    """What items are run against."""

    def lacks(self, need: str) -> str | None:
        """Say, as a sentence, why the subject has not what an item needs; None if it has."""
        ...

    def renewed(self) -> Self:
        """Give the same subject, of which nothing was asked yet; it forgets what it kept where the rig can see to that.

        No item is running on it.
        """
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


class RunSilencedError(SubjectFailedError):
    """The target answered, and then no more; `results` and `unended` are as those of RunInterruptedError.

    What had not ended says so in its result.
    """

    def __init__(self, silence: str, results: list[list[Result]], unended: int) -> None:
        super().__init__(silence)
        self.results = results
        self.unended = unended


Place = tuple[int, str]
"""The place of a subject, and an item's id."""
Tell = Callable[[Result], None]
Check = Callable[[], None]
"""Raises SubjectFailedError when what the rig started has ended by itself."""


def trust() -> None:
    """See nothing: what is at an address is not the rig's to watch."""


def run_items(
    items: Sequence[KnownItem],
    subject: Subject,
    tell: Tell = lambda _: None,
    limit_s: float | None = None,
    lateness: Lateness | None = None,
) -> list[Result]:
    """Run the items, several at a time but those that run alone, and give their results in the order of `items`.

    Slow ones, most of whose time is a wait, come last.

    `tell` is called with each result as it comes, from the calling thread. What has not ended after `limit_s` is given
    up, and inconclusive.
    """
    return run_on_each(items, [subject], tell, limit_s, lateness)[0]


def run_on_each(
    items: Sequence[KnownItem],
    subjects: Sequence[Subject],
    tell: Tell = lambda _: None,
    limit_s: float | None = None,
    lateness: Lateness | None = None,
    *,
    check: Check = trust,
    is_heard: bool = False,
) -> list[list[Result]]:
    """Run the items on subjects of one target, such as its zones, at the same time; give the results of each.

    What failed while the rig was late, as `lateness` says, is run again when the others have ended; it is inconclusive
    if the rig is late each time. None: nobody looks for that.

    Where `check` raises SubjectFailedError, there is nothing left to ask: what has not ended is given up, inconclusive.

    `is_heard`: the target answers the simplest question. Where it ceases to, while the rig is in time, the run ends.

    Where it is interrupted, what items wait for is given up, and they put away what they had started.

    Raises:
        RunInterruptedError: it was interrupted, or the run that this thread belongs to was stopped.
        RunSilencedError: the target, which was heard, answers no more.

    """
    run = _Run(items, subjects, tell, limit_s, lateness, check=check, hearing=Hearing() if is_heard else None)
    try:
        with (
            held_signals() as run.let_signals_through,
            thread_pool(min(AT_ONCE * len(subjects), MOST_AT_ONCE), "item", run.stop) as pool,
        ):
            try:
                for together in _in_turn(items, len(subjects)):
                    run.take_turn(pool, together)
                run.run_doubted(pool)
                run.listen_at_last(pool)
            except BaseException:
                run.stop.set()
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    except (KeyboardInterrupt, StoppedError):
        raise _interrupted(items, run.results, len(subjects)) from None
    results = [[run.results[_key(place, known)] for known in items] for place in range(len(subjects))]
    if run.silence:
        raise RunSilencedError(run.silence, results, run.unended)
    return results


def count_runs(items: Sequence[KnownItem], subjects: int) -> int:
    """Say how often an item is run in all, on so many subjects."""
    return len(_pairs(items, subjects))


class _Run:
    """One run of items, with what they found till now."""

    def __init__(
        self,
        items: Sequence[KnownItem],
        subjects: Sequence[Subject],
        tell: Tell,
        limit_s: float | None,
        lateness: Lateness | None,
        *,
        check: Check,
        hearing: Hearing | None,
    ) -> None:
        self.stop = Stop()
        self.silence = ""
        self.unended = 0
        """How often an item was given up on a subject."""
        self.let_signals_through: Callable[[], None] = lambda: None
        self.results: dict[Place, Result] = {}
        self._by_id = {known.item.id: known for known in items}
        self._subjects = subjects
        self._tell = tell
        self._check = check
        self._hearing = hearing
        self._given_up = (
            None if limit_s is None else f"when all items together had taken {limit_s:g} s; --limit gives more"
        )
        self._ends_s = math.inf if limit_s is None else time.monotonic() + limit_s
        self._lateness = lateness
        # What an early item found when the rig was late is kept, and later ones rest on it.
        self._began_s = 0.0 if lateness is None else lateness.clock()
        self._doubted: list[Place] = []
        # What failed while the rig was late: that is said in the end where nothing in time tells otherwise.
        self._failed_late: set[Place] = set()
        self._renewed: dict[int, tuple[Subject, float]] = {}

    def take_turn(self, pool: ThreadPoolExecutor, together: Sequence[tuple[int, KnownItem]]) -> None:
        """Run what may run at the same time, for the first time."""
        tasks = {
            pool.submit(self._run_item, known, self._subjects[place]): (place, known.item.id)
            for place, known in together
        }
        for key, result in self._ended(tasks):
            late = self._late_since(self._began_s)
            if late is None or _is_passed(result):
                self._settle(key, result)
            elif self.stop.is_set():
                # There is no time for another try.
                self._settle(key, _doubtful(result, late))
            else:
                self._doubt(key, result, late)

    def _run_item(self, known: KnownItem, subject: Subject) -> Result:
        """Run an item; where that shows that the target is silent, the run ends."""
        result = run_item(known, subject)
        if self._hearing is not None and result.outcome.verdict == Verdict.INCONCLUSIVE:
            self._listen(lambda hearing: hearing.is_lost_after(subject))
        return result

    def listen_at_last(self, pool: ThreadPoolExecutor) -> None:
        """See whether the target is still there, where an item has no verdict."""
        if self.stop.is_set():
            return
        asking = pool.submit(self._listen, lambda hearing: hearing.is_lost_at_last(self._subjects[0]))
        wait_for([asking], self._look)

    def _look(self) -> None:
        self.let_signals_through()
        # This thread may itself be one of a run, such as a study's.
        check_stopped()

    def _listen(self, is_lost: Callable[[Hearing], bool]) -> None:
        """End the run if the target is silent for good; a rig that is late may itself be why."""
        began_s = 0.0 if self._lateness is None else self._lateness.clock()
        if self._hearing is not None and is_lost(self._hearing) and self._late_since(began_s) is None:
            self.silence = self._hearing.silence
            self._given_up = "when the target answered no more"
            self.stop.set()

    def run_doubted(self, pool: ThreadPoolExecutor) -> None:
        """Run again what did not pass while the rig was late, few at a time, until it was in time."""
        for _ in range(RETRIES):
            doubted, self._doubted = self._doubted, []
            if not doubted:
                return
            self._wait_for_calm()
            for together in _few(doubted, self._by_id):
                self._run_again(pool, together)
        for key in self._doubted:
            self._tell(self.results[key])

    def _run_again(self, pool: ThreadPoolExecutor, together: Sequence[Place]) -> None:
        subjects = {place: self._punctual(place) for place, _ in together}
        tasks = {pool.submit(run_item, self._by_id[key[1]], subjects[key[0]][0]): key for key in together}
        for key, result in self._ended(tasks):
            late = self._late_since(subjects[key[0]][1])
            if self.stop.is_set():
                self._settle(key, self.results[key])
            elif late is None or _is_passed(result) or not (_is_failed(result) or key in self._failed_late):
                self._settle(key, result)
            else:
                self._doubt(key, result, late)

    def _doubt(self, key: Place, result: Result, late: Late) -> None:
        """Have an item run again; what is said if that shows no more is the last failure."""
        self._doubted.append(key)
        has_failed = _is_failed(result)
        if has_failed or key not in self._failed_late:
            self.results[key] = _doubtful(result, late)
        if has_failed:
            self._failed_late.add(key)

    def _punctual(self, place: int) -> tuple[Subject, float]:
        """Give a subject of which nothing is known from a time when the rig was late, and since when it is asked."""
        if place not in self._renewed or self._late_since(self._renewed[place][1]) is not None:
            renewed = self._subjects[place].renewed()
            self._renewed[place] = renewed, 0.0 if self._lateness is None else self._lateness.clock()
        return self._renewed[place]

    def _ended(self, tasks: Mapping[Future[Result], Place]) -> Iterator[tuple[Place, Result]]:
        """Give results as they come."""
        waiting, endings = dict(tasks), Endings(tasks)
        while waiting:
            asked_s = time.monotonic()
            future = endings.next(LOOK_S)
            if self._lateness is not None:
                self._lateness.note(MACHINE, time.monotonic() - asked_s - LOOK_S)
            self._look()
            if time.monotonic() >= self._ends_s:
                self.stop.set()
            self._see_whether_there()
            if future is not None:
                key = waiting.pop(future)
                self.unended += isinstance(future.exception(), StoppedError)
                yield key, _result(future, self._by_id[key[1]].item, self._given_up)

    def _see_whether_there(self) -> None:
        if self.stop.is_set():
            return
        try:
            self._check()
        except SubjectFailedError:
            self._given_up = "when the server ended by itself"
            self.stop.set()

    def _settle(self, key: Place, result: Result) -> None:
        self.results[key] = result
        self._tell(result)

    def _late_since(self, began_s: float) -> Late | None:
        return None if self._lateness is None else self._lateness.since(began_s)

    def _wait_for_calm(self) -> None:
        if self._lateness is None:
            return
        deadline = time.monotonic() + CALM_WAIT_S
        while time.monotonic() < min(deadline, self._ends_s):
            if self._lateness.since(self._lateness.clock() - CALM_S) is None:
                return
            pause(LOOK_S)
            self.let_signals_through()


def _is_passed(result: Result) -> bool:
    return result.outcome.verdict in {Verdict.PASS, Verdict.PASS_BY_TCP}


def _is_failed(result: Result) -> bool:
    return result.outcome.verdict == Verdict.FAIL


def _doubtful(result: Result, late: Late) -> Result:
    """Give what is said of an item that was not passed while the rig was late."""
    outcome = result.outcome
    if not _is_failed(result):
        return result
    reason = f"{late.sentence} So this may not be the target's fault: {outcome.reason}"
    return replace(result, outcome=Outcome(Verdict.INCONCLUSIVE, reason, outcome.evidence))


def _few(keys: Sequence[Place], by_id: Mapping[str, KnownItem]) -> Iterator[Sequence[Place]]:
    """Give what is run again at the same time: little, as the machine is busy."""
    alone = [key for key in keys if by_id[key[1]].item.runs_alone]
    together = [key for key in keys if not by_id[key[1]].item.runs_alone]
    yield from (together[at : at + RETRIED_AT_ONCE] for at in range(0, len(together), RETRIED_AT_ONCE))
    yield from ([key] for key in alone)


def _interrupted(items: Sequence[KnownItem], results: Mapping[Place, Result], subjects: int) -> RunInterruptedError:
    """Give what was found until a run was interrupted."""
    rest = inconclusive("It had not ended when the run was interrupted.")
    found = [
        [results.get(_key(place, known)) or Result(known.item, rest) for known in items] for place in range(subjects)
    ]
    return RunInterruptedError(found, count_runs(items, subjects) - len(results))


def _result(future: Future[Result], item: Item, given_up: str | None) -> Result:
    """Give what an item found, or that it was given up, with when that was; None: it never is."""
    try:
        return future.result()
    except StoppedError:
        if given_up is None:
            raise
        return Result(item, inconclusive(f"It had not ended {given_up}."))


def _pairs(items: Sequence[KnownItem], subjects: int) -> list[tuple[int, KnownItem]]:
    """Give the places of subjects and the items that are run on them, in order."""
    by_server = sorted(items, key=lambda known: not known.item.is_of_server)
    return [(place, known) for known in by_server for place in range(1 if known.item.is_of_server else subjects)]


def _key(place: int, known: KnownItem) -> Place:
    """Give where the result of an item on a subject is: what is the server's is found out with the first."""
    return (0 if known.item.is_of_server else place, known.item.id)


def _in_turn(items: Sequence[KnownItem], subjects: int) -> Sequence[Sequence[tuple[int, KnownItem]]]:
    """Give what may run at the same time, by the subject's place, then each that runs alone, slow ones, and rough ones.

    An item is run on all subjects before the next, so that a run that is interrupted has items that ended on all.
    """
    all_pairs = _pairs(items, subjects)
    rough = [(place, known) for place, known in all_pairs if known.item.is_rough]
    pairs = [(place, known) for place, known in all_pairs if not known.item.is_rough]
    alone = [(place, known) for place, known in pairs if known.item.runs_alone]
    together = [(place, known) for place, known in pairs if not known.item.runs_alone and not known.item.is_slow]
    slow = [(place, known) for place, known in pairs if not known.item.runs_alone and known.item.is_slow]
    rough_alone = [pair for pair in rough if pair[1].item.runs_alone]
    rough_together = [pair for pair in rough if not pair[1].item.runs_alone]
    return [together, *([one] for one in alone), slow, *([one] for one in rough_alone), rough_together]


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
