"""validation-cost: its cases, a whole run on Unbound, what becomes of it when the resolver dies, and without root."""

import os
import re
import resource
import signal
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import dns.message
import pytest
from dnsrig import _core
from dnsrig.errors import EnvironmentLacksError, InputError
from dnsrig.hosts.network import users
from dnsrig.loads import run_load
from dnsrig.runs.folder import RunFolder
from dnsrig.servers.resolvers.unbound import UnboundResolver
from dnsrig.studies import conduct, validation_cost
from dnsrig.studies.registry import study
from dnsrig.studies.resolving import bench, replays, room, sockets
from dnsrig.studies.resolving.cases import TREE
from dnsrig.studies.resolving.clients import CaptureLength
from resolver_runs import Quiet, by_case, run_study, settings, skip_without, write_capture

NAME = "validation-cost"
SHORT = {"load_s": 1.0, "periods": 2, "rates": (300,)}


def test_off_and_on_follow_each_other_and_parts_go_together():
    chosen = settings(NAME, ("unbound", "bind"), **{**SHORT, "rates": (300, 600)})
    blocks = study(NAME).blocks(chosen)
    names = [[case.name for case in block.cases] for block in blocks[:3]]
    assert names[0] == ["off-300-profile-udp-part1", "off-300-profile-udp-part2"]
    assert names[2] == ["on-300-profile-udp-part1", "on-300-profile-udp-part2"]
    assert [block.program for block in blocks[:4]] == ["unbound", "bind"] * 2
    assert study(NAME).plan(chosen).measurements == 2 * 2 * 2 * 2
    assert blocks[0].axes == {"server": "unbound", "validation": "off"}
    # A part that began again would hit what it had asked itself.
    assert all(case.traffic.is_once and case.traffic.replays for block in blocks for case in block.cases)


def test_the_published_column_is_the_highest_rate_of_the_plain_internet_over_udp():
    chosen = settings(NAME, rates=(300, 900, 600), signed=("unsigned", "profile"), transports=("tcp", "udp"), periods=4)
    text = study(NAME).text(chosen)
    assert {question.of["traffic"] for question in text.questions} == {"900-profile-udp-4"}
    assert text.sections.args == ("900-profile-udp-4",)


def test_more_queries_than_fit_into_memory_are_refused(monkeypatch):
    monkeypatch.setattr(sockets, "_most_files", lambda wanted: wanted)
    published = settings(NAME, rates=(9000, 135_000), load_s=60.0, periods=10)
    monkeypatch.setattr(room, "free_octets", lambda: 24e9)
    study(NAME).check(published)
    monkeypatch.setattr(room, "free_octets", lambda: 12e9)
    with pytest.raises(InputError, match=r"--rate 9000,135000 for 600 s .* make 86,400,000 queries, .* GB of memory"):
        study(NAME).check(published)
    monkeypatch.setattr(room, "free_octets", lambda: 8e9)
    with pytest.raises(InputError, match=r"--rate 135,000 for 600 s .* make 81,000,000 queries, .* 4\.0 GB of memory"):
        study(NAME).check(published)


def test_a_capture_is_not_charged_the_sockets_of_synthetic_clients(capture, tmp_path, monkeypatch):
    monkeypatch.setattr(sockets, "_most_files", lambda wanted: wanted)
    monkeypatch.setattr(validation_cost, "clients_of_a_rate", None)
    # Of 9,000 queries a second for a minute synthetic clients take more.
    monkeypatch.setattr(room, "free_octets", lambda: 0.3e9)
    with monkeypatch.context() as longer:
        longer.setattr(validation_cost, "length_at_most", lambda *_: CaptureLength(60 * 9000, 60.0))
        study(NAME).check(settings(NAME, capture=capture, rates=(9000,), load_s=1.0, periods=60))
    run = RunFolder.create(tmp_path / "runs", NAME, argv=[], settings={}, seed=1)
    chosen = settings(NAME, capture=capture, rates=(9,), load_s=1.0, periods=2)
    internet = _core.Internet("small", seed=1, signed_at_s=int(time.time()), domains=2000, distances=False)
    study(NAME).streams(chosen, run, {TREE: internet})
    monkeypatch.setattr(replays, "CLIENT_OCTETS", 0.1e9)
    with pytest.raises(InputError, match=r"clients\.pcap: clients ask from 2 sockets .* 0\.2 GB .* 0\.1 are left"):
        study(NAME).streams(chosen, run, {TREE: internet})


@pytest.mark.parametrize("more", [{}, {"shared_sockets": True}, {"signed": ("profile", "all")}, {"load_s": 10.0}])
def test_rates_that_are_not_chosen_fit_into_memory(more, monkeypatch):
    monkeypatch.setattr(sockets, "_most_files", lambda wanted: min(wanted, 10_000 + sockets.OTHER_FILES))
    found = {}
    for free in (0.2e9, 1e9, 8e9):
        monkeypatch.setattr(room, "free_octets", lambda free=free: free)
        chosen = settings(NAME, **{"load_s": 60.0, "periods": 10, **more})
        study(NAME).check(chosen)
        found[free] = max(chosen.rates)
    assert 100 <= found[0.2e9] < found[1e9] <= found[8e9] <= 9000
    if "shared_sockets" in more:
        assert found[8e9] == 9000


def test_a_part_with_more_queries_than_a_stream_has_is_refused():
    with pytest.raises(InputError, match=r"--rate 135,000 for a part of 800 s: .* shorter parts"):
        study(NAME).check(settings(NAME, rates=(135_000,), load_s=800.0, periods=1))


def test_what_the_streams_take_of_the_disk_is_known():
    assert study(NAME).input_octets(settings(NAME, rates=(9000, 135_000), load_s=60.0, periods=10)) == 86.4e6 * 75
    assert study("full-cache").input_octets(settings("full-cache")) == 0


def test_more_clients_than_can_have_sockets_are_refused_with_the_rate_that_fits(monkeypatch):
    monkeypatch.setattr(sockets, "_most_files", lambda wanted: 1000)
    monkeypatch.setattr(room, "free_octets", lambda: 8e9)
    chosen = {"load_s": 60.0, "periods": 3}
    with pytest.raises(
        EnvironmentLacksError, match=r"--rate 300: about 1,[12]\d\d clients .* 1,000 open files"
    ) as raised:
        study(NAME).check(settings(NAME, rates=(300, 60), **chosen))
    assert raised.value.exit_code == 3
    (fitting,) = re.findall(r"take --rate (\d+),", str(raised.value))
    assert int(fitting) == 100
    study(NAME).check(settings(NAME, rates=(int(fitting), 50), **chosen))
    fitted = settings(NAME, **chosen).rates
    assert fitted == (33, 100)
    monkeypatch.setattr(sockets, "_most_files", lambda wanted: wanted)
    assert settings(NAME, **chosen).rates == (3000, 9000)


def test_the_clients_of_each_part_are_counted(capture, tmp_path, monkeypatch):
    monkeypatch.setattr(sockets, "_most_files", lambda wanted: sockets.OTHER_FILES + 1)
    run = RunFolder.create(tmp_path / "runs", NAME, argv=[], settings={}, seed=1)
    chosen = {"capture": capture, "load_s": 1.0, "periods": 4, "rates": (9,)}
    internet = _core.Internet("small", seed=1, signed_at_s=int(time.time()), domains=2000, distances=False)
    with pytest.raises(EnvironmentLacksError, match="--rate 9: about 2 clients ask within a part of 1 s"):
        study(NAME).streams(settings(NAME, **chosen), run, {TREE: internet})


def test_clients_share_sockets_if_they_may(capture, tmp_path, monkeypatch):
    monkeypatch.setattr(room, "free_octets", lambda: 8e9)
    monkeypatch.setattr(sockets, "_most_files", lambda wanted: sockets.OTHER_FILES + 1)
    run = RunFolder.create(tmp_path / "runs", NAME, argv=[], settings={}, seed=1)
    chosen = settings(NAME, capture=capture, load_s=1.0, periods=4, rates=(9,), shared_sockets=True)
    study(NAME).check(chosen)
    internet = _core.Internet("small", seed=1, signed_at_s=int(time.time()), domains=2000, distances=False)
    found = study(NAME).streams(chosen, run, {TREE: internet})
    assert {stream.client_count for stream in found.values()} == {1}
    assert run.manifest()["facts"]["shared_sockets"] == 1
    # As many as there are clients is enough for all.
    monkeypatch.setattr(sockets, "_most_files", lambda wanted: sockets.OTHER_FILES + 2)
    run = RunFolder.create(tmp_path / "runs", NAME, argv=[], settings={}, seed=1)
    found = study(NAME).streams(chosen, run, {TREE: internet})
    assert {stream.client_count for stream in found.values()} == {2}
    assert "shared_sockets" not in run.manifest()["facts"]
    assert "as far as so many may be open" in " ".join(study(NAME).text(chosen).method)
    assert settings(NAME, shared_sockets=True, load_s=60.0).rates == (3000, 9000)
    with pytest.raises(InputError, match="--shared-sockets with --transport udp=50"):
        study(NAME).check(settings(NAME, rates=(9,), shared_sockets=True, transports=("udp=50+tcp=50",)))


def test_the_file_limit_is_what_it_may_become():
    most, why = sockets.most_clients()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    assert most <= hard - sockets.OTHER_FILES
    assert ("open files" in why) == (most < 16 * 64_512)
    assert [sockets.addresses_for(clients) for clients in (0, 1, 64_512, 64_513, 562_047)] == [1, 1, 1, 2, 9]


@pytest.mark.parametrize("files", [sockets.OTHER_FILES, sockets.OTHER_FILES - 1, 0])
@pytest.mark.parametrize("shared", [False, True])
def test_where_no_client_can_have_a_socket_the_limit_is_what_is_lacking(files, shared, monkeypatch):
    monkeypatch.setattr(sockets, "_most_files", lambda wanted: files)
    with pytest.raises(EnvironmentLacksError, match=rf"may have {files:,} open files .* needs 256 beside .* raise"):
        study(NAME).check(settings(NAME, rates=(9,), load_s=60.0, shared_sockets=shared))


@pytest.fixture
def capture(tmp_path):
    """Give a capture of 4 s with 10 queries a second of two clients, and a message that cannot be read."""
    queries = [dns.message.make_query(f"n{number}.example", "A").to_wire() for number in range(40)]
    query = dns.message.make_query("n.example", "A", use_edns=True).to_wire()
    of_two_opts = query[:11] + b"\2" + query[12:] + query[-11:]
    return write_capture(tmp_path / "clients.pcap", *queries[:20], of_two_opts, *queries[20:], clients=2)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (
            {"periods": 5},
            r"have queries for 4\.1\d\d s, in which 4 parts of 1 s fit, not 5; take --periods 4",
        ),
        ({"load_s": 10.0, "periods": 1}, r"0 parts of 10 s fit, not 1; take --load-seconds of at most 4\.1"),
        ({"rates": (5, 11)}, r"--rate 11: the capture .* has 9\.8 queries per second in its first 4 s"),
    ],
)
def test_a_capture_is_not_made_longer_or_faster(capture, tmp_path, more, said):
    chosen = {"capture": capture, "load_s": 1.0, "periods": 4, "rates": (5,)}
    internets = {TREE: _core.Internet("small", seed=1, signed_at_s=int(time.time()), domains=2000, distances=False)}
    run = RunFolder.create(tmp_path / "runs", NAME, argv=[], settings={}, seed=1)
    assert len(study(NAME).streams(settings(NAME, **chosen), run, internets)) == 4
    assert run.manifest()["facts"] == {"capture": {"queries": 40, "left_out": 1, "lost": {}, "cut_packet": None}}
    run = RunFolder.create(tmp_path / "runs", NAME, argv=[], settings={}, seed=1)
    with pytest.raises(InputError, match=said):
        study(NAME).streams(settings(NAME, **{**chosen, **more}), run, internets)
    # Nor is a run begun, by times of messages alone.
    roughly = said.replace("for 4", "for at most 4").replace(r"has 9\.8", r"has at most 10\.2")
    with pytest.raises(InputError, match=roughly):
        conduct.plan(NAME, settings(NAME, **{**chosen, **more}))


@pytest.mark.parametrize(
    ("asked_s", "unreadable_s", "chosen"),
    [
        # The seconds that are measured begin with the first query that can be asked.
        ([0.9 + number / 100 for number in range(110)], 0.0, {"rates": (90,), "load_s": 1.0}),
        # The pause after the last query is as long as the mean of those before.
        ([0.0, 1.0], 0.5, {"rates": (1,), "load_s": 2.0}),
    ],
    ids=["an unreadable beginning", "few queries"],
)
def test_no_capture_is_refused_for_messages_that_cannot_be_asked(tmp_path, asked_s, unreadable_s, chosen):
    query = dns.message.make_query("n.example", "A", use_edns=True).to_wire()
    of_two_opts = query[:11] + b"\2" + query[12:] + query[-11:]
    messages = sorted([(unreadable_s, of_two_opts), *((time_s, query) for time_s in asked_s)])
    path = write_capture(
        tmp_path / "some.pcap", *(octets for _, octets in messages), times_s=[time_s for time_s, _ in messages]
    )
    fitting = settings(NAME, capture=path, periods=1, **chosen)
    study(NAME).check(fitting)
    internets = {TREE: _core.Internet("small", seed=1, signed_at_s=int(time.time()), domains=2000, distances=False)}
    run = RunFolder.create(tmp_path / "runs", NAME, argv=[], settings={}, seed=1)
    assert len(study(NAME).streams(fitting, run, internets)) == 1


def test_a_quick_run_takes_what_a_capture_has(capture):
    assert study(NAME).fitted(settings(NAME, quick=True, capture=capture, load_s=1.0, rates=())).rates == (10,)
    assert study(NAME).fitted(settings(NAME, quick=True, rates=())).rates == (1000,)


def test_parts_without_a_query_are_refused():
    with pytest.raises(InputError, match=r"--rate 1: in a part of 0\.1 s .* less than one query"):
        conduct.plan(NAME, settings(NAME, rates=(1, 100), load_s=0.1))


def test_a_resumed_run_shares_sockets_as_before_and_needs_its_capture_only_for_parts_that_it_lacks(
    capture, tmp_path, monkeypatch
):
    chosen = settings(NAME, capture=capture, load_s=1.0, periods=4, rates=(9,), shared_sockets=True)
    internets = {TREE: _core.Internet("small", seed=1, signed_at_s=int(time.time()), domains=2000, distances=False)}
    run = RunFolder.create(tmp_path / "runs", NAME, argv=[], settings={}, seed=1)

    def clients(most):
        monkeypatch.setattr(sockets, "_most_files", lambda wanted: sockets.OTHER_FILES + most)
        return {stream.client_count for stream in study(NAME).streams(chosen, run, internets).values()}

    assert clients(1) == {1}
    manifest = run.manifest()
    Path(capture).unlink()
    assert clients(2) == {1}
    assert {key: run.manifest()[key] for key in ("facts", "inputs")} == {
        key: manifest[key] for key in ("facts", "inputs")
    }
    run.note(most_sockets=2)
    with pytest.raises(EnvironmentLacksError, match=r"began with 2 sockets of clients, and .* 257 open files"):
        clients(1)
    (run.path / "inputs" / "clients-9-profile-part2.txt").unlink()
    with pytest.raises(InputError, match=r"clients\.pcap"):
        clients(2)


@pytest.mark.usefixtures("pictures")
def test_a_run_measures_both_sides_of_the_resolver(tmp_path):
    run, summary = run_study(NAME, tmp_path, repetitions=2, **SHORT)
    assert summary["status"] == "complete"
    found = by_case(run)
    assert len(found) == 4
    off, on = (found[f"unbound-{state}-300-profile-udp-part1"] for state in ("off", "on"))
    assert "DNSKEY" not in off["upstream"]["by_type"]
    assert on["upstream"]["by_type"]["DNSKEY"] > 0
    hot = found["unbound-on-300-profile-udp-part2"]
    assert hot["resolver"]["cache_hit_share"] > on["resolver"]["cache_hit_share"]
    assert hot["resolver"]["cache_octets"] > on["resolver"]["cache_octets"] > off["resolver"]["cache_octets"]
    for item in found.values():
        assert item["load"]["answered"] == item["load"]["sent"]
        # Truncated answers are asked for again over TCP, and a query counts late where counts are asked for meanwhile.
        assert item["resolver"]["queries"] == pytest.approx(item["load"]["sent"], rel=0.05)
        assert item["bottleneck"] == "none"
        assert item["network"]["internet"]["packets_out"] >= item["upstream"]["queries"] > 0
        # Interfaces are read at the ends of seconds: a packet on the way then is of the next second.
        assert item["network"]["clients"]["packets_in"] >= 0.95 * item["load"]["sent"]
        assert item["upstream"]["cpu_us"] > 0
        assert sum(item["by_second"]["cpu_share"]) > 0
        assert item["load"]["rcodes"].get("SERVFAIL", 0) == 0
        assert len(os.sched_getaffinity(0)) < 2 or not any("share one processor" in text for text in item["remarks"])
    assert {entry["figure"] for entry in summary["answers"]} >= {"server_cpu_us_per_query", "server_rss_bytes_max"}
    case = summary["cases"][0]["resolver"]
    assert case["cache_hit_share"]["n"] == 2
    text = (run.path / "report.md").read_text()
    assert "ISC-2022 (published), 9,000 qps" in text
    verdicts = {(row["keys"][0], row["what"]): row["verdict"] for row in summary["published_figures"]}
    assert verdicts["impact.cpu", "CPU per query with validation to that without"] in {
        "as published",
        "other",
        "not decided",
    }
    assert verdicts[
        "last_minute_mean.9k udp_sockets", "UDP sockets in use at 9,000 qps with validation to that without"
    ] == ("not compared")
    assert "this run has no 135,000 queries per second (--rate 135000)" in text
    assert "What validation costs" in text
    assert "Queries left late by, 99th percentile" in text


def test_clients_that_need_several_addresses_have_them(tmp_path, monkeypatch):
    monkeypatch.setattr(sockets, "PORTS", 40)
    monkeypatch.setattr("dnsrig.studies.resolving.study.TOLD_OCTETS", 1)
    used: list[tuple[int, tuple[str, ...]]] = []
    notes: list[str] = []
    monkeypatch.setattr(Quiet, "note", lambda _, text: notes.append(text))

    def noted(stream, chosen, *told):
        used.append((stream.client_count, chosen.sources))
        return run_load(stream, chosen, *told)

    monkeypatch.setattr(bench, "run_load", noted)
    run, summary = run_study(NAME, tmp_path, repetitions=1, **SHORT)
    assert summary["status"] == "complete"
    # Half of them at most if only one address were of use; a busy machine may lose some.
    assert all(item["load"]["answered"] > 0.75 * item["load"]["sent"] for item in by_case(run).values())
    replays = [(clients, sources) for clients, sources in used if sources]
    assert {len(sources) for _, sources in replays} == {-(-clients // 40) for clients, _ in replays}
    assert min(len(sources) for _, sources in replays) > 1
    assert all(sources[:2] == ("192.168.53.2", "192.168.53.3") for _, sources in replays)
    assert any(text.startswith("the streams take about 0.0 GB of disk, in ") for text in notes)


def test_a_resolver_that_dies_costs_its_case_only(tmp_path, monkeypatch):
    skip_without("unbound")
    counts = UnboundResolver.counts
    asked = []

    def dies_once(self):
        said = counts(self)
        asked.append(self)
        if len(asked) == 3:
            os.kill(self.pids()[0], signal.SIGKILL)
        return said

    monkeypatch.setattr(UnboundResolver, "counts", dies_once)
    watcher = Quiet()
    chosen = settings(NAME, **{**SHORT, "load_s": 2.0})
    folder, summary = conduct.start(NAME, chosen, tmp_path, ["dnsrig"], watcher)
    run = RunFolder.open(folder)
    assert summary["status"] == "incomplete"
    assert set(by_case(run)) == {
        "unbound-off-300-profile-udp-part1",
        "unbound-on-300-profile-udp-part1",
        "unbound-on-300-profile-udp-part2",
    }
    (failure,) = run.manifest()["failures"]
    assert failure["case_ids"] == ["unbound-off-300-profile-udp-part2"]
    assert "by signal 9" in failure["reason"]
    assert len(watcher.problems) == 1
    monkeypatch.undo()
    _, resumed = conduct.resume(folder, Quiet())
    assert resumed["status"] == "complete"
    found = by_case(run)
    grown = {
        state: found[f"unbound-{state}-300-profile-udp-part2"]["resolver"]["cache_octets"]
        / found[f"unbound-{state}-300-profile-udp-part1"]["resolver"]["cache_octets"]
        for state in ("off", "on")
    }
    # The part before was sent again, so the cache has grown as it would have.
    assert grown["off"] - 1 > (grown["on"] - 1) / 2 > 0
    assert not asked[-1].pids()


def test_outages_begin_with_each_load_and_go_on_in_its_next_part(tmp_path):
    """Not with the run: there are rehearsals and two starts of the resolver."""
    profile = tmp_path / "outage.toml"
    outage = '[[outage]]\noperator = "large-dns"\nfrom_s = 2.0\nfor_s = 1000.0\n\n'
    head, rest = _core.Internet.profile_text("small").split("[root]", 1)
    profile.write_text(f"{head}{outage}[root]{rest}")
    run, summary = run_study(NAME, tmp_path, **{**SHORT, "load_s": 1.5, "profile": str(profile)})
    assert summary["status"] == "complete"
    lost = {}
    for case_id, item in by_case(run).items():
        lost[case_id.removeprefix("unbound-")] = 1 - item["upstream"]["answers"] / item["upstream"]["queries"]
    assert lost.keys() == {f"{state}-300-profile-udp-part{part}" for state in ("off", "on") for part in (1, 2)}
    for case, share in lost.items():
        # The first part ends before, with half a second for its last answers; of the second it is two thirds.
        assert share > 0.2 if case.endswith("part2") else share < 0.05, lost


def test_the_report_says_what_a_capture_has_lost():
    facts = {"queries": 1000, "left_out": 1, "lost": {"fragments": 3}, "cut_packet": 1007}
    (section,) = validation_cost._capture_sections(SimpleNamespace(facts={"capture": facts}))
    assert section.paragraphs == (
        "1,000 messages were taken as queries.",
        "1 messages were left out, because they cannot be read or have no question (cut ones, signed ones (TSIG), such "
        "with two OPT records).",
        "Left out packets and messages of the capture that may be queries: 3 in fragments (`dnsrig traffic filter "
        "query FILE -f whole.pcap` puts them together).",
        "The capture ends inside packet 1,007; what is before it is sent.",
    )
    before = {"queries": 1000, "left_out": 0}
    assert validation_cost._capture_sections(SimpleNamespace(facts={"capture": before})) == []


def test_when_everybody_signs_answers_are_larger_and_validation_costs_more_queries(tmp_path):
    run, summary = run_study(NAME, tmp_path, **{**SHORT, "periods": 1, "signed": ("unsigned", "all")})
    assert summary["status"] == "complete"
    found = by_case(run)
    upstream = {
        (state, tree): found[f"unbound-{state}-300-{tree}-udp-part1"]["upstream"]
        for state in ("off", "on")
        for tree in ("unsigned", "all")
    }
    octets = {case: said["answer_octets"] / said["answers"] for case, said in upstream.items()}
    asked = {case: said["by_type"].get("DNSKEY", 0) for case, said in upstream.items()}
    # Unbound asks for signatures also where it does not validate.
    for state in ("off", "on"):
        assert octets[state, "all"] > 1.5 * octets[state, "unsigned"]
    # Of unsigned zones just the root's keys are wanted, of signed ones those of each zone on the way.
    assert asked["on", "unsigned"] < 5
    assert asked["on", "all"] > 100
    assert asked["off", "unsigned"] == asked["off", "all"] == 0
    text = (run.path / "report.md").read_text()
    assert "signed: all" in text


def test_without_namespaces_it_says_what_is_lacking(tmp_path, monkeypatch):
    monkeypatch.setattr(users, "why_no_namespaces", lambda: "not root")
    monkeypatch.setattr(users, "why_no_user_namespaces", lambda: "user.max_user_namespaces is 0")
    with pytest.raises(EnvironmentLacksError, match="not root; user namespaces do not help") as raised:
        conduct.start(NAME, settings(NAME, **SHORT), tmp_path, [], Quiet())
    assert raised.value.exit_code == 3
    assert "What works without: `dnsrig internet serve --loopback`" in str(raised.value)
    assert not list(tmp_path.iterdir())


def test_who_cannot_be_asked_for_counts_is_not_measured_unless_named(monkeypatch):
    there = dict.fromkeys(("bind", "hickory-recursor", "unbound"))
    monkeypatch.setattr("dnsrig.studies.resolving.study.found_resolvers", lambda _: there)
    assert study("validation-cost").usual_servers() == ("bind", "unbound")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--server", "dnsmasq"], 2, "dnsmasq forwards instead"),
        (["--server", "unbound,hickory-recursor"], 2, "has no statistics that dnsrig can ask for: leave hickory-rec"),
        (["--server", "nonesuch"], 2, "there is no resolver"),
        (["--server", "nsd"], 2, "known are bind, hickory-recursor, knot-resolver, powerdns-recursor, unbound\n"),
        (["--server", "unbound", "--rate", "100", "--capture", __file__], 2, "test_validation_cost.py: "),
        (["--server", "unbound", "--rate", "100", "--capture-port", "5300"], 2, "give one with --capture"),
        (["--signed", "half"], 2, "'half' is not one of profile, unsigned, 2010, all"),
        (["--profile", "huge", "--server", "unbound"], 2, "internet-2022, small"),
    ],
)
def test_choices_that_cannot_be(dnsrig, tmp_path, arguments, code, said):
    skip_without("unbound", "knot-resolver")
    done = dnsrig("run", NAME, "--quick", "--out", tmp_path, *arguments)
    assert (done.code, said in done.err) == (code, True), done.err
    assert not list(tmp_path.iterdir())


def test_what_happens_when_all_is_signed_is_answered():
    some = {"rates": (1000,), "periods": 2, "signed": ("profile",)}
    chosen = validation_cost.ValidationSettings(servers=("unbound",), seed=1, **some)
    usual = study("validation-cost").text(chosen).questions
    more = study("validation-cost").text(replace(chosen, signed=("2010", "profile", "all"))).questions
    assert more[: len(usual)] == usual
    assert len(more) == 3 * len(usual)
    pairs = {(one.of["traffic"], one.of["validation"], one.to["traffic"], one.to["validation"]) for one in more}
    profile, of_all = ("1000-profile-udp-2", "1000-all-udp-2")
    assert pairs == {
        (profile, "on", profile, "off"),
        (of_all, "on", of_all, "off"),
        (of_all, "on", profile, "on"),
    }
    alone = study("validation-cost").text(replace(chosen, signed=("all",))).questions
    assert {one.of["traffic"] for one in alone} == {of_all}
    assert len(alone) == len(usual)
