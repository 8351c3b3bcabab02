"""Queries of clients for names of a simulated Internet, and Internets that differ in who signs."""

import itertools
import time

import pytest
from dnsrig import _core
from dnsrig.errors import InputError, SubjectFailedError
from dnsrig.runs.folder import RunFolder
from dnsrig.servers.resolvers.counts import read_bind, read_knot, read_powerdns, read_unbound
from dnsrig.studies.resolving.streams import (
    Asked,
    distinct,
    missing_below,
    on_internet,
    questions,
    sampled,
    split,
    synthetic,
    with_hits,
    write_stream,
)
from dnsrig.studies.resolving.trees import CHANGES, profile_text


@pytest.fixture(scope="module")
def internet():
    return _core.Internet("small", seed=1, signed_at_s=int(time.time()), domains=3000, distances=False)


@pytest.fixture
def run(tmp_path):
    return RunFolder.create(tmp_path, "fake", argv=[], settings={}, seed=1)


def clients_queries(count=400, clients=20):
    return [Asked(100 + index / 10, f"10.0.0.{index % clients}", f"n{index % 50}.", "A") for index in range(count)]


def test_a_client_is_in_with_all_its_queries_or_out():
    kept = sampled(clients_queries(), 0.5, 3)
    counts = {client: sum(query.client == client for query in kept) for client in {query.client for query in kept}}
    assert set(counts.values()) == {20}
    assert 3 < len(counts) < 17
    assert sampled(clients_queries(), 0.5, 3) == kept
    assert sampled(clients_queries(), 1.0, 3) == clients_queries()


def test_a_name_of_a_capture_becomes_one_name_of_the_internet(internet):
    lines = list(on_internet(clients_queries(), internet, 5))
    names = [line.split()[0] for line in lines]
    assert len(set(names)) == 50
    assert names[:50] == names[50:100]
    known = {line.split()[0] for line in itertools.islice(questions(internet, 5), 5000)}
    assert set(names) <= known
    assert [line.split()[-2] for line in lines[:2]] == ["time=0.000000000", "time=0.100000000"]


def test_parts_of_a_stream_begin_at_time_zero_and_lose_nothing(internet, run):
    lines = list(on_internet(clients_queries(), internet, 5))
    parts = split(lines, 10.0, 4)
    assert [len(part) for part in parts] == [100] * 4
    assert all(part[0].split()[-2] == "time=0.000000000" for part in parts)
    stream = write_stream(run, "part", parts[1], edns=False)
    assert (len(stream), stream.is_timed, stream.client_count) == (100, True, 20)
    assert [entry["path"] for entry in run.manifest()["inputs"]] == ["inputs/part.txt"]


def test_synthetic_traffic_has_times_and_clients():
    made = synthetic("resolver-2022", 200, 3.0, 1)
    assert len(made) == 600
    assert 0 <= made[-1].time_s - made[0].time_s <= 3.0
    assert len({query.client for query in made}) > 20


def test_hits_and_fresh_names_are_as_asked_for(internet):
    names = distinct(internet, 1, 600)
    hot, fresh = names[:100], names[100:]
    mixed = list(with_hits(hot, fresh, 0.5, 900, 1))
    known = [line for line in mixed if line in set(hot)]
    assert 0.4 < len(known) / 900 < 0.6
    new = [line for line in mixed if line not in set(hot)]
    assert len(new) == len(set(new))
    assert set(with_hits(hot, [], 1.0, 50, 1)) <= set(hot)
    flood = list(missing_below("com.", 500, 1))
    assert len(set(flood)) == 500


def test_an_internet_that_is_too_small_says_so():
    tiny = _core.Internet("small", seed=1, signed_at_s=int(time.time()), domains=100, distances=False)
    with pytest.raises(InputError, match="too few names for"):
        distinct(tiny, 1, 1_000_000)


@pytest.mark.parametrize("profile", ["small", "internet-2022"])
@pytest.mark.parametrize("tree", list(CHANGES))
def test_every_tree_is_a_profile(profile, tree, tmp_path):
    text = CHANGES[tree](profile_text(profile))
    assert (text == profile_text(profile)) == (tree == "as the profile says")
    path = tmp_path / "tree.toml"
    path.write_text(text)
    made = _core.Internet(str(path), seed=1, signed_at_s=int(time.time()), domains=1000, distances=False)
    assert 500 < made.summary()["domains"] < 5000


@pytest.mark.parametrize("read", [read_bind, read_knot, read_powerdns, read_unbound])
@pytest.mark.parametrize("said", ["", "error: no such command\n", "> '{}'\n> "])
def test_counts_that_cannot_be_read_are_told(read, said):
    with pytest.raises(SubjectFailedError):
        read(said)
