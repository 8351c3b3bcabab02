"""bench/resolver_null: its busy loop takes the share that it should, and its count of runs is right."""

import argparse
import json
import os
import subprocess
import sys
import time
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import SimpleNamespace

import pytest
from dnsrig.errors import InputError
from dnsrig.hosts.processes import is_live
from dnsrig.monitor.counters import process_clock

BENCH = Path(__file__).resolve().parents[2] / "bench" / "resolver_null"
PATIENCE_S = 60.0


@pytest.fixture(scope="module")
def bench():
    """Give the bench as a module, without bytecode beside it."""
    loader = SourceFileLoader("resolver_null", str(BENCH))
    module = module_from_spec(spec_from_loader("resolver_null", loader))
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = before
    return module


class BusyDriver:
    """Stands for a resolver that is always busy."""

    settings = SimpleNamespace(cpus=None)

    def start(self):
        self.process = subprocess.Popen([sys.executable, "-c", "while True: pass"])

    def stop(self):
        self.process.kill()
        self.process.wait()

    def pids(self):
        return [self.process.pid]


def cpu_s(pid):
    return time.clock_gettime(process_clock(pid))


def test_the_burden_is_a_share_of_the_resolvers_own_time_and_ends_with_it(bench):
    driver = bench.burden(BusyDriver(), 0.2)
    driver.start()
    try:
        resolver, loop = driver.pids()
        # What Python takes to start is no burden: it is over when the loop first keeps its share.
        deadline = time.monotonic() + PATIENCE_S
        while cpu_s(resolver) < 1.0 and time.monotonic() < deadline:
            time.sleep(0.02)
        before = cpu_s(resolver), cpu_s(loop)
        while cpu_s(resolver) < before[0] + 2.0 and time.monotonic() < deadline:
            time.sleep(0.02)
        used = cpu_s(resolver) - before[0], cpu_s(loop) - before[1]
    finally:
        driver.stop()
    assert used[1] / used[0] == pytest.approx(0.2, rel=0.25)
    assert not any(is_live(pid) for pid in (resolver, loop))
    assert os.sched_getaffinity(0)


def cpu(again=1.0, burdened=1.05, spread=0.1):
    """Give the CPU times of a run, off at 1 with a spread of its own, the others beside it."""
    off, other = [1.0, 1.0 + spread, 1.0 - spread], [1.0 + spread, 1.0, 1.0 - spread]
    times = {"off": off, "again": [again * one for one in other], "burdened": [burdened * one for one in other]}
    return {"server_cpu_us_per_query": times}


RIGHT = {"differs": [], **cpu()}


@pytest.mark.parametrize(
    ("differs", "shares", "code"),
    [(0, (1.0, 1.05), 0), (1, (1.0, 1.05), 0), (2, (1.0, 1.05), 1), (0, (1.0, 1.0), 1), (0, (1.06, 1.06), 1)],
)
def test_19_of_20_runs_have_to_be_right_and_all_together_to_show_the_burden(bench, capsys, differs, shares, code):
    again, burdened = shares
    runs = [{"differs": ["CPU"] if number < differs else [], **cpu(again, burdened)} for number in range(20)]
    assert bench.tell(runs, 0.05) == code
    said = capsys.readouterr().out
    assert f"no difference in {20 - differs} of 20 runs\n" in said
    assert f"a burden of 5%: {burdened - 1:+.1%} CPU time a query [" in said
    assert "] over 60 repetitions" in said


def test_fewer_than_20_runs_that_count_say_nothing(bench, capsys):
    runs = [RIGHT] * 19 + [{"invalid": "0 of 6 repetitions of again were measured"}]
    assert bench.tell(runs, 0.05) == bench.TOO_FEW == 4
    said = capsys.readouterr().out
    assert "invalid and not counted: 1\n" in said
    assert "too few runs to say anything: 19" in said
    assert bench.tell([], 0.05) == 4


def test_a_resolver_whose_burden_cannot_start_is_ended(bench, monkeypatch):
    plain = BusyDriver()
    driver = bench.burden(plain, 0.2)

    def fails(_):
        raise OSError("no clock")

    monkeypatch.setattr(bench, "process_clock", fails)
    with pytest.raises(OSError, match="no clock"):
        driver.start()
    assert not is_live(plain.process.pid)


def given(path, **more):
    usual = {"resolver": "unbound", "repetitions": 6, "load_seconds": 1.0, "rate": 2000.0, "burden": 0.05}
    return argparse.Namespace(**{**usual, "profile": "small", "domains": None, "json": path, **more})


def test_each_run_is_in_the_file_at_once_and_runs_of_other_arguments_are_refused(bench, tmp_path):
    path = tmp_path / "runs.json"
    for number in range(2):
        bench.Kept(path, given(path)).add(RIGHT)
        assert len(json.loads(path.read_text())) == number + 1
    assert [found.name for found in tmp_path.iterdir()] == ["runs.json"]
    with pytest.raises(InputError, match=r"'burden': 0\.05.*not .*'burden': 0\.1"):
        bench.Kept(path, given(path, burden=0.1))
    path.write_text(json.dumps([RIGHT]))
    with pytest.raises(InputError, match="the arguments None"):
        bench.Kept(path, given(path))
    path.write_text("[{")
    with pytest.raises(InputError, match="no runs can be read"):
        bench.Kept(path, given(path))


@pytest.mark.parametrize("reason", [InputError("no more"), KeyboardInterrupt()])
def test_runs_before_a_failure_are_kept_and_told_of(bench, tmp_path, monkeypatch, capsys, reason):
    def fails(arguments, folder, keep):
        keep(RIGHT)
        raise reason

    path = tmp_path / "runs.json"
    monkeypatch.setattr(bench, "measure", fails)
    monkeypatch.setattr(sys, "argv", ["resolver_null", "--json", str(path)])
    assert bench.main() == (2 if isinstance(reason, InputError) else 130)
    assert [run["differs"] for run in json.loads(path.read_text())] == [[]]
    assert "no difference in 1 of 1 runs" in capsys.readouterr().out


def run_of(*cases):
    """Stand for a run with measurements of cases, CPU time for each repetition."""
    items = [
        {"case_id": name, "case": {"case": name}, "order": 0, "repetition": number, "server_cpu_us_per_query": value}
        for name, values in cases
        for number, value in enumerate(values)
    ]
    return SimpleNamespace(measurements=lambda: items)


def test_a_run_that_lacks_repetitions_is_invalid(bench):
    run = run_of(("off", [1.0, 1.0]), ("again", [1.0]), ("burdened", [1.0, 1.0]))
    assert bench.judged(run, 2) == {"invalid": "1 of 2 repetitions of again were measured"}
    assert "0 of 2 repetitions of burdened" in bench.judged(run_of(("off", [1, 1]), ("again", [1, 1])), 2)["invalid"]
