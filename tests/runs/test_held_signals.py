"""Signals that are held back until a KeyboardInterrupt does no harm."""

import signal
import threading

import pytest
from dnsrig.held_signals import held_signals


def test_what_comes_is_let_through_where_that_is_asked_for() -> None:
    passed_by = []
    with pytest.raises(KeyboardInterrupt), held_signals() as let_through:
        let_through()
        signal.raise_signal(signal.SIGINT)
        passed_by.append("held")
        let_through()
        passed_by.append("let through")
    assert passed_by == ["held"]


def test_what_came_is_let_through_at_the_end() -> None:
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
