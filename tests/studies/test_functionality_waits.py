"""The study functionality: long waits of its cases pass side by side, and an interruption ends them all."""

import threading
import time

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
    """The first two wait for the third, which would never begin if they did not leave it its turn."""
    third_began = threading.Event()
    order = []

    def waits(name):
        def work(only_waits):
            order.append(name)
            only_waits()
            assert third_began.wait(DEADLINE_S)
            return name

        return work

    def third(_only_waits):
        order.append("third")
        third_began.set()
        return "third"

    with SideBySide() as beside:
        beside.begin(1, waits("first"))
        beside.begin(2, waits("second"))
        assert beside.waiting == [1, 2]
        beside.begin(3, third)
        found = {key: future.result() for key, future in beside.rest()}
    assert order == ["first", "second", "third"]
    assert found == {1: "first", 2: "second", 3: "third"}


def test_what_is_busy_is_waited_for():
    under_way, seen = [], []

    def busy(name):
        def work(_only_waits):
            seen.append(list(under_way))
            under_way.append(name)
            time.sleep(0.05)
            under_way.remove(name)

        return work

    with SideBySide() as beside:
        for name in range(3):
            beside.begin(name, busy(name))
        assert [key for key, _ in beside.ended()] == [0, 1, 2]
    assert seen == [[], [], []]


def test_errors_stay_with_their_case():
    def fails(_only_waits):
        raise SubjectFailedError("it ended by itself")

    with SideBySide() as beside:
        beside.begin("bad", fails)
        beside.begin("good", lambda _only_waits: "well")
        found = {key: future.exception() or future.result() for key, future in beside.rest()}
    assert found["good"] == "well"
    assert str(found["bad"]) == "it ended by itself"


def test_interruption_ends_waits_and_puts_things_away():
    """Items that wait for an hour end when the block is left by an interruption, and so does what they had started."""
    put_away = []

    class Bare:
        def lacks(self, _need):
            return None

        def silence(self):
            return ""

    def slow(_subject):
        pause(LONG_S)
        return passed("It waited.")

    known = next(one for one in cases.case_items("proxy", "all") if one.item.is_slow)
    patient = type(known)(known.item, slow, known.module)

    def work(only_waits):
        try:
            only_waits()
            return run_items([patient], Bare())
        finally:
            put_away.append(threading.get_ident())

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt), SideBySide() as beside:
        for name in range(MOST):
            beside.begin(name, work)
        raise KeyboardInterrupt
    assert len(set(put_away)) == MOST
    assert time.monotonic() - began < DEADLINE_S


def test_those_that_wait_longest_begin_first(all_installed):
    settings = FunctionalitySettings(servers=("nsd", "unbound", "dnsmasq", "dnsdist", "router"), seed=1)
    assert [case.role for _, case in cases.in_order(settings)] == [
        "proxy",
        "proxy",
        "resolver",
        "authoritative",
        "path",
    ]
    plan = cases.plan(settings)
    alone = cases.plan(FunctionalitySettings(servers=("dnsmasq",), seed=1))
    assert alone.seconds <= plan.seconds < 2 * alone.seconds, "five minutes are waited for once"
    quick = cases.plan(FunctionalitySettings(servers=("dnsmasq",), seed=1, scope="published"))
    assert quick.seconds < 10


def test_slow_items_run_last():
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

    items = [noting(known) for known in cases.case_items("proxy", "all")]
    results = run_items(items, Whole())
    assert {result.outcome.verdict for result in results} == {Verdict.PASS}
    slow = [known.item.id for known in items if known.item.is_slow]
    assert slow and order[-len(slow) :] == slow
    assert [result.item.id for result in results] == [known.item.id for known in items]
