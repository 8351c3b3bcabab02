"""Properties that are worked out once."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from dnsrig.verification.kept import Kept, kept_property

PATIENCE_S = 30


class Zone:
    """Needs its two properties in either order, as items do."""

    def __init__(self) -> None:
        self.other: Zone | None = None
        self.made: list[str] = []
        self.begins = threading.Barrier(2)

    @kept_property
    def first(self) -> str:
        """Wait for the other zone's second."""
        self.begins.wait(PATIENCE_S)
        self.made.append("first")
        return self.own + "1"

    @kept_property
    def own(self) -> str:
        self.made.append("own")
        return "own"


def test_objects_do_not_wait_for_each_other() -> None:
    zones = Zone(), Zone()
    # Each is worked out while the other is: neither would begin if they shared a lock.
    zones[0].begins = zones[1].begins
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(lambda zone: zone.first, zones)) == ["own1", "own1"]


def test_a_value_is_worked_out_once_for_all_threads() -> None:
    zone = Zone()
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: zone.own, range(100))) == {"own"}
    assert zone.made == ["own"]
    assert Zone.own.__doc__ is None
    assert Zone.first.__doc__ == "Wait for the other zone's second."


def test_values_by_name_are_worked_out_once_and_may_need_each_other() -> None:
    kept, made = Kept(), []
    begins = threading.Barrier(8)

    def other() -> str:
        made.append("other")
        return "other"

    def one() -> str:
        # Asks in another thread, as items do.
        with ThreadPoolExecutor(1) as pool:
            made.append("one")
            return pool.submit(kept.once, "other", other).result(PATIENCE_S) + " and one"

    def ask(place: int) -> str:
        begins.wait(PATIENCE_S)
        return kept.once("one", one) if place % 2 else kept.once("other", other)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(ask, range(8)))
    assert found == ["other", "other and one"] * 4
    assert sorted(made) == ["one", "other"]


def test_a_value_whose_making_failed_is_made_again() -> None:
    kept = Kept()
    with pytest.raises(ZeroDivisionError):
        kept.once("share", lambda: 1 / 0)
    assert kept.once("share", lambda: 1.0) == 1.0
