"""Whole runs of the studies on the embedded server: contract, resumption, identical servers, own zone and log."""

import json
import os
import signal
import subprocess
import sys
import time
from importlib import resources
from pathlib import Path

import jsonschema
import pytest
from dnsrig.hosts.processes import descendants
from dnsrig.report.build import PICTURES

BRIEF = ["--repetitions", 2, "--load-seconds", 0.2, "--warm-up-seconds", 0, "--seed", 5]
CPU_OF_A_LOAD_S = 0.3
"""More CPU time than the questions before a load can take."""


def command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def only_run(folder: Path) -> Path:
    (run,) = folder.iterdir()
    return run


@pytest.mark.usefixtures("pictures")
def test_denial_cost_keeps_the_contract(dnsrig, tmp_path):
    done = dnsrig("run", "denial-cost", "--server", "embedded", *BRIEF, "--out", tmp_path, "--json")
    assert done.code == 0, done.err
    summary = done.json
    schema = json.loads(resources.files("dnsrig.schemas").joinpath("summary.json").read_text())
    jsonschema.validate(summary, schema)
    assert (summary["study"], len(summary["cases"])) == ("denial-cost", 9)
    by_case = {(case["denial"], case["stream"]): case for case in summary["cases"]}
    assert by_case["none", "existence"]["rcodes"].keys() == {"NOERROR"}
    assert by_case["nsec3", "denial"]["rcodes"].keys() == {"NXDOMAIN"}
    assert by_case["nsec3", "denial"]["iterations"] == 5
    sizes = {key: case["response_bytes_mean"] for key, case in by_case.items()}
    assert sizes["none", "denial"] < sizes["nsec", "denial"] < sizes["nsec3", "denial"]
    assert all(case["qps"]["n"] == 2 and case["lost"] == 0 for case in summary["cases"])
    run = only_run(tmp_path)
    assert json.loads((run / "summary.json").read_text())["cases"] == summary["cases"]
    assert "<svg" in (run / "report.html").read_text()
    command = json.loads((run / "manifest.json").read_text())["argv"]
    assert command[0] == "dnsrig" and "--seed" in command


def test_own_zone_and_log(dnsrig, tmp_path):
    zone = tmp_path / "own.db"
    zone.write_text("$ORIGIN own.test.\n$TTL 60\n@ SOA ns host 1 2 3 4 5\n@ NS ns\nns A 192.0.2.1\nwww A 192.0.2.2\n")
    log = tmp_path / "log.txt"
    log.write_text("www.own.test A\nother.test A\nnope.own.test A\nwww.own.test A\nns.own.test A\n")
    out = tmp_path / "runs"
    done = dnsrig(
        *("run", "denial-cost", "--server", "embedded", *BRIEF, "--zone", zone, "--queries", log),
        *("--denial", "none,nsec", "--algorithm", "ED25519", "--out", out, "--json"),
    )
    assert done.code == 0, done.err
    normal = next(case for case in done.json["cases"] if (case["denial"], case["stream"]) == ("none", "normal"))
    assert normal["rcodes"]["NXDOMAIN"] / normal["answered"] == pytest.approx(0.25, abs=0.01)
    facts = json.loads((only_run(out) / "manifest.json").read_text())["facts"]
    assert facts["inputs"]["streams"]["normal"]["outside_zone"] == 1


def test_a_signed_zone_is_unsigned_first(dnsrig, small_zone, tmp_path):
    signed = tmp_path / "signed.db"
    assert dnsrig("sign", small_zone, "-f", signed, "-a", "ED25519").code == 0
    files = []
    for name, zone in (("plain", small_zone), ("signed", signed)):
        brief = ["--server", "embedded", *BRIEF, "--denial", "none", "--stream", "denial"]
        done = dnsrig("run", "denial-cost", *brief, "--zone", zone, "--out", tmp_path / name, "--json")
        assert done.code == 0, done.err
        files.append((only_run(tmp_path / name) / "inputs" / "zone-none.db").read_bytes())
    assert files[0] == files[1]


@pytest.mark.usefixtures("pictures")
def test_iterations_are_an_axis(dnsrig, tmp_path):
    done = dnsrig(
        *("run", "nsec3-iterations", "--server", "embedded", *BRIEF, "--iterations", "0,100", "--stream", "denial"),
        *("--out", tmp_path, "--json"),
    )
    assert done.code == 0, done.err
    cost = {case["iterations"]: case["server_cpu_us_per_query"] for case in done.json["cases"]}
    # A hundred more SHA-1 calls for each of several hashes cannot be cheaper, on whatever machine.
    assert cost[100] > cost[0]


def test_the_same_server_twice_is_compared(dnsrig, tmp_path):
    done = dnsrig(
        *("run", "denial-cost", "--server", "embedded,embedded", *BRIEF, "--denial", "none", "--stream", "existence"),
        *("--out", tmp_path, "--json"),
    )
    assert done.code == 0, done.err
    assert [case["server"] for case in done.json["cases"]] == ["embedded", "embedded#2"]
    assert done.json["identical_servers"]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_interrupting_keeps_what_is_done_and_resuming_goes_on(dnsrig, tmp_path, how):
    command = [sys.executable, "-m", "dnsrig", "run", "denial-cost", "--server", "embedded", *map(str, BRIEF)]
    few = ["--denial", "none,nsec", "--stream", "existence,denial"]
    process = subprocess.Popen(
        [*command, *few, "--out", str(tmp_path)], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    )
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("embedded-"):
            break
    below = descendants(process.pid)
    process.send_signal(how)
    said = process.stderr.read()
    assert process.wait(timeout=30) == 130, said
    assert not any(Path(f"/proc/{pid}").exists() for pid in below)
    run = only_run(tmp_path)
    assert f"dnsrig run --resume {run}" in said and "what is done is kept" in said
    manifest = json.loads((run / "manifest.json").read_text())
    assert manifest["status"] == "interrupted"
    assert manifest["reason"] == {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM"}[how]
    kept = {path: path.stat().st_mtime_ns for path in run.glob("measurements/*/*.json")}
    assert kept
    done = dnsrig("run", "--resume", run, "--json")
    assert done.code == 0, done.err
    assert all(case["qps"]["n"] == 2 for case in done.json["cases"]) and len(done.json["cases"]) == 4
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert dnsrig("run", "--resume", run).code == 2


def test_a_server_that_cannot_serve_is_said_and_the_others_measured(dnsrig, tmp_path, monkeypatch):
    broken = tmp_path / "bin"
    broken.mkdir()
    fake = broken / "nsd"
    fake.write_text(
        "#!/bin/sh\n[ \"$1\" = -v ] && echo 'NSD version 0.0.0' >&2 && exit 0\necho 'out of order' >&2\nexit 1\n"
    )
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(broken), prepend=":")
    done = dnsrig(
        *("run", "denial-cost", "--server", "embedded,nsd", *BRIEF, "--denial", "none", "--stream", "existence"),
        *("--out", tmp_path / "runs", "--json"),
    )
    assert done.code == 1, done.err
    assert [case["server"] for case in done.json["cases"]] == ["embedded"]
    (missing,) = done.json["not_measured"]
    assert (missing["case"]["server"], missing["repetitions"]) == ("nsd", [0, 1])
    assert (done.json["status"], done.json["reason"]) == ("incomplete", "2 measurements failed")
    run = only_run(tmp_path / "runs")
    assert f"dnsrig run --resume {run}" in done.err
    assert "nsd-none-existence (repetitions 1, 2): " in (run / "report.md").read_text()
    assert json.loads((run / "manifest.json").read_text())["status"] == "incomplete"


def test_a_server_that_dies_is_said(tmp_path):
    command = [sys.executable, "-m", "dnsrig", "run", "denial-cost", "--server", "embedded", "--repetitions", "1"]
    more = ["--load-seconds", "600", "--warm-up-seconds", "0", "--denial", "none", "--stream", "normal"]
    process = subprocess.Popen([*command, *more, "--out", str(tmp_path)], stderr=subprocess.PIPE, text=True)
    try:
        server = wait_for(lambda: serving_process(process, tmp_path))
        started_s = cpu_s(server)
        wait_for(lambda: still_running(process) and cpu_s(server) > started_s + CPU_OF_A_LOAD_S)
        os.kill(server, signal.SIGKILL)
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 1, said
    assert "ended by itself by signal 9" in said and "embedded.log ends:\nready" in said, said
    assert "Traceback" not in said
    assert not list(only_run(tmp_path).glob("measurements/*/*.json"))


def serving_process(run, folder):
    """The pid of the embedded server of `run`, once it has said that it serves."""
    still_running(run)
    if not any("ready" in log.read_text() for log in folder.glob("*/servers/*/embedded.log")):
        return None
    servers = [pid for pid in descendants(run.pid) if b"\0dnsrig.servers.embedded_main\0" in command_line(pid)]
    # What is read of /proc is of no one moment: a process may be missed once.
    found = [pid for pid in servers if b"guard.py" not in command_line(pid)]
    return found[0] if len(found) == 1 else None


def still_running(run):
    assert run.poll() is None, run.stderr.read()
    return True


def cpu_s(pid):
    """CPU time of a process in s, 0 if it has ended: user and system time are fields 14 and 15 of /proc/PID/stat."""
    try:
        user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    except FileNotFoundError:
        return 0.0
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def wait_for(condition):
    deadline = time.monotonic() + 120
    while not (value := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return value


def test_a_run_without_a_published_column_has_a_report(dnsrig, tmp_path):
    brief = [*BRIEF, "--server", "embedded", "--denial", "none,nsec,nsec", "--stream", "normal,normal"]
    done = dnsrig("run", "denial-cost", *brief, "--out", tmp_path, "--json")
    assert done.code == 0, done.err
    assert len(done.json["cases"]) == 2
    assert (only_run(tmp_path) / "report.html").exists()


def test_damaged_runs_are_refused(dnsrig, tmp_path):
    brief = [*BRIEF, "--server", "embedded", "--denial", "none", "--stream", "normal"]
    assert dnsrig("run", "denial-cost", *brief, "--out", tmp_path).code == 0
    run = only_run(tmp_path)
    manifest = json.loads((run / "manifest.json").read_text())
    for change in ({"settings": {"unknown": 1}}, {"status": "zzz"}, {"failures": None}):
        (run / "manifest.json").write_text(json.dumps({**manifest, **change}))
        done = dnsrig("report", run)
        assert done.code == 2, done.err
        assert "Traceback" not in done.err and "manifest.json" in done.err
    changed = {**manifest, "status": "interrupted"}
    (run / "manifest.json").write_text(json.dumps(changed))
    (run / "inputs" / "zone-none.db").write_text("other")
    done = dnsrig("run", "--resume", run)
    assert done.code == 2 and "zone-none.db" in done.err
    (run / "manifest.json").write_text(json.dumps(manifest))
    measurement = next(run.glob("measurements/*/*.json"))
    measurement.write_text("{}")
    done = dnsrig("report", run)
    assert done.code == 2 and str(measurement) in done.err


def test_reports_can_be_built_again_and_compared(dnsrig, tmp_path, monkeypatch):
    brief = [*BRIEF, "--denial", "none,nsec", "--stream", "denial", "--server", "embedded"]
    for name, more in (("one", []), ("two", ["--zsk-bits", 2048])):
        assert dnsrig("run", "denial-cost", *brief, *more, "--out", tmp_path / name).code == 0
    one, two = only_run(tmp_path / "one"), only_run(tmp_path / "two")
    page = (one / "report.html").read_text()
    assert f"dnsrig report {one}" in page and "<svg" not in page
    (one / "report.html").unlink()
    assert dnsrig("report", one).code == 0
    assert (one / "report.html").read_text() == page
    monkeypatch.setenv(PICTURES, "1")
    assert dnsrig("report", one).code == 0
    page = (one / "report.html").read_text()
    assert "dnsrig report" not in page and "<svg" in page
    done = dnsrig("compare", one, two)
    assert done.code == 0 and "response" in done.out
