"""Files of a load's intervals: mapping, bad paths, full disks, and what is left of an unfinished one."""

import csv
import errno
import fcntl
import io
import json
import os
import threading
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from dnsrig import __version__
from dnsrig.errors import DnsrigError, EnvironmentLacksError, InputError
from dnsrig.loads import LoadSettings, Route, fixed_rate
from dnsrig.report.load_series import FORMS, LoadContext, open_series
from dnsrig.report.load_series.context import LoadClock, transport_names
from dnsrig.report.load_series.dns_metrics import CONNECTION_TYPES, closing, periodic
from dnsrig.report.load_series.rows import SCHEMA, rows

FIRST_SECOND_ENDED_NS = 1_700_000_001_000_000_000
START_NS = 1_700_000_000_000_000_000
NOTHING = dict.fromkeys(("least", "mean", "p50", "p90", "p99", "p999", "max"))
TIMES = {"least": 10, "mean": 40, "p50": 30, "p90": 60, "p99": 80, "p999": 90, "max": 95}
SESSIONS = dict.fromkeys(("tried", "opened", "failed", "closed_by_peer", "closed", "full", "resumed", "early_data"), 0)


def context(*transports):
    routes = tuple(Route(transport, "127.0.0.1", 5300) for transport in transports or ("udp",))
    settings = LoadSettings(routes=routes, schedule=fixed_rate(100.0), duration_s=2.0, timeout_s=0.5, seed=7)
    return LoadContext(("dnsrig", "load", "-Q", "100"), settings)


def figures(sent, **others):
    return {
        "sent": sent,
        "answered": sent,
        "timed_out": 0,
        "refused": 0,
        "late": 0,
        "strays": 0,
        "truncated": 0,
        "bytes_sent": 30 * sent,
        "bytes_received": 90 * sent,
        "latency_ns": TIMES if sent else NOTHING,
        "send_error_ns": TIMES if sent else NOTHING,
        "handshake_ns": NOTHING,
        "connections": SESSIONS,
        "rcodes": {"NOERROR": sent} if sent else {},
        **others,
    }


def interval(start_s, sent, length_s=1.0, phase="measure", parts=(), **others):
    entry = {"phase": phase, "start_s": start_s, "length_s": length_s, **figures(sent, **others)}
    return {**entry, "transports": list(parts)} if parts else entry


def whole(sent, **others):
    sums = figures(sent)
    return {
        **{name: sums[name] for name in ("sent", "answered", "timed_out", "refused", "late", "truncated", "rcodes")},
        **{name: sums[name] for name in ("latency_ns", "send_error_ns", "handshake_ns", "connections")},
        "transport": "udp",
        "abandoned": 0,
        "unmatched": 0,
        "malformed": 0,
        "moved_to_tcp": 0,
        "refusals": {"send_error": 0, "port_unreachable": 0, "connection_lost": 0},
        "qps": float(sent),
        "bytes": {"sent": 30 * sent, "received": 90 * sent},
        "wire": dict.fromkeys(("octets_sent", "octets_received", "packets_sent", "packets_received"), 0),
        "latency_histogram": "HISTF",
        **others,
    }


def report(*intervals, **others):
    sent = sum(entry["sent"] for entry in intervals)
    return {
        **whole(sent),
        "schedule": fixed_rate(100.0),
        "transports": [],
        "bottleneck": "none",
        "evidence": ["100 queries a second were asked for, sent and answered"],
        "tainted": [],
        "intervals": list(intervals),
        **others,
    }


@pytest.fixture
def clock():
    clock = LoadClock(lambda: FIRST_SECOND_ENDED_NS)
    clock.saw_end_of(interval(0.0, 0))
    return clock


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_json_lines_can_be_watched_and_are_named_when_whole(tmp_path):
    path = tmp_path / "load.jsonl"
    first, second, drain = interval(0.0, 100), interval(1.0, 90), interval(2.0, 0, 0.1, "drain")
    with open_series(path, "jsonl", context()) as series:
        partial = tmp_path / "load.jsonl.partial"
        assert [line["type"] for line in lines(partial)] == ["header"]
        series.add(first)
        assert lines(partial)[-1]["queries"] == 100
        series.add(second)
        series.add(drain)
        assert not path.exists()
        series.finish(report(first, second, drain, tainted=["the load was cancelled before its end"]))
    assert list(tmp_path.iterdir()) == [path]
    written = lines(path)
    assert [line["type"] for line in written] == ["header", *["stats_periodic"] * 3, "event", "event", "stats_sum"]
    assert len({line["runid"] for line in written}) == 1
    assert written[0]["generator_params"] == ["load", "-Q", "100"]
    assert (written[0]["generator_version"], written[0]["timeout"]) == (__version__, 0.5)
    assert [event["msg_type"] for event in written[4:6]] == ["bottleneck", "tainted"]
    periods = written[1:4]
    assert [entry["since"] for entry in periods[1:]] == [entry["until"] for entry in periods[:-1]]
    assert (written[-1]["since"], written[-1]["until"]) == (periods[0]["since"], periods[-1]["until"])
    assert "response_latency" not in periods[2], "nothing was answered, and the form has no null"


def test_intervals_that_were_not_passed_on_are_written_at_the_end(tmp_path):
    path = tmp_path / "load.jsonl"
    seconds = [interval(float(number), number) for number in range(4)]
    with open_series(path, "jsonl", context()) as series:
        series.add(seconds[0])
        series.add(seconds[2])
        series.finish(report(*seconds))
    queries = [line["queries"] for line in lines(path) if line["type"] == "stats_periodic"]
    assert sorted(queries) == [0, 1, 2, 3]


def test_an_unfinished_file_keeps_its_lines_only_where_they_can_be_read(tmp_path):
    for form in FORMS:
        with open_series(tmp_path / f"load.{form}", form, context()) as series:
            series.add(interval(0.0, 100))
    assert [path.name for path in tmp_path.iterdir()] == ["load.jsonl.partial"]
    assert [line["type"] for line in lines(tmp_path / "load.jsonl.partial")] == ["header", "stats_periodic"]


@pytest.mark.parametrize("form", FORMS)
def test_a_load_without_any_interval(tmp_path, form):
    path = tmp_path / "load"
    with open_series(path, form, context()) as series:
        series.finish(report())
    assert path.stat().st_size > 0


def test_every_query_ends_as_a_response_a_timeout_or_interrupted(clock):
    entry = interval(0.0, 10, answered=4, timed_out=3, refused=3, late=2, strays=5)
    (stats,) = periodic("run", entry, context(), clock)
    assert stats["queries"] == stats["responses"] + stats["timeouts"] + stats["interrupted"]
    assert (stats["discarded"], stats["unexpected"], stats["dnsrig"]["refused"]) == (2, 5, 3)
    ended = report(entry) | {
        "answered": 4,
        "timed_out": 3,
        "refused": 2,
        "abandoned": 1,
        "unmatched": 3,
        "malformed": 2,
    }
    *_, last = closing("run", ended, clock)
    assert last["queries"] == last["responses"] + last["timeouts"] + last["interrupted"] == 10
    assert (last["unexpected"], last["dnsrig"]["abandoned"]) == (5, 1)


def test_latency_is_in_nanoseconds(clock):
    (stats,) = periodic("run", interval(0.0, 1), context(), clock)
    assert stats["response_latency"] == {
        "avg": 40,
        "min": 10,
        "max": 95,
        "p50": 30,
        "p90": 60,
        "p99": 80,
        "p999": 90,
    }
    assert (stats["since"], stats["until"]) == (START_NS, FIRST_SECOND_ENDED_NS)
    (stats,) = periodic("run", interval(0.0, 1, latency_ns=TIMES | {"least": None}), context(), clock)
    assert "min" not in stats["response_latency"]


@pytest.mark.parametrize("transport", CONNECTION_TYPES)
def test_connections_of_a_transport(clock, transport):
    sessions = SESSIONS | {"tried": 5, "opened": 4, "failed": 1, "resumed": 3}
    entry = interval(0.0, 1, connections=sessions, handshake_ns=TIMES)
    (stats,) = periodic("run", entry, context(transport), clock)
    info = stats["conn_info"]
    assert info["type"] == CONNECTION_TYPES[transport]
    assert (info.get("handshakes"), info.get("handshakes_failed")) == ((4, 1) if transport != "udp" else (None, None))
    assert info.get("resumption") == ({"established": 3} if transport in {"dot", "doh", "doq"} else None)
    assert ("latency" in info) == (transport != "udp")


def test_the_sum_has_packets_where_they_are_known_and_the_errors_of_sockets(clock):
    wire = {"octets_sent": 1, "octets_received": 1, "packets_sent": 7, "packets_received": 6}
    refusals = {"send_error": 1, "port_unreachable": 2, "connection_lost": 4}
    *_, last = closing("run", report(interval(0.0, 1), wire=wire, refusals=refusals), clock)
    assert last["conn_info"] == {"type": "udp", "packets_sent": 7, "packets_received": 6, "socket_errors": 3}
    *_, last = closing("run", report(interval(0.0, 1)), clock)
    assert "packets_sent" not in last["conn_info"]


def test_several_transports_stand_beside_their_sum(clock):
    kinds = ("udp", "dot", "udp")
    assert transport_names([{"transport": kind} for kind in kinds]) == ["udp", "dot", "udp#2"]
    entry = interval(0.0, 6, parts=[{"transport": kind, **figures(2)} for kind in kinds])
    *parts, over_all = periodic("run", entry, context(*kinds), clock)
    assert [part["subid"] for part in parts] == ["udp", "dot", "udp#2"]
    assert "subid" not in over_all and "conn_info" not in over_all
    assert sum(part["queries"] for part in parts) == over_all["queries"]
    load = report(entry, transports=[{**whole(2), "transport": kind, "moved": 1} for kind in kinds])
    for part in load["transports"]:
        del part["moved_to_tcp"]
    sums = [item for item in closing("run", load, clock) if item["type"] == "stats_sum"]
    assert [item.get("subid") for item in sums] == ["udp", "dot", "udp#2", None]
    assert sums[0]["dnsrig"]["moved_to_tcp"] == 1
    assert [row["transport"] for row in rows(load, clock)] == ["udp", "dot", "udp#2", "all"]


def test_rows_have_a_column_for_every_figure(clock):
    rcodes = {"NOERROR": 3, "NXDOMAIN": 2, "RCODE12": 4, "OTHER": 1}
    first, drain = rows(report(interval(0.0, 10, rcodes=rcodes), interval(1.0, 0, 0.0, "drain")), clock)
    assert list(first) == SCHEMA.names
    assert (first["transport"], first["answered_qps"], first["start_unix_ns"]) == ("udp", 10.0, START_NS)
    assert (first["rcode_NOERROR"], first["rcode_NXDOMAIN"], first["rcode_other"]) == (3, 2, 5)
    assert (first["latency_p99_ns"], first["send_error_max_ns"], first["handshake_p50_ns"]) == (80, 95, None)
    assert drain["answered_qps"] is None


def test_csv_and_parquet_hold_the_same_table(tmp_path):
    load = report(interval(0.0, 100), interval(1.0, 0, 0.25, "drain"), tainted=["it was short"])
    for form in ("csv", "parquet"):
        with open_series(tmp_path / form, form, context()) as series:
            series.clock = LoadClock(lambda: FIRST_SECOND_ENDED_NS)
            series.add(load["intervals"][0])
            series.finish(load)
    table = pq.read_table(tmp_path / "parquet")
    stored = list(csv.DictReader(io.StringIO((tmp_path / "csv").read_text())))
    expected = [{name: "" if value is None else str(value) for name, value in row.items()} for row in table.to_pylist()]
    assert stored == expected
    metadata = {key.decode(): value.decode() for key, value in table.schema.metadata.items()}
    assert json.loads(metadata["dnsrig.argv"]) == ["dnsrig", "load", "-Q", "100"]
    assert (metadata["dnsrig.seed"], metadata["dnsrig.version"]) == ("7", __version__)
    assert json.loads(metadata["dnsrig.schedule"]) == fixed_rate(100.0)
    assert json.loads(metadata["dnsrig.tainted"]) == ["it was short"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("place", ["no-such-folder/load", "file/load", "", "x" * 300])
def test_a_path_that_cannot_be_written_is_known_before_the_load(tmp_path, form, place):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=str(tmp_path)):
        open_series(tmp_path / place, form, context())
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("form", FORMS)
def test_a_folder_without_permission(form):
    # Nobody makes files in /sys, not even root.
    with pytest.raises(EnvironmentLacksError, match=r"/sys/load cannot be written: .*; name a file elsewhere"):
        open_series(Path("/sys/load"), form, context())


@pytest.mark.parametrize("form", FORMS)
def test_two_loads_never_write_one_file_at_once(tmp_path, form):
    path = tmp_path / "load"
    with open_series(path, form, context()) as first:
        first.add(interval(0.0, 100))
        with pytest.raises(InputError, match=rf"{path}.partial is being written by another process"):
            open_series(path, form, context())
        first.finish(report(interval(0.0, 100)))
    whole = path.read_bytes()
    with open_series(path, form, context()) as second:
        assert path.read_bytes() == whole
        second.finish(report(interval(0.0, 70)))
    assert path.read_bytes() not in {whole, b""}
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_was_renamed_before_it_could_be_locked_is_left_alone(tmp_path, monkeypatch):
    path = tmp_path / "load"
    first = open_series(path, "csv", context())
    flock = fcntl.flock

    def finish_first_then_lock(file, operation):
        monkeypatch.setattr(fcntl, "flock", flock)
        first.finish(report(interval(0.0, 100)))
        flock(file, operation)

    monkeypatch.setattr(fcntl, "flock", finish_first_then_lock)
    with open_series(path, "csv", context()):
        assert path.read_text().count("\n") == 2
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_system_without_locks(tmp_path, monkeypatch):
    def no_locks(_file, _operation):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with open_series(tmp_path / "load", "csv", context()) as series:
        series.finish(report(interval(0.0, 100)))
    assert (tmp_path / "load").read_text().count("\n") == 2


@pytest.mark.parametrize("form", FORMS)
def test_a_full_disk_ends_in_an_error_with_the_path(form):
    def fill():
        with open_series(Path("/dev/full"), form, context()) as series:
            series.finish(report(interval(0.0, 100)))

    with pytest.raises(EnvironmentLacksError, match="/dev/full cannot be written: no room left on the disk"):
        fill()
    assert Path("/dev/full").is_char_device()


@pytest.mark.parametrize("form", FORMS)
def test_a_disk_that_fills_up_leaves_nothing_under_the_name(tmp_path, form, monkeypatch):
    path = tmp_path / "load"
    path.write_text("of an earlier load")
    with pytest.raises(DnsrigError, match=str(path)), open_series(path, form, context()) as series:
        full = Path("/dev/full").open("wb", buffering=0)  # noqa: SIM115 (closed by the series)
        monkeypatch.setattr(series.file, "_file", full)
        series.finish(report(interval(0.0, 100)))
    assert path.read_text() == "of an earlier load"
    assert {entry.name for entry in tmp_path.iterdir()} == ({"load", "load.partial"} if form == "jsonl" else {"load"})


@pytest.mark.parametrize("form", FORMS)
def test_a_pipe_is_written_as_it_is(tmp_path, form):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()))
    reader.start()
    with open_series(pipe, form, context()) as series:
        series.finish(report(interval(0.0, 100)))
    reader.join()
    assert received[0] and pipe.is_fifo() and list(tmp_path.iterdir()) == [pipe]


def test_an_unknown_form_is_named(tmp_path):
    with pytest.raises(InputError, match="'xml' is no form of intervals; there are jsonl, csv, parquet"):
        open_series(tmp_path / "load", "xml", context())
