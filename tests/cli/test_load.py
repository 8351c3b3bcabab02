"""`dnsrig load`: the contract of its JSON, and that its sums add up."""

import os
import pty
import signal
import subprocess
import sys

import pytest

CONTRACT = {
    "sent": int,
    "answered": int,
    "timed_out": int,
    "unmatched": int,
    "malformed": int,
    "qps": float,
    "rcodes": dict,
    "truncated": int,
    "latency_ns": dict,
    "send_error_ns": dict,
    "bytes": dict,
    "generator": dict,
    "bottleneck": str,
    "seed": int,
}


@pytest.fixture
def queries(tmp_path):
    path = tmp_path / "queries.txt"
    path.write_text("example.test SOA\nwww.example.test A\nno-such-name.example.test A\n")
    return path


@pytest.mark.parametrize("mode", ["udp", "tcp"])
def test_the_contract(dnsrig, served, queries, mode):
    done = dnsrig("load", "-p", served[1], "-d", queries, "-m", mode, "-n", 100, "-q", 10, "-c", 2, "-D", "--json")
    assert done.code == 0, done.err
    report = done.json
    for key, kind in CONTRACT.items():
        assert isinstance(report[key], kind), key
    assert set(report["latency_ns"]) >= {"mean", "p50", "p90", "p99", "p999", "max"}
    assert set(report["send_error_ns"]) >= {"p50", "p99", "max"}
    assert set(report["bytes"]) >= {"sent", "received"}
    assert set(report["generator"]) >= {"cpu_us_per_query", "socket_drops"}
    assert report["sent"] == 300 == report["answered"] + report["timed_out"] + report["refused"]
    assert report["rcodes"] == {"NOERROR": 200, "NXDOMAIN": 100}


def test_a_number_of_queries_at_a_fixed_rate(dnsrig, served, queries):
    done = dnsrig("load", "-p", served[1], "-d", queries, "--queries", 50, "-Q", 200, "--json")
    assert done.json["sent"] == 50
    assert done.json["schedule"]["kind"] == "fixed_rate"


def test_queries_from_standard_input(dnsrig, served):
    done = dnsrig("load", "-p", served[1], stdin="example.test NS\n")
    assert done.code == 0, done.err
    assert "answered" in done.out and "bottleneck" in done.out


def test_the_live_line_and_ctrl_c(served, queries, tmp_path):
    primary, secondary = pty.openpty()
    command = [sys.executable, "-m", "dnsrig", "load", "-p", str(served[1]), "-d", str(queries), "-l", "60", "-Q", "50"]
    printed = tmp_path / "printed.txt"
    with printed.open("w") as output:
        process = subprocess.Popen(command, stderr=secondary, stdout=output)
    os.close(secondary)
    try:
        seen = b""
        while b"q/s" not in seen:
            seen += os.read(primary, 1000)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=10) == 130
        assert "bottleneck" in printed.read_text()
    finally:
        process.kill()
        process.wait()
        os.close(primary)


def test_sessions_that_are_held_need_no_queries(dnsrig, served):
    load = ("load", "-p", served[1], "-m", "tcp", "--hold-sessions", "-c", "5", "-q", "2")
    report = dnsrig(*load, "-l", "0.3", "--json").json
    connections = report["connections"]
    assert (report["sent"], connections["opened"], connections["closed"]) == (0, 5, 0)
    assert report["sessions_held"] == 5
    assert "held 5 of 5 to the end" in dnsrig(*load, "-l", "0.3").out
    assert dnsrig(*load).code == 2
