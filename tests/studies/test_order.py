"""The order of measurements, the labels of servers, and who runs where."""

import os
from collections import Counter

import pytest
from dnsrig.studies import placement
from dnsrig.studies.bench import server_labels
from dnsrig.studies.inputs import variants
from dnsrig.studies.interleave import interleaved, rotated
from dnsrig.studies.settings import ZoneStudySettings
from hypothesis import given
from hypothesis import strategies as st


def test_the_order_is_a_b_b_a():
    order = [block for _, block in interleaved("AB", 4)]
    assert "".join(order) == "ABBAABBA"


@given(st.lists(st.integers(), unique=True, max_size=6), st.integers(0, 6))
def test_every_block_once_in_every_repetition(blocks, repetitions):
    counts = Counter(interleaved(blocks, repetitions))
    assert set(counts.values()) <= {1}
    assert len(counts) == len(blocks) * repetitions


@given(st.lists(st.integers(), max_size=6), st.integers(0, 100))
def test_rotating_keeps_all(items, by):
    assert sorted(rotated(items, by)) == sorted(items)


def test_the_same_server_twice_gets_two_labels():
    assert server_labels(["nsd", "bind", "nsd", "nsd"]) == [
        ("nsd", "nsd"),
        ("bind", "bind"),
        ("nsd#2", "nsd"),
        ("nsd#3", "nsd"),
    ]


@pytest.mark.parametrize(("available", "threads"), [({0, 1}, 1), ({0, 1}, 4), ({2, 3, 5, 7}, 2), (set(range(16)), 8)])
def test_server_and_generator_share_no_processor(monkeypatch, available, threads):
    monkeypatch.setattr(placement.os, "sched_getaffinity", lambda _: available)
    placed = placement.place(threads)
    assert not placed.server & placed.generator
    assert placed.server and placed.generator and placed.server | placed.generator == available


def test_on_one_processor_sharing_is_said(monkeypatch):
    monkeypatch.setattr(placement.os, "sched_getaffinity", lambda _: {0})
    assert "share one processor" in placement.place(1).remark


@pytest.mark.parametrize(("threads", "is_said"), [(1, False), (2, False), (3, False), (4, True)])
def test_more_threads_than_processors_are_said(monkeypatch, threads, is_said):
    monkeypatch.setattr(placement.os, "sched_getaffinity", lambda _: {0, 1, 2, 3})
    placed = placement.place(threads)
    assert placed.is_crowded is is_said
    assert (f"the {threads} threads of the server share processor 0, 1, 2" in placed.remark) is is_said


def test_processors_are_given_back():
    before = os.sched_getaffinity(0)
    one = {min(before)}
    with pytest.raises(ValueError, match="gone wrong"), placement.kept_to(one):
        assert os.sched_getaffinity(0) == one
        raise ValueError("gone wrong")
    assert os.sched_getaffinity(0) == before


def test_variants_follow_the_settings():
    settings = ZoneStudySettings(servers=(), seed=0, iterations=(0, 10))
    assert [variant.label for variant in variants(settings)] == ["none", "nsec", "nsec3-0", "nsec3-10"]


def test_settings_survive_the_manifest():
    settings = ZoneStudySettings(servers=("nsd", "nsd"), seed=7, iterations=(0, 10), zone="a.db", quick=True)
    assert ZoneStudySettings.from_manifest(settings.to_manifest()) == settings
