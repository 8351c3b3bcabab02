"""Signals that are held back until a KeyboardInterrupt does no harm."""

import random
import signal
import threading
from collections.abc import Iterator
from types import FrameType

import pytest
from dnsrig.held_signals import held_signals
from dnsrig.items.catalogue import items
from dnsrig.verification.item import KnownItem
from dnsrig.verification.runner import run_items
from dnsrig.verification.verdicts import Outcome, passed

MANY = 1000
ROUNDS = 40
"""A run that may leave locks taken does so in some of them, and never ends."""
LEAST_S, MOST_S = 1e-3, 0.03
"""After so much CPU time of a round, in seconds, it is interrupted."""


@pytest.fixture
def raising() -> Iterator[None]:
    """Have SIGINT raise KeyboardInterrupt."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupt)
    yield
    signal.signal(signal.SIGINT, before)


def test_what_comes_is_let_through_where_that_is_asked_for(raising: None) -> None:
    passed_by = []
    with pytest.raises(KeyboardInterrupt), held_signals() as let_through:
        let_through()
        signal.raise_signal(signal.SIGINT)
        passed_by.append("held")
        let_through()
        passed_by.append("let through")
    assert passed_by == ["held"]


def test_what_came_is_let_through_at_the_end(raising: None) -> None:
    passed_by = []
    with pytest.raises(KeyboardInterrupt):
        with held_signals(), held_signals():
            signal.raise_signal(signal.SIGINT)
            passed_by.append("held")
        passed_by.append("let through")
    assert passed_by == ["held"]
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_handlers_of_others_stay() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with held_signals():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)


def test_other_threads_hold_nothing() -> None:
    done = threading.Event()

    def hold() -> None:
        with held_signals() as let_through:
            let_through()
            done.set()

    thread = threading.Thread(target=hold)
    thread.start()
    thread.join()
    assert done.is_set()


def test_a_run_of_items_ends_whenever_it_is_interrupted(raising: None) -> None:
    """The signal is sent when so much CPU time was used: at any place in the code of the main thread."""
    drawn = random.Random(1)
    interrupted = 0

    def send(_number: int, frame: FrameType | None) -> None:
        signal.raise_signal(signal.SIGINT)

    def check(_: object) -> Outcome:
        return passed("Yes.")

    class Subject:
        def lacks(self, need: str) -> str | None:
            return None

        def silence(self) -> str:
            return ""

        def renewed(self) -> "Subject":
            return self

    known = [KnownItem(one.item, check, "") for one in items("authoritative")[:100]] * (MANY // 100)
    before = signal.signal(signal.SIGVTALRM, send)
    try:
        for _ in range(ROUNDS):
            signal.setitimer(signal.ITIMER_VIRTUAL, drawn.uniform(LEAST_S, MOST_S))
            try:
                run_items(known, Subject())
                signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
            except KeyboardInterrupt:
                interrupted += 1
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)
    assert interrupted > ROUNDS // 4
