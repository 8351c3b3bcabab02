"""bench/load_targets: its statistics, and that it measures and leaves nothing behind."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BENCH = ROOT / "bench"
sys.path.insert(0, str(BENCH))

from targets.generators import Load, Measured, Result  # noqa: E402 (found by the path above)
from targets.pairs import Comparison  # noqa: E402
from targets.verdicts import Verdict, table  # noqa: E402

PATIENCE_S = 60.0


def result(qps: float, lost: int = 0) -> Result:
    return Result(answered=1000, lost=lost, qps=qps, cpu_us_per_query=1.0)


def test_ratios_are_of_pairs_and_not_of_medians() -> None:
    ours = [result(100), result(300), result(1000)]
    theirs = [result(50), result(100), result(100)]
    comparison = Comparison("echo", Load("any"), dnsperf=theirs, dnsrig=ours, load_average=0.0)
    assert comparison.ratios(lambda run: run.qps) == [2, 3, 10]
    assert comparison.ratio(lambda run: run.qps) == 3
    assert comparison.said_ratio(lambda run: run.qps) == "3.00 x (2.00 to 10.00): 300.00 against 100.00"


def test_losses_are_said_of_who_had_them() -> None:
    comparison = Comparison("echo", Load("any"), [result(1, lost=250)], [result(1, lost=1)], 0.0)
    assert comparison.losses() == "dnsperf lost 20.0% of its queries"


def test_starting_is_taken_off() -> None:
    assert Measured(answered=1000, lost=0, qps=1.0, cpu_s=0.5).less_starting(0.3).cpu_us_per_query == pytest.approx(200)


def test_a_missed_target_shows_in_the_table() -> None:
    missed = Verdict(1, "echo", "rate", ">= 2 x", "1 x", met=False)
    assert table([missed]).splitlines()[-1] == "| 1 | echo | rate | >= 2 x | 1 x | **missed** |"


def processes_below(parent: int) -> Iterator[int]:
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    for child in map(int, children):
        yield child
        yield from processes_below(child)


def run(*arguments: str) -> "subprocess.Popen[str]":
    argv = [sys.executable, str(BENCH / "load_targets"), *arguments]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)


needs_two_cpus = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="generator and server each want a CPU")


@needs_two_cpus
def test_it_measures_fixed_rates_and_writes_what_it_found(tmp_path: Path) -> None:
    results = tmp_path / "results.json"
    process = run("--row", "7", "--replay-seconds", "1", "--json", str(results))
    output, errors = process.communicate(timeout=PATIENCE_S * 2)
    assert process.returncode in {0, 1}, errors
    verdicts = json.loads(results.read_text())["verdicts"]
    assert [verdict["row"] for verdict in verdicts] == [6, 6, 7]
    assert f"| {verdicts[-1]['reached']} |" in output
    assert [path.name for path in tmp_path.iterdir()] == ["results.json"]


@needs_two_cpus
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_nothing_is_left_when_it_is_ended(number: signal.Signals) -> None:
    process = run("--row", "8")
    until = time.monotonic() + PATIENCE_S
    started: set[int] = set()
    while len(started) < 2 and time.monotonic() < until:
        started |= set(processes_below(process.pid))
        time.sleep(0.05)
    process.send_signal(number)
    process.communicate(timeout=PATIENCE_S)
    assert process.returncode != 0
    assert len(started) >= 2
    assert [pid for pid in started if Path(f"/proc/{pid}").exists()] == []
