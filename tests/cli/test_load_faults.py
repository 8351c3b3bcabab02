"""What `dnsrig load` keeps and says when its files, its output or the server fail."""

import json
import os
import resource
import socket
import subprocess
import sys

import pyarrow.parquet as pq
import pytest

SMALL_FILE_OCTETS = 3 * 1024
"""Room for the first seconds of a load in JSON Lines and for all of a short load's CSV."""


@pytest.fixture
def queries(tmp_path):
    path = tmp_path / "queries.txt"
    path.write_text("www.example.test A\n")
    return path


def load(served, queries, *options, **more):
    command = [sys.executable, "-m", "dnsrig", "load", "-p", str(served[1]), "-d", str(queries), *map(str, options)]
    return subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False, timeout=120, **more)


def limit_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (SMALL_FILE_OCTETS, SMALL_FILE_OCTETS))


@pytest.mark.parametrize("as_json", [True, False])
def test_a_disk_that_fills_during_a_load_costs_the_file_but_not_the_report(served, queries, tmp_path, as_json):
    jsonl, table = tmp_path / "second.jsonl", tmp_path / "rows.csv"
    options = ["-l", 5, "-Q", 20, "--jsonl", jsonl, "--csv", table, *(["--json"] if as_json else [])]
    done = load(served, queries, *options, stdout=subprocess.PIPE, preexec_fn=limit_files)
    assert done.returncode == 3, done.stderr
    assert "Traceback" not in done.stderr
    assert f"{jsonl} cannot be written: File too large; name a file elsewhere" in done.stderr
    if as_json:
        assert json.loads(done.stdout)["answered"] == 100
    else:
        assert "bottleneck" in done.stdout
    assert not jsonl.exists()
    kept = (tmp_path / "second.jsonl.partial").read_text().splitlines()
    assert json.loads(kept[0])["type"] == "header"
    assert len(table.read_text().splitlines()) == 1 + 6


@pytest.mark.parametrize("as_json", [True, False])
def test_nobody_reads_the_output(served, queries, tmp_path, as_json):
    files = {form: tmp_path / f"load.{form}" for form in ("jsonl", "csv", "parquet")}
    options = [text for form, path in files.items() for text in (f"--{form}", path)]
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = load(served, queries, "-n", 50, *options, *(["--json"] if as_json else []), stdout=writer)
    finally:
        os.close(writer)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert [path.name for path in files.values() if not path.exists()] == []
    assert json.loads(files["jsonl"].read_text().splitlines()[-1])["responses"] == 50
    assert pq.read_table(files["parquet"]).num_rows + 1 == len(files["csv"].read_text().splitlines())


def test_no_session_can_be_opened(dnsrig):
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as taken:
        taken.bind(("127.0.0.1", 0))
        # Bound and not listening: connections are refused, and nobody else gets the port.
        port = taken.getsockname()[1]
        done = dnsrig("load", "-p", port, "-m", "tcp", "--sessions-only", "-Q", 20, "--queries", 10, "-c", 5, "--json")
    assert done.code == 1, done.err
    assert f"127.0.0.1 port {port} opened none of 10 sessions" in done.err
    assert (done.json["connections"]["opened"], done.json["connections"]["failed"]) == (0, 10)
