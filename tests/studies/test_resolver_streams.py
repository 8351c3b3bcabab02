"""Queries of clients for names of a simulated Internet, and Internets that differ in who signs."""

import time
import tomllib
from functools import partial

import dns.message
import dns.query
import dns.rdatatype
import pytest
from dnsrig import _core
from dnsrig.errors import InputError, SubjectFailedError
from dnsrig.runs.folder import RunFolder
from dnsrig.servers.resolvers.counts import read_bind, read_knot, read_powerdns, read_unbound
from dnsrig.studies.resolving import streams
from dnsrig.studies.resolving.streams import (
    OTHER_SEED_STEP,
    PTR,
    distinct,
    misses,
    missing_below,
    questions,
    questions_of,
    with_hits,
    write_stream,
)
from dnsrig.studies.resolving.trees import CHANGES, SIGNED_TLDS_2010, changed_text, make_internet
from resolver_runs import settings


@pytest.fixture(scope="module")
def internet():
    return _core.Internet("small", seed=1, signed_at_s=int(time.time()), domains=3000, distances=False)


@pytest.fixture
def run(tmp_path):
    return RunFolder.create(tmp_path, "fake", argv=[], settings={}, seed=1)


def test_a_stream_that_was_broken_off_is_made_whole(run, monkeypatch):
    def breaks_off():
        yield "a.com. A"
        raise OSError(5, "no more")

    with pytest.raises(OSError, match="no more"):
        write_stream(run, "names", breaks_off())
    assert not (run.path / "inputs" / "names.txt").exists()
    with monkeypatch.context() as patched:
        patched.setattr(RunFolder, "add_input", lambda *_: None)
        write_stream(run, "names", ["a.com. A", "b.com. AAAA"])
    assert run.manifest()["inputs"] == []
    # Broken off before the manifest had it: what is there is taken, and noted.
    stream = write_stream(run, "names", ["other. A"])
    assert questions_of(stream) == ["a.com. A", "b.com. AAAA"]
    assert [entry["path"] for entry in run.manifest()["inputs"]] == ["inputs/names.txt"]


def test_other_draws_have_other_questions(internet):
    def first(seed):
        drawn = questions(internet, seed)
        return [next(drawn) for _ in range(2 * streams.DRAWN_AT_ONCE)]

    later, other = first(1)[streams.DRAWN_AT_ONCE :], first(1 + OTHER_SEED_STEP)
    assert later == first(2)[: streams.DRAWN_AT_ONCE]
    assert later != other[: streams.DRAWN_AT_ONCE]


def test_names_that_exist_are_not_those_of_any_addresses(internet):
    assert not any(line.endswith(f" {PTR}") for line in distinct(internet, 1, 2000))
    assert any(line.endswith(f" {PTR}") for line in distinct(internet, 1, 2000, 0.1))


def test_hits_and_fresh_names_are_as_asked_for(internet):
    names = distinct(internet, 1, 600)
    hot, fresh = names[:100], names[100:]
    mixed = list(with_hits(hot, fresh, 0.5, 900, 1))
    known = [line for line in mixed if line in set(hot)]
    assert 0.4 < len(known) / 900 < 0.6
    new = [line for line in mixed if line not in set(hot)]
    assert len(new) == len(set(new))
    assert set(with_hits(hot, [], 1.0, 50, 1)) <= set(hot)
    # Names for misses never run out: there are as many as the share takes, whatever the seed.
    for seed in range(50):
        assert len(list(with_hits(hot, fresh[:10], 0.9, 100, seed))) == 100
    assert misses(100, 0.9) == 10
    flood = list(missing_below("com.", 500, 1))
    assert len(set(flood)) == 500


def test_an_internet_that_is_too_small_says_so():
    tiny = _core.Internet("small", seed=1, signed_at_s=int(time.time()), domains=100, distances=False)
    with pytest.raises(InputError, match="too few names for"):
        distinct(tiny, 1, 1_000_000)


@pytest.mark.parametrize("profile", ["small", "internet-2022"])
@pytest.mark.parametrize("tree", list(CHANGES))
def test_every_tree_is_a_profile(profile, tree, tmp_path):
    text = changed_text(_core.Internet.profile_text(profile), tree, profile)
    assert (text == _core.Internet.profile_text(profile)) == (tree == "as the profile says")
    path = tmp_path / "tree.toml"
    path.write_text(text)
    made = _core.Internet(str(path), seed=1, signed_at_s=int(time.time()), domains=1000, distances=False)
    assert 500 < made.summary()["domains"] < 5000


def test_a_profile_that_is_none_is_told():
    with pytest.raises(InputError, match=r"mine\.toml: the profile of the Internet is no TOML"):
        changed_text("name := 3", "all", "mine.toml")
    # What reads it says what is lacking.
    assert changed_text("name = 'mine'", "all", "mine.toml") == "name = 'mine'"


def test_what_is_not_changed_is_written_as_it_was():
    for name in ("small", "internet-2022"):
        before, after = (
            tomllib.loads(changed_text(_core.Internet.profile_text(name), tree, name))
            for tree in ("as the profile says", "all")
        )
        for tld in (*before["tld"], before["other_tlds"], before["reverse"]):
            tld["signed_share"] = 1.0
            if "algorithm" not in tld["registry"]:
                tld["registry"] |= {"algorithm": "ECDSAP256SHA256", "denial": "nsec"}
        for fault in before.get("faults", {}).keys() & {"edns_formerr_share", "edns_ignored_share"}:
            before["faults"][fault] = 0.0
        before["other_tlds"]["signed_tlds"] = 1.0
        before["signing"]["without_ds_share"] = 0.0
        assert after == before


@pytest.mark.parametrize(
    ("tree", "signed"), [("unsigned", set()), ("2010", SIGNED_TLDS_2010), ("p-256", {"com", "se"})]
)
def test_who_is_not_to_sign_has_no_ds(tree, signed, tmp_path):
    path = tmp_path / "tree.toml"
    path.write_text(changed_text(_core.Internet.profile_text("internet-2022"), tree, "internet-2022"))
    internet = _core.Internet(
        str(path), seed=1, signed_at_s=int(time.time()), domains=1000, distances=False, loopback=True
    )
    assert internet.trust_anchor
    root = next(line.split()[-1] for line in internet.root_hints.splitlines() if " A " in line.replace("\t", " "))
    server = _core.InternetServer(internet, port=0, threads=1, loopback=True)
    try:
        for name in ("com", "se", "arpa"):
            query = dns.message.make_query(name, "DS", want_dnssec=True)
            answer = dns.query.udp(query, root, timeout=10, port=server.port).answer
            found = [rrset.rdtype for rrset in answer if rrset.rdtype == dns.rdatatype.DS]
            assert bool(found) == (name in signed or (name == "arpa" and tree == "p-256")), (tree, name)
    finally:
        server.stop()


def test_an_internet_whose_profile_was_not_noted_is(run):
    chosen = settings("full-cache")
    make_internet(chosen, "all", run)
    before = run.manifest()["inputs"]
    run._update(inputs=[])
    make_internet(chosen, "all", run)
    assert run.manifest()["inputs"] == before


@pytest.mark.parametrize("read", [read_bind, read_knot, partial(read_powerdns, octets=""), read_unbound])
@pytest.mark.parametrize("said", ["", "error: no such command\n", "> '{}'\n> "])
def test_counts_that_cannot_be_read_are_told(read, said):
    with pytest.raises(SubjectFailedError):
        read(said)


def test_what_caches_take_in_powerdns_is_added_up_where_it_knows():
    said = "questions\t7\ncache-hits\t1\npacketcache-hits\t2\ncache-entries\t3\npacketcache-entries\t4\n"
    found = [read_powerdns(said, octets).cache_octets for octets in ("1200\n34\n", "1200\nUNKNOWN\n", "")]
    assert found == [1234, None, None]


def internet_of(path, hosts):
    """Make the small Internet whose clients ask for other hosts."""
    text = _core.Internet.profile_text("small")
    start, end = text.index("hosts = [{ host"), text.index("zipf = 1.0\n\n[latency")
    listed = ", ".join(f'{{ host = "{host}", weight = 1 }}' for host in hosts)
    path.write_text(f"{text[:start]}hosts = [{listed}]\n{text[end:]}")
    return _core.Internet(str(path), seed=1, signed_at_s=int(time.time()), domains=2000, distances=False)


def test_names_that_are_to_exist_are_of_hosts_that_every_domain_has_whatever_clients_ask_for(tmp_path):
    internet = internet_of(tmp_path / "mine.toml", ("www", "_imaps._tcp", "www.shop"))
    assert internet.hosts == ["www", "_imaps._tcp", "www.shop"]
    found = distinct(internet, 1, 1000)
    assert all(line.startswith("www.") and not line.startswith("www.shop.") for line in found)
    everything = internet.questions(1000, 1, 0.0)
    assert "\n_imaps._tcp." in everything and "\nwww.shop." in everything
    with pytest.raises(InputError, match=r"clients\.hosts .* has mail, shop: .* add \"www\", or \"\" for domains"):
        distinct(internet_of(tmp_path / "other.toml", ("shop", "mail")), 1, 10)
