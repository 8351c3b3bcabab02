"""The report: golden files, and what a reader must find in it."""

import json
import os
import re
from html.parser import HTMLParser
from importlib import resources
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest
from dnsrig.report.build import build_report, prose
from dnsrig.report.cases import group_cases
from dnsrig.report.pictures.log_bars import draw_log_bars
from dnsrig.report.sentences import answers
from dnsrig.report.summary import summarise
from example_studies import DENIAL_COST
from synthetic import Model, make_run, percentiles

GOLDEN = Path(__file__).parent / "golden"


def validate(value, schema):
    text = resources.files("dnsrig").joinpath(f"schemas/{schema}.json").read_text()
    jsonschema.Draft202012Validator(json.loads(text)).validate(value)


@pytest.mark.parametrize("name", ["report.md", "summary.json"])
@pytest.mark.parametrize("which", ["full_run", "iterations_run"])
def test_golden_files(which, name, request):
    """Set DNSRIG_UPDATE_GOLDEN=1 to write them anew, then read the difference."""
    text = (request.getfixturevalue(which).path / name).read_text()
    golden = GOLDEN / f"{which}.{name}"
    if os.environ.get("DNSRIG_UPDATE_GOLDEN"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(text)
    assert text == golden.read_text()


def test_summary_follows_its_schema_and_the_contract(full_run):
    summary = json.loads((full_run.path / "summary.json").read_text())
    validate(summary, "summary")
    assert summary == summarise(full_run, DENIAL_COST)
    assert len(summary["cases"]) == 27
    case = next(item for item in summary["cases"] if item["case_id"] == "nsd-nsec3-5-denial")
    assert (case["server"], case["server_version"], case["denial"], case["stream"]) == (
        "nsd", "4.6.1", "nsec3", "denial",
    )  # fmt: skip
    assert case["iterations"] == 5
    assert case["qps"]["n"] == 5
    low, high = case["qps"]["ci95"]
    assert low <= case["qps"]["median"] <= high
    assert case["response_bytes_mean"] == 862
    assert case["query_bytes_mean"] == 49
    assert case["latency_ns"]["p50"] < case["latency_ns"]["p99"]
    assert case["rcodes"] == {"NOERROR": 0, "NXDOMAIN": case["answered"]}


def test_measurements_of_the_synthetic_run_follow_their_schema(full_run):
    for item in full_run.measurements()[:9]:
        validate(item, "measurement")


def test_medians_are_those_of_the_measurements(full_run):
    values = sorted(item["load"]["qps"] for item in full_run.measurements() if item["case_id"] == "bind-nsec-normal")
    summary = json.loads((full_run.path / "summary.json").read_text())
    case = next(item for item in summary["cases"] if item["case_id"] == "bind-nsec-normal")
    assert case["qps"]["median"] == pytest.approx(values[2])


class Checker(HTMLParser):
    """Collects ids, what is loaded from elsewhere, and unbalanced tags."""

    VOID = frozenset({"meta", "link", "br", "img", "hr"})

    def __init__(self):
        super().__init__()
        self.ids, self.loaded, self.open, self.scripts, self.used = [], [], [], 0, []

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.scripts += tag == "script"
        if "id" in found:
            self.ids.append(found["id"])
        if found.get("src"):
            self.loaded.append(found["src"])
        if tag == "link":
            self.loaded.append(found.get("href"))
        if found.get("xlink:href"):
            self.used.append(found["xlink:href"])
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag


def test_the_page_stands_alone(full_run):
    page = (full_run.path / "report.html").read_text()
    checker = Checker()
    checker.feed(page)
    assert checker.open == []
    assert (checker.scripts, checker.loaded) == (0, [])
    assert len(checker.ids) == len(set(checker.ids))
    assert {use.removeprefix("#") for use in checker.used} <= set(checker.ids)
    assert not re.search(r"url\((?!#)", page)
    assert page.count("<svg ") == len(list((full_run.path / "pictures").glob("*.svg"))) == 7


def test_the_answer_stands_in_the_first_lines(full_run):
    text = (full_run.path / "report.md").read_text()
    first = text.split("## Answer")[1].split("##")[0]
    assert re.search(r"NSEC3 denial costs NSD 2\.\d\d times the CPU of NSEC denial \(95 % interval 2\.", first)
    page = (full_run.path / "report.html").read_text()
    assert page.index("NSEC3 denial costs NSD") < page.index("Question and method")


def test_every_figure_of_a_tainted_case_is_marked(full_run):
    page = (full_run.path / "report.html").read_text()
    tables = re.findall(r"<table>.*?</table>", page, flags=re.DOTALL)
    nsd = next(table for table in tables if "NSD 4.6.1" in table)
    row = next(line for line in re.findall(r"<tr>.*?</tr>", nsd, flags=re.DOTALL) if "unsigned" in line)
    assert row.count("<sup>a</sup>") == row.count("<td") == 9
    assert page.count("tainted: another process used 31 % of the generator&#39;s CPU") >= 8


def test_pictures_are_well_formed_and_do_not_change(tmp_path):
    run = make_run(tmp_path, Model(servers=("nsd",), streams=("denial",), repetitions=2, seconds=1))
    build_report(run, DENIAL_COST, percentiles)
    before = {path.name: path.read_bytes() for path in (run.path / "pictures").iterdir()}
    assert len(before) == 14
    for name, content in before.items():
        if name.endswith(".svg"):
            assert ElementTree.fromstring(content).tag.endswith("svg")
        else:
            assert content.startswith(b"\x89PNG")
    build_report(run, DENIAL_COST, percentiles)
    assert {path.name: path.read_bytes() for path in (run.path / "pictures").iterdir()} == before


def test_a_users_names_cannot_break_out_of_the_page_or_the_tables(tmp_path):
    model = Model(
        servers=("nsd",), streams=("denial",), repetitions=2, seconds=1, tainted=False,
        argv=("dnsrig", "run", "denial-cost", "--zone", "a<b>&|c d.zone"),
    )  # fmt: skip
    run = make_run(tmp_path, model)
    build_report(run, DENIAL_COST, percentiles)
    assert "a&lt;b&gt;&amp;|c d.zone" in (run.path / "report.html").read_text()
    assert "'a<b>&|c d.zone'" in (run.path / "report.md").read_text()


def test_an_interrupted_run_of_few_cases_has_a_report_that_says_so(tmp_path):
    model = Model(servers=("nsd",), denials=(("none", None),), streams=("denial",), repetitions=1, seconds=1)
    run = make_run(tmp_path, model, status="interrupted")
    run.record_failure(["bind-none-denial"], {"server": "bind"}, "named ended: permission denied")
    build_report(run, DENIAL_COST, percentiles)
    for name in ("report.html", "report.md"):
        text = (run.path / name).read_text()
        assert "interrupted" in text
        assert "cases may be missing" in text
        assert "Fewer than 5 repetitions" in text
        assert "no pair of cases" in text
        assert "named ended: permission denied" in text
    validate(json.loads((run.path / "summary.json").read_text()), "summary")


def test_a_run_without_histograms_or_series_has_a_report_too(tmp_path):
    run = make_run(tmp_path, Model(servers=("nsd",), repetitions=2, seconds=1))
    for path in run.path.glob("measurements/*/*"):
        if path.suffix == ".parquet":
            path.unlink()
        else:
            item = json.loads(path.read_text())
            del item["load"]["latency_histogram"], item["load"]["intervals"], item["machine"], item["monitor"]
            path.write_text(json.dumps(item))
    build_report(run, DENIAL_COST, percentiles)
    names = {path.stem for path in (run.path / "pictures").iterdir()}
    assert names == {"cpu", "rate", "sizes", "ratios"}


def test_two_numbers_of_iterations_become_two_rows(tmp_path):
    model = Model(servers=("nsd",), denials=(("none", None), ("nsec3", 5), ("nsec3", 50)), repetitions=2, seconds=1)
    run = make_run(tmp_path, model)
    build_report(run, DENIAL_COST, percentiles)
    text = (run.path / "report.md").read_text()
    assert "| NSEC3, iterations 5 |" in text
    assert text.index("| NSEC3, iterations 5 |") < text.index("| NSEC3, iterations 50 |")


def test_a_machine_with_other_work_is_warned_about(tmp_path):
    run = make_run(tmp_path, Model(servers=("nsd",), streams=("denial",), repetitions=2, seconds=1))
    assert not any("Other programs" in text for text in summarise(run)["warnings"])
    path = next(run.path.glob("measurements/*/0.json"))
    item = json.loads(path.read_text())
    item["machine"] |= {"cpu_share": 3.9, "steal_share": 0.03}
    path.write_text(json.dumps(item))
    warnings = " ".join(summarise(run)["warnings"])
    assert re.search(r"Other programs used up to 2\.\d CPUs", warnings)
    assert "took up to 3.0 % of the CPU time away" in warnings


def test_bars_without_anything_to_draw_are_an_empty_picture():
    draw_log_bars([], [], "rate", "reckoned").draw_without_rendering()
    draw_log_bars([("NSD", [])], ["UDP"], "rate", "reckoned").draw_without_rendering()


def test_an_answer_names_each_reason_for_distrust_once(tmp_path):
    run = make_run(tmp_path, Model(servers=("nsd",), tainted=False))
    measurements = run.measurements()
    for item in measurements:
        item["tainted"] = ["was short"] if item["repetition"] < (1 if item["case"]["denial"] == "nsec" else 3) else []
    found = answers(DENIAL_COST, group_cases(measurements), {})
    assert found[0].tainted == ("was short (4 of 10)",)


def test_words_between_backticks_are_code_and_nothing_else_is_markup():
    assert prose("`a<b`, `own servers` & <i>") == "<code>a&lt;b</code>, <code>own servers</code> &amp; &lt;i&gt;"
    assert prose("one ` alone") == "one ` alone"
