"""The study functionality: long waits of its cases pass side by side, and an interruption ends them all."""

import threading
import time
from contextlib import ExitStack
from functools import partial

import pytest
from dnsrig.errors import SubjectFailedError
from dnsrig.studies.functionality import cases
from dnsrig.studies.functionality.beside import MOST, SideBySide
from dnsrig.studies.functionality.settings import FunctionalitySettings
from dnsrig.verification.runner import run_items
from dnsrig.verification.stopping import pause
from dnsrig.verification.verdicts import Verdict, passed

DEADLINE_S = 20.0
LONG_S = 3600.0


@pytest.fixture
def all_installed(monkeypatch):
    monkeypatch.setattr(cases, "_is_there", lambda _name, _role: True)


def test_waits_pass_side_by_side():
    """The first two wait for the third, which would never begin if they did not wait beside it."""
    third_began = threading.Event()
    put_away = []

    def waits(name):
        assert third_began.wait(DEADLINE_S)
        assert name not in put_away
        return name

    with SideBySide() as beside:
        for key, name in enumerate(("first", "second")):
            with ExitStack() as held:
                held.callback(put_away.append, name)
                beside.begin(key, held, partial(waits, name))
        assert (beside.waiting, put_away) == ([0, 1], [])
        beside.begin(2, ExitStack(), lambda: third_began.set() or "third")
        found = {key: future.result() for key, future in beside.rest()}
    assert found == {0: "first", 1: "second", 2: "third"}
    assert sorted(put_away) == ["first", "second"]


def test_no_more_is_held_than_there_is_room_for():
    """What begins beyond that waits for its turn, besides what its caller has made by then; nothing is lost."""
    asked_to_wait = threading.Event()
    lock = threading.Lock()
    holding = set()
    most = []

    class Noting(SideBySide):
        def _look(self, timeout_s):
            asked_to_wait.set()
            return super()._look(timeout_s)

    def put_away(name):
        with lock:
            holding.discard(name)

    def work(name):
        # Nothing ends before there is no room, or all have begun.
        assert asked_to_wait.wait(DEADLINE_S)
        return name

    with Noting() as beside:
        for name in range(3 * MOST):
            with ExitStack() as held:
                with lock:
                    holding.add(name)
                    most.append(len(holding))
                held.callback(put_away, name)
                beside.begin(name, held, partial(work, name))
        assert sorted(future.result() for _, future in beside.rest()) == list(range(3 * MOST))
    assert (max(most), holding) == (MOST + 1, set())


def test_errors_stay_with_their_case():
    def fails():
        raise SubjectFailedError("it ended by itself")

    with SideBySide() as beside:
        beside.begin("bad", ExitStack(), fails)
        beside.begin("good", ExitStack(), lambda: "well")
        found = {key: future.exception() or future.result() for key, future in beside.rest()}
    assert found["good"] == "well"
    assert str(found["bad"]) == "it ended by itself"


def test_interruption_ends_waits_and_puts_things_away():
    """Items that wait for an hour end when the block is left by an interruption, and so does what they need."""
    put_away = []

    class Bare:
        def lacks(self, _need):
            return None

        def silence(self):
            return ""

        def renewed(self):
            return self

    def slow(_subject):
        pause(LONG_S)
        return passed("It waited.")

    known = next(one for one in cases.case_items("proxy", "all") if one.item.is_slow)
    patient = type(known)(known.item, slow, known.module)
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt), SideBySide() as beside:
        for name in range(MOST):
            with ExitStack() as held:
                held.callback(put_away.append, name)
                beside.begin(name, held, lambda: run_items([patient], Bare()))
        raise KeyboardInterrupt
    assert sorted(put_away) == list(range(MOST))
    assert time.monotonic() - began < DEADLINE_S


def test_those_that_wait_longest_begin_first(all_installed):
    settings = FunctionalitySettings(servers=("nsd", "unbound", "dnsmasq", "dnsdist", "router"), seed=1)
    assert [case.role for _, case in cases.in_order(settings)] == [
        "resolver",
        "proxy",
        "proxy",
        "authoritative",
        "path",
    ]
    plan = cases.plan(settings)
    alone = cases.plan(FunctionalitySettings(servers=("dnsmasq",), seed=1))
    assert alone.seconds <= plan.seconds < 2 * alone.seconds, "five minutes are waited for once"
    quick = cases.plan(FunctionalitySettings(servers=("dnsmasq",), seed=1, scope="published"))
    assert quick.seconds < 10


def test_slow_items_run_last_but_for_those_that_may_end_the_target():
    order = []

    def noting(known):
        def check(_subject):
            order.append(known.item.id)
            return passed("It holds.")

        return type(known)(known.item, check, known.module)

    class Whole:
        def lacks(self, _need):
            return None

        def silence(self):
            return ""

        def renewed(self):
            return self

    items = [noting(known) for known in cases.case_items("proxy", "all")]
    results = run_items(items, Whole())
    assert {result.outcome.verdict for result in results} == {Verdict.PASS}
    slow = [known.item.id for known in items if known.item.is_slow]
    rough = {known.item.id for known in items if known.item.is_rough}
    others = [ran for ran in order if ran not in rough]
    assert slow and others[-len(slow) :] == slow
    assert rough and set(order[-len(rough) :]) == rough
    assert [result.item.id for result in results] == [known.item.id for known in items]
