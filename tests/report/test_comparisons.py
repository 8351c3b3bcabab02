"""Comparisons: of two runs, and of a server with itself within one run."""

import json
import re
from importlib import resources

import jsonschema
import pytest
from dnsrig.report.cases import group_cases
from dnsrig.report.compare import compare, comparison_text
from dnsrig.report.identical import identical_pairs
from dnsrig.report.pictures.style import _legend_columns
from dnsrig.report.statistics import Estimate, paired_ratio
from dnsrig.report.summary import summarise
from dnsrig.report.tables import interval_text
from dnsrig.report.verdicts import judge, no_difference
from example_studies import DENIAL_COST
from synthetic import Model, make_run

UNTOLD = "too wide to tell"
SMALL = {"servers": ("nsd",), "seconds": 1, "tainted": False}


def compared(tmp_path, first, second):
    found = compare(make_run(tmp_path, first), make_run(tmp_path, second))
    text = resources.files("dnsrig").joinpath("schemas/comparison.json").read_text()
    jsonschema.Draft202012Validator(json.loads(text)).validate(found)
    json.dumps(found, allow_nan=False)
    return found


def verdicts(found, figure):
    return {item["case_id"]: item["verdict"] for item in found["cases"] if item["figure"] == figure}


@pytest.mark.parametrize("repetitions", [3, 5])
def test_one_more_thread_is_found(tmp_path, repetitions):
    found = compared(
        tmp_path,
        Model(**SMALL, repetitions=repetitions, settings={"server_threads": 1}),
        Model(**SMALL, repetitions=repetitions, seed=2, threads=2, settings={"server_threads": 2}),
    )
    assert found["differs"]
    overall = {item["figure"]: item for item in found["overall"]}
    assert overall["qps"]["verdict"] == "higher"
    assert overall["qps"]["ratio"] == pytest.approx(2, rel=0.05)
    assert overall["server_threads"]["exact"]
    assert {"what": "setting server_threads", "a": 1, "b": 2} in found["set_up_differences"]
    text = comparison_text(found)
    assert "B differs from A beyond noise." in text
    assert "setting server_threads: 1 in A, 2 in B" in text
    assert re.search(r"nsd-nsec-denial +[\d,]+ -> [\d,]+ +higher by \d+ % \[", text)


def test_a_larger_key_is_found_by_exact_response_sizes(tmp_path):
    found = compared(tmp_path, Model(**SMALL, repetitions=3), Model(**SMALL, repetitions=3, seed=2, bytes_added=1))
    sizes = verdicts(found, "response_bytes_mean")
    assert sizes["nsd-none-denial"] == "no difference"
    assert sizes["nsd-nsec-denial"] == sizes["nsd-nsec3-5-denial"] == "higher"
    assert set(verdicts(found, "qps").values()) == {"no difference"}


@pytest.mark.parametrize(
    ("sizes", "direction", "text"),
    [
        ((300.0, 300.0), "no difference", "the same in every repetition"),
        ((300.0, 300.1), "no difference", "no difference above 0.03 %"),
        ((300.0, 301.0), "higher", "higher by 0.3 % (exact)"),
    ],
)
def test_what_matters_to_nobody_is_no_difference(sizes, direction, text):
    ratio = paired_ratio(*(dict.fromkeys(range(3), size) for size in reversed(sizes)))
    assert ratio.exact
    (verdict,) = judge([("response_bytes_mean", "nsd-none-denial", ratio)]).cases
    assert (verdict.direction, verdict.text) == (direction, text)


def test_equal_runs_rarely_differ(tmp_path):
    alarms = sum(
        compared(
            tmp_path,
            Model(**SMALL, repetitions=3, seed=seed),
            Model(**SMALL, repetitions=3, seed=seed + 1000),
        )["differs"]
        for seed in range(1, 11)
    )
    assert alarms <= 2


def test_equal_runs_say_what_they_could_have_seen(tmp_path):
    found = compared(tmp_path, Model(**SMALL), Model(**SMALL, seed=5))
    assert not found["differs"]
    text = comparison_text(found)
    assert "No difference between A and B beyond noise." in text
    assert re.search(r"Server CPU per query: no difference above \d+\.\d %", text)
    cpu = next(item for item in found["overall"] if item["figure"] == "server_cpu_us_per_query")
    assert 0 < cpu["smallest_visible"] < 0.05


@pytest.mark.parametrize(
    ("second", "text"),
    [
        ([1.00, 1.01, 0.99], "no difference above 2.5 %"),
        ([1.0, 1.0000001, 1.0], "no difference above 0.01 %"),
        ([1.52, 1.53], "among so many it may be chance: 1.46 to 1.59 times are possible"),
        ([1.0001, 1.0002, 1.0003], "no difference above 0.04 %"),
        ([1.0, 1.9, 0.8], f"{UNTOLD}: 0.38 to 3.51 times are possible"),
        ([1.0, 40.0], f"{UNTOLD}: less than 0.01 to more than 1,000 times are possible"),
    ],
)
def test_what_so_wide_an_interval_leaves_open_is_no_percentage(second, text):
    ratio = paired_ratio(dict(enumerate(second)), dict(enumerate([1.0] * len(second))))
    assert no_difference(ratio) == text


def test_intervals_beyond_all_sense_are_not_printed():
    assert interval_text(Estimate(48.5e6, 1.22e-3, 1.89e17, 2), "latency_p99_ns") == "too few to tell"
    assert "ms" in interval_text(Estimate(48.5e6, 12e6, 189e6, 2), "latency_p99_ns")


@pytest.mark.parametrize(
    ("labels", "columns"),
    [
        (["plain", "DO", "tainted"], 3),
        (["no warm-up", "flushed cache"] * 3 + ["tainted"], 6),
        (["a name of as many letters as fit in a line of its own, so that no other one has room"] * 2, 1),
        (["one"], 1),
    ],
)
def test_names_of_legends_go_on_below_where_they_do_not_fit(labels, columns):
    assert _legend_columns(labels) == columns


def test_single_repetitions_claim_nothing(tmp_path):
    found = compared(tmp_path, Model(**SMALL, repetitions=1), Model(**SMALL, repetitions=1, threads=2))
    assert not found["differs"]
    assert "Too few repetitions" in comparison_text(found)


def test_runs_without_a_common_case_say_so(tmp_path):
    found = compared(tmp_path, Model(**SMALL), Model(**{**SMALL, "servers": ("knot",)}))
    assert found["cases"] == []
    assert len(found["only_in_a"]) == len(found["only_in_b"]) == 9
    assert "no case in common" in comparison_text(found)


def test_tainted_cases_are_marked_in_a_comparison(tmp_path):
    text = comparison_text(
        compared(
            tmp_path,
            Model(servers=("nsd",), seconds=1),
            Model(servers=("nsd",), seconds=1, seed=2, threads=2),
        )
    )
    assert re.search(r"nsd-none-denial\* ", text)
    assert "nsd-none-denial: A: another process used 31 %" in text


def test_a_server_measured_twice_does_not_differ(tmp_path):
    run = make_run(tmp_path, Model(servers=("nsd", "nsd#2"), seconds=1))
    (pair,) = summarise(run, DENIAL_COST)["identical_servers"]
    assert pair["servers"] == ["nsd", "nsd#2"]
    assert not pair["differs"]
    assert "reports no difference between them" in pair["text"]
    assert re.search(r"Server CPU per query: no difference above \d\.\d %", pair["text"])


def test_a_difference_between_identical_servers_is_reported(tmp_path):
    run = make_run(tmp_path, Model(servers=("nsd", "nsd#2"), seconds=1, cpu_factor={"nsd#2": 1.1}))
    (pair,) = identical_pairs(group_cases(run.measurements()))
    assert pair.judgement.differs
    assert "yet the run reports differences: " in pair.text
    assert "Server CPU per query: higher by" in pair.text


def test_identical_servers_rarely_differ(tmp_path):
    alarms = 0
    for seed in range(10):
        run = make_run(tmp_path, Model(servers=("nsd", "nsd#2"), seconds=1, repetitions=3, seed=seed + 1))
        (pair,) = identical_pairs(group_cases(run.measurements()))
        alarms += pair.judgement.differs
    assert alarms <= 2


def test_different_servers_are_no_pair(full_run):
    assert identical_pairs(group_cases(full_run.measurements())) == []
