"""Targets that are verified at the same time, where what they do is wait; they are reported in their order."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from itertools import chain
from types import TracebackType
from typing import Self

from dnsrig.cli.progress import WorkProgress
from dnsrig.cli.verify_trial import Keep
from dnsrig.endings import wait_for
from dnsrig.errors import DnsrigError
from dnsrig.held_signals import held_signals
from dnsrig.verification.runner import Result
from dnsrig.verification.stopping import Stop, thread_pool
from dnsrig.verification.verification import Verification

MOST = 16
"""Targets at a time: each has servers and namespaces."""
Tell = Callable[[Result], None]
Begin = Callable[[str, Keep, Tell, ExitStack], Callable[[], None]]
"""Starts a target, with what it needs put on a stack, and gives what runs its items; that is called in a thread."""


class Beside:
    """Verifies targets side by side: what `verify_each` is given to verify each. Use it as a context manager."""

    def __init__(self, targets: Sequence[str], begin: Begin, items: int) -> None:
        self._targets = targets
        self._begin = begin
        self._stop = Stop()
        self._pool = thread_pool(min(len(targets), MOST), "beside", self._stop)
        self._ends: list[Future[None]] = []
        self._kept: list[list[Verification]] = [[] for _ in targets]
        self._place = 0
        self._done, self._runs = 0, items * len(targets)
        self._lock = threading.Lock()
        self._progress = WorkProgress(f"verifying {len(targets)} targets", self._runs, "names")

    def __enter__(self) -> Self:
        self._progress.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.__exit__(kind, error, trace)
        self._stop.set()
        self._pool.shutdown(wait=True)

    def __call__(self, target: str, keep: Keep) -> None:
        """Verify the next target; the first time all are begun.

        Raises:
            DnsrigError: what ended the verification of this target.
            KeyboardInterrupt: all were interrupted; what was found of them was kept.

        """
        place, self._place = self._place, self._place + 1
        try:
            if place == 0:
                self._begin_all()
            _wait_for([self._ends[place]])
        except BaseException:
            self._stop.set()
            _wait_for(self._ends)
            for verification in chain.from_iterable(self._kept[place:]):
                keep(verification)
            raise
        for verification in self._kept[place]:
            keep(verification)
        self._ends[place].result()

    def _begin_all(self) -> None:
        """Start the targets one after another, each of which then waits in a thread."""
        for place, target in enumerate(self._targets):
            with ExitStack() as held:
                try:
                    run = self._begin(target, self._kept[place].append, self._tell, held)
                except DnsrigError as error:
                    failed: Future[None] = Future()
                    failed.set_exception(error)
                    self._ends.append(failed)
                    continue
                with held_signals():
                    self._ends.append(self._pool.submit(_run_and_put_away, run, held.pop_all()))

    def _tell(self, _: Result) -> None:
        with self._lock:
            self._done += 1
            self._progress.show(self._done, f"{len(self._targets)} targets: {self._done} of {self._runs} items")


def _wait_for(ends: Sequence[Future[None]]) -> None:
    """Wait for all, unless a signal comes."""
    with held_signals() as let_through:
        wait_for(ends, let_through)


def _run_and_put_away(run: Callable[[], None], held: ExitStack) -> None:
    with held:
        run()
