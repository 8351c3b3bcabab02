"""Output files of `dnsrig load` that are something else already: nothing may be overwritten by mistake."""

import json
import os
import subprocess
import sys

import pytest

QUERIES = "www.example.test A\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "queries.txt").write_text(QUERIES)
    (tmp_path / "queries.csv.partial").write_text(QUERIES)
    (tmp_path / "roots.pem").write_text("no certificate\n")
    os.link(tmp_path / "queries.txt", tmp_path / "hard-link")
    (tmp_path / "soft-link").symlink_to("queries.txt")
    os.mkfifo(tmp_path / "pipe")
    return tmp_path


def content(folder):
    return {path.name: path.read_text() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-d", "queries.txt", "--csv", "queries.txt"], "--csv queries.txt would overwrite the file of -d"),
        (["-d", "queries.txt", "--jsonl", "./queries.txt"], "would overwrite the file of -d"),
        (["-d", "queries.txt", "--parquet", "hard-link"], "would overwrite the file of -d"),
        (["-d", "queries.txt", "--csv", "soft-link"], "would overwrite the file of -d"),
        (["-d", "soft-link", "--csv", "queries.txt"], "would overwrite the file of -d"),
        (["-d", "pipe", "--csv", "pipe"], "would overwrite the file of -d"),
        (["-d", "queries.csv.partial", "--csv", "queries.csv"], "would overwrite the file of -d"),
        (["--replay", "queries.txt", "--jsonl", "queries.txt"], "would overwrite the file of --replay"),
        (["-m", "dot", "-d", "queries.txt", "--ca", "roots.pem", "--csv", "roots.pem"], "the file of --ca"),
        (["-d", "queries.txt", "--csv", "new", "--jsonl", "./new"], "each need a file of their own"),
        (["-d", "queries.txt", "--csv", "roots.pem", "--parquet", "./roots.pem"], "each need a file of their own"),
        (["-d", "queries.txt", "--csv", "new", "--parquet", "new.partial"], "each need a file of their own"),
        (["-d", "queries.txt", "--csv", "-"], "--csv needs a file's name, not '-'"),
        (["-d", "queries.txt", "--parquet", ""], "--parquet needs a file's name"),
    ],
)
def test_an_output_that_is_something_else_is_refused(dnsrig, served, folder, options, said):
    before = content(folder)
    finished = dnsrig("load", "-p", served[1], "-n", 1, *options, cwd=folder)
    assert finished.code == 2, finished.err
    assert said in finished.err
    assert content(folder) == before


@pytest.mark.parametrize(
    ("redirection", "file", "said"),
    [
        ("< queries.txt", "queries.txt", "the file that standard input is read from"),
        ("-d - < queries.txt", "hard-link", "the file that standard input is read from"),
        ("--replay - < queries.txt", "queries.txt", "the file that standard input is read from"),
        ("-d queries.txt > printed", "printed", "the file that standard output goes to"),
    ],
)
def test_an_output_that_the_shell_opened_is_refused(served, folder, redirection, file, said):
    command = f"{sys.executable} -m dnsrig load -p {served[1]} -n 1 --csv {file} {redirection}"
    finished = subprocess.run(
        ["sh", "-c", command], cwd=folder, stderr=subprocess.PIPE, text=True, check=False, timeout=60
    )
    assert finished.returncode == 2, finished.stderr
    assert said in finished.stderr
    assert (folder / "queries.txt").read_text() == QUERIES


def test_a_reader_of_a_file_who_leaves_costs_that_file_only(served, folder):
    table = folder / "load.csv"
    command = [sys.executable, "-m", "dnsrig", "load", "-p", str(served[1]), "-d", "queries.txt", "-l", "3", "-Q", "20"]
    options = ["--jsonl", "pipe", "--csv", str(table), "--json"]
    with subprocess.Popen(
        [*command, *options], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as started:
        with (folder / "pipe").open() as reader:
            assert json.loads(reader.readline())["type"] == "header"
        out, err = started.communicate(timeout=60)
    assert started.returncode == 3, err
    assert "pipe cannot be written: Broken pipe" in err
    assert json.loads(out)["answered"] == 60
    assert len(table.read_text().splitlines()) > 3


def test_devices_may_be_shared(served, folder):
    command = f"{sys.executable} -m dnsrig load -p {served[1]} -n 1 -d queries.txt --csv /dev/null --jsonl /dev/stdout"
    finished = subprocess.run(["sh", "-c", f"{command} > /dev/null"], cwd=folder, check=False, timeout=60)
    assert finished.returncode == 0
