"""What real loads report: by the schema of `dnsrig load --json`, and in every form of their intervals."""

import json
import socket
import threading
from importlib import resources

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from dnsrig import _core
from dnsrig.loads import LoadSettings, Route, closed_loop, find_breaking_point, fixed_rate, run_load
from dnsrig.report.load_series import FORMS, LoadContext, open_series
from jsonschema import Draft202012Validator

LOADS = {
    "closed loop over UDP": ((("udp", 1.0),), closed_loop(20), {"duration_s": 1.2}),
    "fixed rate over UDP": ((("udp", 1.0),), fixed_rate(500.0), {"duration_s": 1.2}),
    "TCP": ((("tcp", 1.0),), closed_loop(20), {"queries": 300}),
    "a mix": ((("udp", 0.7), ("tcp", 0.3)), fixed_rate(500.0), {"duration_s": 1.2}),
}
SUMS = ("sent", "answered", "timed_out", "refused", "truncated")


@pytest.fixture(scope="module")
def schema():
    schema = json.loads(resources.files("dnsrig.schemas").joinpath("load.json").read_text())
    Draft202012Validator.check_schema(schema)
    return schema


@pytest.fixture
def stream(tmp_path):
    queries = tmp_path / "queries.txt"
    queries.write_text("example.test SOA\nwww.example.test A\nno-such-name.example.test A\n")
    return _core.QueryLog.read(queries).to_stream()


def undescribed(value, part, schema, path="report"):
    """List the keys of `value` that the schema does not describe."""
    properties, item, named_freely = {}, {}, False
    while True:
        properties = {**part.get("properties", {}), **properties}
        item = part.get("items", item)
        named_freely |= "propertyNames" in part
        if "$ref" not in part:
            break
        part = schema["$defs"][part["$ref"].removeprefix("#/$defs/")]
    if isinstance(value, list):
        return [name for entry in value for name in undescribed(entry, item, schema, f"{path}[]")]
    if not isinstance(value, dict) or named_freely:
        return []
    missing = [f"{path}.{key}" for key in value if not properties.get(key, {}).get("description")]
    known = {key: entry for key, entry in value.items() if key in properties}
    return missing + [
        name for key, entry in known.items() for name in undescribed(entry, properties[key], schema, f"{path}.{key}")
    ]


def check(report, schema):
    error = next(Draft202012Validator(schema).iter_errors(report), None)
    assert error is None, f"{error.json_path}: {error.message}"
    assert undescribed(report, schema, schema) == []


@pytest.mark.parametrize("name", LOADS)
def test_a_load_and_its_intervals(served, stream, tmp_path, schema, name):
    transports, schedule, stop = LOADS[name]
    routes = tuple(Route(transport, *served, weight=weight) for transport, weight in transports)
    settings = LoadSettings(routes=routes, schedule=schedule, timeout_s=2.0, **stop)
    context = LoadContext(("dnsrig", "load"), settings)
    series = [open_series(tmp_path / form, form, context) for form in FORMS]

    def add(interval):
        for one in series:
            one.add(interval)

    report, _ = run_load(stream, settings, add)
    for one in series:
        one.finish(report)
    check(report, schema)
    lines = [json.loads(line) for line in (tmp_path / "jsonl").read_text().splitlines()]
    check_lines(lines, report, [transport for transport, _ in transports])
    table = pq.read_table(tmp_path / "parquet")
    over_all = table.filter(pc.equal(table["transport"], "all" if len(transports) > 1 else transports[0][0]))
    assert {key: pc.sum(over_all[key]).as_py() for key in SUMS} == {key: report[key] for key in SUMS}
    assert table.num_rows == len(report["intervals"]) * (1 + len(report["transports"]))
    assert len((tmp_path / "csv").read_text().splitlines()) == table.num_rows + 1


def check_lines(lines, report, transports):
    assert lines[0]["type"] == "header" and lines[0]["schema_version"] == 20240530
    for subid in [None, *transports] if len(transports) > 1 else [None]:
        mine = [line for line in lines if line.get("subid") == subid]
        periods = [line for line in mine if line["type"] == "stats_periodic"]
        total = mine[-1]
        assert total["type"] == "stats_sum"
        assert len(periods) == len(report["intervals"])
        for key in ("queries", "responses", "timeouts", "unexpected", "discarded"):
            assert sum(line[key] for line in periods) == total[key], (subid, key)
        assert (periods[0]["since"], periods[-1]["until"]) == (total["since"], total["until"])
    assert (lines[-1]["queries"], lines[-1]["responses"]) == (report["sent"], report["answered"])
    assert lines[-1]["response_rcodes"] == report["rcodes"]


def answer_once(server):
    query, client = server.recvfrom(512)
    server.sendto(query[:2] + bytes([query[2] | 0x80]) + query[3:], client)


def test_a_server_that_answers_only_the_query_before_the_load(stream, tmp_path, schema):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        answering = threading.Thread(target=answer_once, args=(server,), daemon=True)
        answering.start()
        route = Route("udp", *server.getsockname())
        settings = LoadSettings(routes=(route,), schedule=closed_loop(5), queries=5, timeout_s=0.2)
        with open_series(tmp_path / "load", "jsonl", LoadContext(("dnsrig", "load"), settings)) as series:
            report, _ = run_load(stream, settings, series.add)
            series.finish(report)
    check(report, schema)
    last = json.loads((tmp_path / "load").read_text().splitlines()[-1])
    assert (last["queries"], last["timeouts"], last["response_rcodes"]) == (5, 5, {})
    assert "response_latency" not in last


def test_a_search(served, stream, schema):
    settings = LoadSettings(routes=(Route("udp", *served),), schedule=closed_loop(10), timeout_s=2.0)
    goal = {"first_trial_s": 0.2, "final_trial_s": 0.3, "duration_sum_s": 0.3, "width": 0.3, "loss_ratio": 0.1}
    report, _ = find_breaking_point(stream, settings, goal, {"min_qps": 100.0, "max_qps": 200.0})
    check(report, schema)
    assert report["breaking_point"]["trials"]


def test_the_command_line(dnsrig, served, stream, tmp_path, schema):
    done = dnsrig("load", "-p", served[1], "-d", tmp_path / "queries.txt", "-n", 10, "--json")
    assert done.code == 0, done.err
    check(done.json, schema)
