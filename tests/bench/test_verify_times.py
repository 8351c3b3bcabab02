"""bench/verify_times: medians against limits, what does not count, and which servers are verified."""

import json
import os
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest
from dnsrig.errors import EnvironmentLacksError, InputError

BENCH = Path(__file__).resolve().parents[2] / "bench" / "verify_times"


@pytest.fixture(scope="module")
def bench():
    """Give the bench as a module, without bytecode beside it."""
    loader = SourceFileLoader("verify_times", str(BENCH))
    module = module_from_spec(spec_from_loader("verify_times", loader))
    # A dataclass looks for its module.
    sys.modules[loader.name] = module
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        loader.exec_module(module)
        yield module
    finally:
        sys.dont_write_bytecode = before
        del sys.modules[loader.name]


def timed(bench, *took_s, role="resolver", target="unbound", **more):
    return [bench.Timed(role, target, one, (0.5, 1.5), 100, **more) for one in took_s]


@pytest.mark.parametrize(
    ("role", "took_s", "code"),
    [
        ("resolver", (59.0, 30.0, 90.0), 0),
        ("resolver", (61.0, 30.0, 90.0), 1),
        ("authoritative", (20.0,), 0),
        ("authoritative", (20.1,), 1),
        ("proxy", (21.0, 21.0, 1.0), 1),
    ],
)
def test_the_median_is_what_has_to_be_within_the_limit(bench, capsys, role, took_s, code):
    assert bench.tell(timed(bench, *took_s, role=role)) == code
    said = capsys.readouterr().out
    assert said.endswith(": MISSED\n" if code else ": met\n")
    assert "load average 0.5 to 1.5" in said


def test_one_server_beyond_its_limit_is_enough_and_an_invalid_run_counts_as_one(bench, capsys):
    right = timed(bench, 10.0)
    assert bench.tell([*right, *timed(bench, 61.0, target="bind")]) == 1
    assert bench.tell([*right, *timed(bench, 1.0, target="bind", invalid="interrupted")]) == 1
    assert "INVALID: interrupted" in capsys.readouterr().out


def test_what_gives_no_verdicts_does_not_count(bench):
    whole = json.dumps({"items": [{}, {}], "incomplete": None})
    assert bench.judged(0, whole, "") == bench.judged(1, whole, "") == (2, "")
    assert bench.judged(3, "", "reason\nunbound is not installed\n") == (0, "unbound is not installed")
    assert bench.judged(0, json.dumps({"items": [{}], "incomplete": "interrupted"}), "") == (1, "interrupted")
    assert bench.judged(0, json.dumps({"items": [], "incomplete": None}), "") == (0, "no items were run")
    assert bench.judged(1, "{", "") == (0, "exit code 1")


def test_servers_take_turns(bench, capsys):
    pairs = [("resolver", "bind"), ("proxy", "dnsdist")]
    found = bench.measure(pairs, 2, lambda role, target: bench.Timed(role, target, 1.0, (0.0, 0.0), 7))
    assert [(one.role, one.target) for one in found] == pairs * 2
    assert capsys.readouterr().err.startswith("run 1: resolver bind: 1.0 s, 7 items\n")


def test_only_what_is_there_is_verified(bench, monkeypatch):
    there = {"authoritative": ["nsd", "bind"], "resolver": ["bind"], "proxy": []}
    monkeypatch.setattr(bench, "targets_of", there.get)
    assert bench.chosen_pairs(["authoritative", "resolver"], ["bind"]) == [
        ("authoritative", "bind"),
        ("resolver", "bind"),
    ]
    with pytest.raises(InputError, match="--server unbound: it is no resolver"):
        bench.chosen_pairs(["resolver"], ["unbound"])
    with pytest.raises(EnvironmentLacksError, match="no proxy is installed"):
        bench.chosen_pairs(["proxy"], [])


def test_the_embedded_server_is_timed_whole(tmp_path):
    kept = tmp_path / "runs.json"
    words = [sys.executable, str(BENCH), "--runs", "1", "--role", "authoritative", "--server", "embedded"]
    done = subprocess.run(
        [*words, "--json", str(kept)], capture_output=True, text=True, timeout=300, check=False, env=os.environ
    )
    (run,) = json.loads(kept.read_text())
    # Whether it is within the limit is the machine's matter.
    assert done.returncode in {0, 1} and not run["invalid"], done.stderr
    assert run["items"] > 100 and run["took_s"] > 0
