"""bench/replay_chain: medians against targets, and one short replay of each kind."""

import dataclasses
import json
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench" / "replay_chain"


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    """Give the bench as a module, without bytecode beside it."""
    loader = SourceFileLoader("replay_chain", str(BENCH))
    spec = spec_from_loader("replay_chain", loader)
    assert spec is not None
    module = module_from_spec(spec)
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    path, sys.path = sys.path, [str(BENCH.parent), *sys.path]
    sys.modules["replay_chain"] = module
    try:
        loader.exec_module(module)
    finally:
        sys.path, sys.dont_write_bytecode = path, before
        del sys.modules["replay_chain"]
    return module


def replays(bench: ModuleType, p50_us: float, p99_us: float) -> list[object]:
    """Make three replays of each kind; those through the chain have these medians."""
    late = [{"p50": int(p50_us * 1000 * by), "p99": int(p99_us * 1000 * by)} for by in (0.5, 1, 30)]
    sleeps = {"p50": 1000, "p99": 2000}
    echo = [bench.Replayed("echo", 100, 100, {"p50": 900_000, "p99": 900_000}, sleeps) for _ in late]
    return [*echo, *(bench.Replayed("chain", 100, 99, some, sleeps) for some in late)]


def test_medians_of_the_chain_are_held_against_the_targets(
    bench: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench.tell(replays(bench, 20.0, 200.0), 100) == 0
    said = capsys.readouterr().out
    assert "chain  send-time error p50 20.0 us (10.0 to 600.0)" in said
    assert "target <= 200 us met" in said
    assert bench.tell(replays(bench, 20.1, 200.0), 100) == 1
    assert bench.tell(replays(bench, 20.0, 200.1), 100) == 1
    assert "target <= 200 us MISSED" in capsys.readouterr().out


def test_loads_without_queries_or_answers_meet_no_target(bench: ModuleType) -> None:
    some = replays(bench, 20.0, 200.0)
    assert bench.tell(some, 101) == 1
    deaf = [dataclasses.replace(one, answered=89) for one in some]
    assert bench.tell(deaf, 100) == 1


def test_both_kinds_are_replayed_to_their_end(tmp_path: Path) -> None:
    path = tmp_path / "replays.json"
    short = ["--rounds", "1", "--rate", "100", "--load-seconds", "1", "--json", str(path)]
    ended = subprocess.run([sys.executable, BENCH, *short], capture_output=True, text=True, check=False)
    # On a busy machine, times are what they are.
    assert ended.returncode in {0, 1}, ended.stderr
    found = json.loads(path.read_text())
    assert [one["against"] for one in found] == ["echo", "chain"]
    assert found[0]["sent"] == found[1]["sent"] == found[0]["answered"] == 100
    assert found[1]["answered"] > 90
