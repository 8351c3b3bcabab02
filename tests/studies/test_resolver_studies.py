"""full-cache, cold-start, resolver-cost and resolver-matrix: their cases, and whole runs on Unbound."""

import os
import socket
import threading
import time
from concurrent.futures import Future
from types import SimpleNamespace

import dns.flags
import dns.message
import pytest
from dnsrig import _core
from dnsrig.errors import EnvironmentLacksError, InputError, SubjectFailedError
from dnsrig.hosts.network.kernel import in_own_thread
from dnsrig.runs.folder import RunFolder
from dnsrig.servers.resolvers.counts import ResolverCounts
from dnsrig.studies import conduct, resolver_cost, resolver_matrix
from dnsrig.studies.cold_start import cold_to_hot_latency, hot_after_s, seconds, settled_after_s
from dnsrig.studies.registry import study
from dnsrig.studies.resolver_cost import denying, fastest, with_names
from dnsrig.studies.resolving import bench, probes, streams, timeline
from dnsrig.studies.resolving.cases import TREE, Traffic
from dnsrig.studies.resolving.place import Place, answering_tasks, place_of
from dnsrig.studies.resolving.streams import EDNS_SIZE, questions_of
from dnsrig.studies.resolving.trees import profile_path
from resolver_runs import Quiet, by_case, run_study, settings, skip_without

NAMES = ("full-cache", "cold-start", "resolver-cost", "resolver-matrix")


@pytest.mark.parametrize("name", NAMES)
def test_cases_are_different_and_have_streams_that_are_made(name):
    chosen = settings(name, ("unbound", "unbound"))
    blocks = study(name).blocks(chosen)
    ids = [case_id for block in blocks for case_id in block.case_ids()]
    assert len(ids) == len(set(ids))
    assert {block.label for block in blocks} == {"unbound", "unbound#2"}
    assert study(name).plan(chosen).measurements == len(ids)


@pytest.mark.parametrize("name", [*NAMES, "validation-cost"])
def test_words_name_every_row_and_column(name):
    text = study(name).text(settings(name))
    axes = [dict(case.axes) for block in study(name).blocks(settings(name)) for case in block.cases]
    assert {str(values[text.rows.key]) for values in axes} <= set(text.rows.labels)
    assert {str(values[text.columns.key]) for values in axes} <= set(text.columns.labels)
    assert text.baseline in text.rows.labels
    assert any("when that begins, its cache holds" in sentence for sentence in text.method)
    assert text.questions
    for question in text.questions:
        assert any(all(str(values[key]) == value for key, value in question.of.items()) for values in axes)


@pytest.fixture
def made(tmp_path):
    """Make the streams of a study, of the Internet `small`, in a run of their own."""

    def make(name, trees, **more):
        internet = _core.Internet("small", seed=1, signed_at_s=int(time.time()), domains=2000, distances=False)
        run = RunFolder.create(tmp_path, name, argv=[], settings={}, seed=1)
        chosen = settings(name, **more)
        for tree in trees:
            # What a run does when it makes its Internets.
            profile_path(run, tree).parent.mkdir(exist_ok=True)
            profile_path(run, tree).write_text(_core.Internet.profile_text(chosen.profile), encoding="utf-8")
        return study(name).streams(chosen, run, dict.fromkeys(trees, internet))

    return make


@pytest.mark.parametrize(
    ("rate_qps", "cpu_share", "is_said"), [(900.0, 1.9, True), (900.0, 1.7, False), (None, 2.0, False)]
)
def test_given_rates_that_take_all_of_a_resolvers_cpu_taint(monkeypatch, rate_qps, cpu_share, is_said):
    verdict = {"bottleneck": "server", "evidence": [], "tainted": []}
    monkeypatch.setattr(bench, "judge", lambda *_: dict(verdict))
    judging = SimpleNamespace(_where=SimpleNamespace(server=(0, 1)))
    judged = bench.ResolverBench._judge(judging, Traffic("any", rate_qps=rate_qps), None, None, cpu_share)
    said = ["the resolver used more than 90 % of its CPU: queries waited for one another"]
    assert judged["tainted"] == (said if is_said else [])


@pytest.mark.parametrize(("load_s", "each_s"), [(0.2, 0.1), (3.0, 0.1), (15.0, 0.5), (60.0, 1.0)])
def test_long_loads_are_looked_at_less_often(load_s, each_s):
    assert bench.sampled_each_s(load_s) == pytest.approx(each_s)


def test_no_load_of_new_names_begins_again():
    for name in ("resolver-cost", "resolver-matrix", "cold-start"):
        blocks = study(name).blocks(settings(name))
        again = {case.traffic.stream for block in blocks for case in block.cases if not case.traffic.is_once}
        assert again == ({"hits-100"} if name == "resolver-cost" else set())


def test_steady_streams_last_as_long_as_the_load_whatever_names_there_are(made):
    found = made("resolver-cost", [TREE], load_s=0.2, steady_s=0.5, rate_qps=400.0, fresh_names=10, hot_names=50)
    assert len(found["steady"]) == len(found["steady-nsec3"]) == 201
    hot = set(questions_of(found["hot"]))
    for kind in ("steady", "steady-nsec3"):
        new = [line for line in questions_of(found[kind]) if line not in hot]
        assert len(new) == len(set(new)) == 40


def test_there_are_names_for_what_the_fastest_resolver_asked_for_in_a_trial(monkeypatch):
    chosen = settings("resolver-cost", load_s=10.0, hit_shares=(20, 90))
    assert (chosen.new_names, chosen.flood_names) == (40_000, 400_000)
    items = [
        {"case": {"asked": asked}, "load": {"qps": qps}}
        for asked, qps in (("hits-20", 9000.0), ("hits-20", 11_010.0), ("hits-100", 90_000.0), ("flood-nsec", 100.0))
    ]
    monkeypatch.setattr(resolver_cost, "left_octets", lambda: 1e12)
    found = with_names(chosen, fastest(items))
    # Half as many again, of 20 % hits the misses alone; and never fewer than without a trial.
    assert (found.misses_qps, found.mixed_qps, found.flood_qps) == (13_200, 135_000, 40_000)
    assert found.new_names == 132_000
    assert found.queries_of(0.9, found.new_names) == 1_320_000
    assert found.queries_of(0.2, 8000) == 10_000
    monkeypatch.setattr(resolver_cost, "left_octets", lambda: 500.0 * 10 * 50_000)
    assert with_names(chosen, fastest(items)).mixed_qps == 50_000
    assert with_names(chosen, {}) == chosen


def test_a_trial_is_of_what_is_fastest():
    trial = resolver_cost._Trial().cases(settings("resolver-cost", hit_shares=(0, 100)))
    assert [case.name for (case,) in trial] == [
        *("hits-0-off", "hits-100-off", "flood-nsec-off", "flood-nsec-on", "flood-nsec3-off", "flood-nsec3-on"),
    ]


def test_as_many_names_as_the_internet_has_do_where_none_were_chosen(made, monkeypatch):
    monkeypatch.setattr(streams, "MOST_DRAWS", 2)
    more = {"load_s": 1.0, "steady_s": 0.5, "rate_qps": 100.0, "hot_names": 50, "hit_shares": (0,)}
    found = made("resolver-cost", [TREE], **more, misses_qps=10_000_000)
    assert 1000 < len(found["hits-0"]) < 100_000
    with pytest.raises(InputError, match="too few names"):
        made("resolver-cost", [TREE], **more, fresh_names=10_000_000)


def test_probes_are_other_questions_than_the_loads(made):
    found = made("resolver-matrix", ["p-256"], load_s=1.0, rate_qps=100.0, keys=("p-256",), conditions=("ethernet",))
    asked = set(questions_of(found["p-256-probes"]))
    assert len(asked) == probes.PROBES
    assert sum(line.startswith("missing.") for line in asked) == probes.PROBES // resolver_matrix.DENIED_EVERY
    assert asked.isdisjoint(questions_of(found["p-256-do0"]))


def test_a_plan_of_the_matrix_counts_the_waits_of_cells_that_do_not_resolve():
    matrix = study("resolver-matrix")
    by_path = {
        path: matrix.plan(settings("resolver-matrix", conditions=(path,), keys=("unsigned",))).seconds
        for path in ("ethernet", "tcp-only")
    }
    # Two questions of five seconds each in each of four cells, before the load.
    assert by_path["tcp-only"] - by_path["ethernet"] == pytest.approx(4 * 10 * settings("resolver-matrix").repetitions)


@pytest.mark.parametrize("do_bit", [False, True])
def test_clients_without_do_ask_for_ad(do_bit):
    query = dns.message.from_wire(probes.probe("a. A", do_bit=do_bit).to_wire())
    assert bool(query.ednsflags & dns.flags.DO) is do_bit
    assert bool(query.flags & dns.flags.AD) is not do_bit
    assert query.payload == EDNS_SIZE


def test_signed_zones_are_compared_over_the_open_path_where_it_is_measured():
    for conditions, path in ((("tcp-only", "ethernet"), "ethernet"), (("tcp-only", "mtu-1280"), "tcp-only")):
        text = study("resolver-matrix").text(settings("resolver-matrix", conditions=conditions))
        assert {question.of["cell"] for question in text.questions} == {f"{path}-anchor-do1"}


def test_conditions_that_need_nft_say_so_before_anything_runs(monkeypatch):
    monkeypatch.setattr(resolver_matrix, "find_program", lambda _: None)
    matrix = study("resolver-matrix")
    matrix.check(settings("resolver-matrix", conditions=("ethernet", "mtu-1280")))
    with pytest.raises(EnvironmentLacksError, match=r"nft is not installed: .* leave no-fragments and tcp-only out"):
        matrix.check(settings("resolver-matrix", conditions=("mtu-1280", "no-fragments", "tcp-only")))


def test_an_internet_that_ends_ends_the_run_and_blames_no_resolver(tmp_path, monkeypatch):
    skip_without("unbound")
    reading, asked = Place.reading, []

    def ends(self):
        asked.append(self)
        if len(asked) == 3:
            self.server.stop()
        return reading(self)

    monkeypatch.setattr(Place, "reading", ends)
    watcher = Quiet()
    with pytest.raises(EnvironmentLacksError, match="the simulated Internet has ended"):
        conduct.start("full-cache", settings("full-cache", load_s=0.3), tmp_path, ["dnsrig"], watcher)
    (folder,) = tmp_path.iterdir()
    run = RunFolder.open(folder)
    assert (run.status, run.manifest()["failures"], watcher.problems) == ("failed", [], [])
    assert run.manifest()["reason"] == "the simulated Internet has ended"
    assert len(run.measurements()) == 1


def test_nobody_waits_for_probes_after_an_interruption_and_none_is_asked_again(monkeypatch):
    monkeypatch.setattr(probes, "PROBE_S", 2.0)
    monkeypatch.setattr(resolver_matrix, "questions_of", lambda _: ["a. A", "b. A"])
    before, outcome = set(threading.enumerate()), Future()
    found = resolver_matrix.MatrixBench.__new__(resolver_matrix.MatrixBench)
    found._streams = {"unsigned-probes": None}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        silent.settimeout(20)

        def interrupted(function):
            in_own_thread(function, outcome)
            assert {silent.recv(4096)[12:14] for _ in range(2)} == {b"\1a", b"\1b"}
            assert all(thread.daemon for thread in set(threading.enumerate()) - before)
            raise KeyboardInterrupt

        where = SimpleNamespace(clients=SimpleNamespace(call=interrupted), address="127.0.0.1")
        with pytest.raises(KeyboardInterrupt):
            case = SimpleNamespace(tree="unsigned", axes=(("cell", "ethernet-anchor-do1"),))
            found._before_load(case, None, where, silent.getsockname()[1])
        assert outcome.result(20) == {"asked": 2, "answered": 0, "secure": 0}
        silent.setblocking(False)
        with pytest.raises(BlockingIOError):
            silent.recv(4096)


class UpResolver:
    """Stands for a resolver that runs and takes commands."""

    def check_running(self):
        pass

    def counts(self):
        pass

    def pids(self):
        return [os.getpid()]


@pytest.mark.parametrize("intervals", [0, 1])
def test_only_a_load_of_which_nothing_was_sent_is_said_not_to_have_been(monkeypatch, intervals):
    monkeypatch.setattr(resolver_matrix, "path_counts", lambda *_: {"dropped": 0})

    def load(self, server, where, traffic, port, *, on_start, on_second, is_warm_up):
        for _ in range(intervals):
            on_second({"sent": 100})
        raise SubjectFailedError("no answer")

    monkeypatch.setattr(bench.ResolverBench, "_load", load)
    found = resolver_matrix.MatrixBench.__new__(resolver_matrix.MatrixBench)
    case = study("resolver-matrix").blocks(settings("resolver-matrix"))[0].cases[0]
    monkeypatch.setattr(
        bench.ResolverBench, "_measured", lambda self, case, server, where, port: self._load(server, where, case, port)
    )
    if intervals:
        with pytest.raises(SubjectFailedError, match=r"^no answer$"):
            found._measured(case, UpResolver(), None, 53)
    else:
        assert found._measured(case, UpResolver(), None, 53).tainted == ["no load was sent: no answer"]


def test_a_load_after_which_there_are_no_counts_was_sent(monkeypatch):
    monkeypatch.setattr(resolver_matrix, "path_counts", lambda *_: {"dropped": 0})

    def hangs(*_):
        raise SubjectFailedError("it takes no commands")

    monkeypatch.setattr(bench.ResolverBench, "_measured", hangs)
    found = resolver_matrix.MatrixBench.__new__(resolver_matrix.MatrixBench)
    with pytest.raises(SubjectFailedError, match="takes no commands"):
        found._measured(SimpleNamespace(condition=""), UpResolver(), None, 53)


def test_a_cell_in_which_nothing_is_answered_is_a_result(tmp_path, monkeypatch):
    run_load = bench.run_load

    def unanswered(stream, chosen, *told):
        report, interrupted = run_load(stream, chosen, *told)
        if chosen.schedule["kind"] == "fixed_rate":
            report |= {"qps": 0.0, "answered": 0, "rcodes": {}}
        return report, interrupted

    monkeypatch.setattr(bench, "run_load", unanswered)
    run, summary = run_study(
        "resolver-matrix", tmp_path, load_s=0.5, rate_qps=50.0, keys=("unsigned", "p-256"), conditions=("ethernet",)
    )
    assert (summary["status"], run.manifest()["failures"]) == ("complete", [])
    found = by_case(run)
    assert len(found) == 8
    for item in found.values():
        assert item["resolves"]["answered"] == probes.PROBES
        assert item["server_cpu_us_per_query"] is None
        assert "nothing was answered while the load lasted" in item["tainted"]
    assert "fails (no answer under load; before it 8 of 8)" in (run.path / "report.md").read_text()


@pytest.mark.usefixtures("pictures")
def test_dnssec_answers_from_a_full_cache_are_larger_and_nothing_is_asked_upstream(tmp_path):
    run, summary = run_study("full-cache", tmp_path, ("unbound", "unbound"), load_s=0.5, repetitions=2)
    found = by_case(run)
    assert len(found) == 8
    for item in found.values():
        assert item["resolver"]["cache_hit_share"] > 0.99
        assert item["upstream"]["queries"] < 0.01 * item["load"]["answered"]
        # All names exist, by their making.
        assert set(item["load"]["rcodes"]) == {"NOERROR"}
    plain, dnssec = (found[f"unbound-{queries}-on"] for queries in ("plain", "do"))
    sizes = [item["load"]["bytes"]["received"] / item["load"]["answered"] for item in (plain, dnssec)]
    assert sizes[1] > sizes[0] + 60
    (pair,) = summary["identical_servers"]
    assert pair["servers"] == ["unbound", "unbound#2"]
    text = (run.path / "report.md").read_text()
    assert "JPRS-2010 (published), an appliance" in text
    assert "| JPRS-2010: size of an answer with DO to that of a plain one | 4.71 |" in text
    sizes = [row for row in summary["published_figures"] if row["what"].startswith("size of an answer with DO")]
    assert [row["server"] for row in sizes] == ["unbound", "unbound#2"]
    assert all(row["verdict"] in {"as published", "other", "not decided"} and row["ci95"] for row in sizes)
    assert "CPU of the simulated Internet / of the resolver" in text


@pytest.mark.usefixtures("pictures")
def test_cache_hits_are_reached_and_floods_are_denied(tmp_path):
    run, summary = run_study(
        "resolver-cost",
        tmp_path,
        load_s=1.0,
        steady_s=2.0,
        hit_shares=(0, 90),
        fresh_names=1500,
        hot_names=200,
        rate_qps=200.0,
    )
    assert summary["status"] == "complete"
    found = by_case(run)
    assert found["unbound-hits-0-on"]["resolver"]["cache_hit_share"] < 0.15
    assert 0.8 < found["unbound-hits-90-on"]["resolver"]["cache_hit_share"] <= 1
    for kind in ("nsec", "nsec3"):
        load = found[f"unbound-flood-{kind}-on"]["load"]
        assert load["rcodes"]["NXDOMAIN"] > 0.95 * load["answered"]
    assert found["unbound-steady-on"]["load"]["sent"] == pytest.approx(400, abs=2)
    # Nothing of a load is asked twice, so it ends with its names.
    assert found["unbound-hits-0-off"]["load"]["sent"] <= 1500
    (rate,) = [
        row for row in summary["published_figures"] if row["keys"] == ["case1_resolver.qps_ratio_dnssec_on_to_off"]
    ]
    qps = {state: found[f"unbound-hits-0-{state}"]["load"]["qps"] for state in ("on", "off")}
    assert rate["measured"] == pytest.approx(qps["on"] / qps["off"], rel=1e-6)
    assert (rate["verdict"], rate["because"]) == ("not decided", "one repetition has no interval")
    assert "| JPRS-2010: rate with validation to that without | 0.60 |" in (run.path / "report.md").read_text()


@pytest.mark.usefixtures("pictures")
def test_a_warm_up_saves_upstream_queries(tmp_path):
    run, summary = run_study("cold-start", tmp_path, load_s=2.0, rate_qps=300.0, warm_up_queries=2000)
    found = by_case(run)
    cold, flushed, warm = (found[f"unbound-{method}-on"] for method in ("none", "flush", "list"))
    assert flushed["upstream"]["queries"] == pytest.approx(cold["upstream"]["queries"], rel=0.15)
    assert warm["upstream"]["queries"] < 0.7 * cold["upstream"]["queries"]
    assert warm["resolver"]["cache_hit_share"] > cold["resolver"]["cache_hit_share"]
    assert cold["cold_start"]["hot_after_s"] is None
    for item in found.values():
        by_second = item["cold_start"]["by_second"]
        assert {len(values) for values in by_second.values()} == {2}
        # Each second's own answers; those to the last queries come after the last second.
        assert 0.8 * item["load"]["answered"] < sum(by_second["answered"]) <= item["load"]["answered"]
        assert all(0 < share < 1 for share in by_second["cache_hit_share"])
    # From cold to hot: the more is in the cache, the more of the rest is hits.
    assert cold["cold_start"]["by_second"]["cache_hit_share"][0] < cold["cold_start"]["by_second"]["cache_hit_share"][1]
    warming = {case["case_id"]: case["warming"] for case in summary["cases"]}
    assert warming["unbound-none-on"]["spans_s"] == [[0, 1], [1, 2]]
    assert warming["unbound-none-on"]["cache_hit_share"] == pytest.approx(
        cold["cold_start"]["by_second"]["cache_hit_share"], rel=1e-6
    )
    assert warming["unbound-list-on"]["cache_hit_share"][0] > warming["unbound-none-on"]["cache_hit_share"][0]
    # Every query was to somebody, and the report says to whom, for what.
    operators = cold["upstream"]["by_operator"]
    for key in ("queries", "tcp_queries", "query_octets", "answer_octets"):
        assert sum(counts[key] for counts in operators.values()) == cold["upstream"][key]
    assert {".", ".com", "large-dns", "own servers"} <= set(operators)
    report = (run.path / "report.md").read_text()
    assert "upstream queries per query, by operator" in report
    assert "upstream queries per query, by type" in report
    assert "| case | 0 to 1 s | 1 to 2 s |" in report
    assert {"hits-over-time.svg", "median-over-time.svg", "p99-over-time.svg"} <= {
        path.name for path in (run.path / "pictures").iterdir()
    }
    verdicts = {tuple(row["keys"]): row["verdict"] for row in summary["published_figures"]}
    assert verdicts["case3_cold_start.warm_up",] == "not compared"
    assert verdicts["case3_cold_start.load_dnssec_on_to_off",] == "not decided"
    assert summary["status"] == "complete"


@pytest.mark.parametrize(
    ("upstream", "expected"),
    [
        ([90, 60, 30, 10, 10, 10, 10, 10, 10, 10, 10, 10], 3.0),
        ([10] * 12, 0.0),
        ([0] * 12, 0.0),
        ([50, 40], None),
        ([10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 90], None),
    ],
)
def test_hot_is_where_it_stays_as_at_the_end(upstream, expected):
    assert hot_after_s(upstream, [100] * len(upstream)) == expected


def test_what_is_not_known_of_a_second_leaves_open_when_it_settled():
    assert settled_after_s([0.9, 0.6, 0.3, *[0.1] * 9]) == 3.0
    assert settled_after_s([0.9, 0.6, None, *[0.1] * 9]) is None


def test_nobody_is_hot_without_answers():
    assert hot_after_s([1] * 12, [0] * 12) is None


@pytest.mark.parametrize(
    ("latencies", "expected"),
    [
        ([80, 60, 40, *[20] * 9], 3.0),
        ([80, None, 40, *[20] * 9], 3.0),
        ([None, None, None, *[20] * 9], None),
        ([20] * 9 + [None] * 3, None),
        ([80, 60, 40, 20, 20], None),
    ],
)
def test_a_cold_start_is_slower_than_the_end_by_the_means_of_both(latencies, expected):
    assert cold_to_hot_latency(latencies) == expected


def test_seconds_whose_counts_or_answers_are_not_known_have_none():
    rows = [
        {"start_s": float(number), "answered": answered, "latency_ns": dict.fromkeys(("mean", "p50", "p99"), latency)}
        for number, (answered, latency) in enumerate([(10, 5), (0, None), (20, 4)])
    ]
    found = seconds(rows, [30, 4, 10], [0.5, None, 0.75])
    assert found["upstream_per_query"] == [3.0, None, 0.5]
    assert found["cache_hit_share"] == [0.5, None, 0.75]
    assert found["latency_p99_ns"] == [5, None, 4]


def test_a_resolver_that_does_not_say_what_it_counts_for_a_second_is_asked_again(monkeypatch):
    counts = [
        ResolverCounts(100, 20, None, None),
        None,
        ResolverCounts(200, 60, None, None),
        ResolverCounts(300, 150, None, None),
    ]

    def says():
        found = counts[len(asked._counted)]
        if found is None:
            raise SubjectFailedError("it takes no commands")
        return found

    machine = SimpleNamespace(read=lambda **_: None, close=lambda: None)
    group = SimpleNamespace(watch=lambda _: None, read=lambda **_: None, close=lambda: None)
    monkeypatch.setattr(timeline, "MachineReader", lambda _: machine)
    monkeypatch.setattr(timeline, "GroupReader", lambda: group)
    asked = timeline.Timeline.__new__(timeline.Timeline)
    asked.__init__(SimpleNamespace(upstream_queries=lambda: 0), [1], says)
    for length_s in (1.0, 1.0, 0.1, 1.0):
        asked.note({"phase": "measure", "length_s": length_s})
    asked.note({"phase": "drain", "length_s": 1.0})
    assert asked.hit_share_by_second == [None, None, 0.9]


def of_cell(found, key, path, anchor="anchor", do=1):
    return found[f"unbound-{key}-{path}-{anchor}-do{do}"]


@pytest.mark.usefixtures("pictures")
def test_the_matrix_says_where_it_resolves_and_validates(tmp_path, monkeypatch):
    # What no answer comes to is waited for as long.
    monkeypatch.setattr(probes, "PROBE_S", 1.0)
    run, summary = run_study(
        "resolver-matrix",
        tmp_path,
        load_s=0.5,
        rate_qps=100.0,
        keys=("p-256",),
        conditions=("ethernet", "tcp-only", "balanced"),
        udp_size=1232,
    )
    assert summary["status"] == "complete"
    found = by_case(run)
    assert len(found) == 3 * 4
    for path in ("ethernet", "balanced"):
        for do in (0, 1):
            signed, without = (
                of_cell(found, "p-256", path, anchor, do)["resolves"] for anchor in ("anchor", "no-anchor")
            )
            assert signed["answered"] == signed["secure"] == without["answered"] == signed["asked"], (signed, without)
            assert without["secure"] == 0
    for anchor in ("anchor", "no-anchor"):
        item = of_cell(found, "p-256", "balanced", anchor)
        assert min(item["balanced"]["queries"]) > 0
        # What dnsdist hands on is counted by one of the two; the probes, and what drivers ask, come before the load.
        assert item["load"]["answered"] <= item["resolver"]["queries"] <= sum(item["balanced"]["queries"])
        assert item["server"]["processes"] == 2
    # Unbound does not go over to TCP where UDP is refused: a cell that fails, and is measured as such.
    for name, item in found.items():
        if "tcp-only" in name:
            assert (item["resolves"]["answered"], item["load"]["answered"]) == (0, 0)
            assert any("no load was sent: 192.168.53.1:53 gave no answer" in reason for reason in item["tainted"])
    report = (run.path / "report.md").read_text()
    assert "fails (0 of 8 answered) |" in report and "(pictures/resolves.png)" in report


@pytest.mark.parametrize(
    ("key", "cell", "counts", "text"),
    [
        ("p-256", "ethernet-anchor-do1", (8, 8, 8, True), "validates"),
        ("p-256", "ethernet-anchor-do1", (8, 8, 7, True), "7 of 8 secure"),
        ("p-256", "ethernet-anchor-do1", (8, 6, 6, True), "6 of 8"),
        ("p-256", "ethernet-anchor-do1", (8, 0, 0, True), "fails"),
        ("p-256", "ethernet-anchor-do1", (8, 8, 8, False), "fails"),
        ("p-256", "ethernet-no-anchor-do1", (8, 8, 0, True), "resolves"),
        ("unsigned", "ethernet-anchor-do1", (8, 8, 0, True), "resolves"),
    ],
)
def test_a_tile_says_what_its_cell_has(monkeypatch, key, cell, counts, text):
    monkeypatch.setattr(resolver_matrix, "_probed", lambda _: counts)
    tile = resolver_matrix._tile(SimpleNamespace(case={"key": key, "cell": cell}))
    assert tile.text == text and (tile.colour == resolver_matrix.WELL) == (text == "validates")


def test_large_answers_meet_the_conditions_of_the_path(tmp_path):
    """Answers of domains that are signed with RSA 2048 have more than a packet, and fragments of them are dropped."""
    paths = ("ethernet", "mtu-1280", "no-fragments")
    run, summary = run_study(
        "resolver-matrix", tmp_path, load_s=1.0, rate_qps=100.0, keys=("unsigned", "rsa-2048"), conditions=paths
    )
    assert summary["status"] == "complete"
    found = by_case(run)
    path = {name: of_cell(found, "rsa-2048", name)["path"] for name in paths}
    assert min(path[name]["fragments"] for name in ("ethernet", "mtu-1280")) > 0
    assert path["no-fragments"]["dropped"] > 0
    # That is what the path is for, and no fault of the Internet.
    dropping = of_cell(found, "rsa-2048", "no-fragments")
    assert dropping["upstream"]["dropped"] > 0 and bench.UNSENT not in dropping["tainted"]
    assert {path[name]["dropped"] for name in ("ethernet", "mtu-1280")} == {path["no-fragments"]["fragments"]} == {0}
    assert all(of_cell(found, "unsigned", name)["path"] == {"dropped": 0, "fragments": 0} for name in paths)
    # What is lost is asked for again, and is there in the end.
    for name in paths:
        signed, unsigned = (of_cell(found, key, name)["resolves"] for key in ("rsa-2048", "unsigned"))
        assert signed["answered"] == signed["secure"] == unsigned["answered"] == signed["asked"]
        assert unsigned["secure"] == 0
    caches = [of_cell(found, key, "ethernet")["resolver"]["cache_octets"] for key in ("unsigned", "rsa-2048")]
    assert caches[1] > 1.2 * caches[0]
    assert "These cells say no more than those of Ethernet" not in (run.path / "report.md").read_text()


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("resolver-cost", ["--flood", "nsec5"], "'nsec5' is not one of nsec, nsec3"),
        ("resolver-cost", ["--hit-share", "101"], "101"),
        ("resolver-matrix", ["--key", "rsa-512"], "'rsa-512' is not one of unsigned"),
        ("resolver-matrix", ["--condition", "wet"], "'wet' is not one of ethernet"),
        ("cold-start", ["--warm-up", "prayer"], "'prayer' is not one of none, flush, sample, list"),
        ("cold-start", ["--rate", "1,2"], "takes one value for --rate, not 2"),
        ("denial-cost", ["--rate", "5"], "denial-cost has no --rate"),
    ],
)
def test_choices_that_cannot_be(dnsrig, tmp_path, name, arguments, said):
    skip_without("unbound")
    done = dnsrig("run", name, "--quick", "--out", tmp_path, *arguments)
    assert (done.code, said in done.err) == (2, True), done.err


def test_floods_go_where_the_profile_denies_so(tmp_path):
    path = tmp_path / "mine.toml"
    small = _core.Internet.profile_text("small")
    path.write_text(small.replace('name = "se"', 'name = "eu"').replace('name = "com"', 'name = "example"'))
    assert denying(str(path), ("nsec", "nsec3")) == {"nsec": "eu.", "nsec3": "example."}
    assert denying("small", ("nsec", "nsec3")) == {"nsec": "se.", "nsec3": "com."}
    path.write_text(small.replace('denial = "nsec"', 'denial = "nsec3"'))
    with pytest.raises(InputError, match=r"is signed and denies by NSEC, .* add a \[\[tld\]\] that does, or take"):
        study("resolver-cost").check(settings("resolver-cost", profile=str(path)))
    study("resolver-cost").check(settings("resolver-cost", profile=str(path), floods=("nsec3",)))


def test_too_large_a_share_of_hits_is_refused():
    with pytest.raises(InputError, match="at most 100 %"):
        study("resolver-cost").check(settings("resolver-cost", hit_shares=(101,)))


def limits_of(**more):
    return " ".join(study("full-cache").text(settings("full-cache", **more)).limits)


def test_a_limit_of_memory_is_said_to_leave_out_the_cache_of_knot_resolver():
    found = limits_of(servers=("unbound", "knot-resolver"), memory_limit_mib=64)
    assert "cache (up to 100 MiB and more than the limit itself) is a file that it maps" in found
    assert "cache (up to 32 MiB) is a file" in limits_of(servers=("knot-resolver",), memory_limit_mib=64, cache_mib=32)
    others = limits_of(servers=("unbound",), memory_limit_mib=64) + limits_of(servers=("knot-resolver",))
    assert "Knot Resolver's cache" not in others


def test_unbounds_small_cache_is_said_unless_all_have_the_same():
    said = "Unbound ships with 4 MiB"
    assert said in limits_of(servers=("unbound", "bind"))
    assert said not in limits_of(servers=("unbound",), cache_mib=64) + limits_of(servers=("bind",))


def test_what_an_internet_without_distances_adds_to_cache_misses_is_said():
    text = study("full-cache").text(settings("full-cache"))
    assert "as soon as they have read it" in " ".join(text.method)
    assert "that of the simulated Internet included" in " ".join(text.limits)


def test_for_how_long_queries_are_gathered_is_said_and_follows_what_is_under_way():
    def said(**more):
        return " ".join(study("full-cache").text(settings("full-cache", **more)).method)

    assert "close together 1 ms later at most" in said(outstanding=100)
    assert "close together 0.02 ms later at most" in said(outstanding=2)
    assert "close together 1 ms later at most" in said(outstanding=5000)
    for unchanged in ({"gathers_us": 0}, {"distances": True}):
        assert "close together" not in said(**unchanged)
    assert "written as whole packets" in said()
    assert "whole packets" not in said(whole_packets=False)


def test_queries_are_gathered_in_closed_loops_alone():
    assert Traffic("some").is_closed_loop
    assert not Traffic("some", rate_qps=500.0).is_closed_loop
    assert not Traffic("some", replays=True).is_closed_loop


def test_the_internet_gives_way_to_the_generator():
    skip_without("unbound")
    internet = _core.Internet("small", seed=1, signed_at_s=int(time.time()), domains=2000, distances=False)

    def niceness():
        return [os.getpriority(os.PRIO_PROCESS, int(task.name)) for task in answering_tasks()]

    nicer = min(os.getpriority(os.PRIO_PROCESS, 0) + 5, 19)
    with place_of(internet):
        ends_s = time.monotonic() + 20.0
        # Threads have their names and their niceness when they run for the first time.
        while niceness() != [nicer] * 2 and time.monotonic() < ends_s:
            time.sleep(0.01)
        assert niceness() == [nicer] * 2


@pytest.mark.parametrize("name", ["validation-cost", "cold-start"])
def test_quick_runs_have_the_distances_of_long_ones(name):
    assert study(name).defaults["distances"] and "distances" not in study(name).quick
