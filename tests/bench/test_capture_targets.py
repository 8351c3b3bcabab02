"""bench/capture_targets: its capture, and that it measures."""

import json
import subprocess
import sys
from pathlib import Path

from dnsrig import _core

ROOT = Path(__file__).resolve().parents[2]
BENCH = ROOT / "bench"
sys.path.insert(0, str(BENCH))

from targets.dns_capture import kept_capture, write_dns_capture  # noqa: E402 (found by the path above)

PATIENCE_S = 120.0


def test_the_capture_is_what_it_says(tmp_path: Path) -> None:
    first, second = (
        write_dns_capture(tmp_path / name, queries=25_000, seed=7) for name in ("first.pcap", "second.pcap")
    )
    assert first.path.read_bytes() == second.path.read_bytes()
    report = _core.traffic_stats([first.path]).report()
    found = json.loads(report)
    assert found["packets"]["read"] == found["packets"]["dns"] == first.packets == 50_000
    no_trouble = {"unanswered": 0, "unmatched": 0, "given_up": 0}
    assert found["answers"] == {"count": 25_000, "answered": 25_000, **no_trouble}
    assert not any(found["packets"]["malformed"].values())
    assert 0.15 < found["rcodes"]["NXDOMAIN"] / 25_000 < 0.25


def test_a_row_is_measured(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    command = [sys.executable, str(BENCH / "capture_targets"), "--row", "5", "--rounds", "1", "--queries", "5000"]
    done = subprocess.run(
        [*command, "--json", str(report)], capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert done.returncode == 0, done.stderr
    memory = json.loads(report.read_text())["verdicts"][1]
    assert memory["met"] is True and memory["reached"].endswith("MB")


def test_a_kept_capture_is_written_once(tmp_path: Path) -> None:
    first = kept_capture(tmp_path / "kept", queries=100, seed=1)
    first.path.write_bytes(first.path.read_bytes()[:1000])
    again = kept_capture(tmp_path / "kept", queries=100, seed=1)
    assert (again.path, again.octets, again.packets) == (first.path, 1000, 200)
    assert [file.name for file in (tmp_path / "kept").iterdir()] == [first.path.name]


def test_an_unknown_row_is_refused() -> None:
    command = [sys.executable, str(BENCH / "capture_targets"), "--row", "9"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 2 and "rows are 1, 2, 3, 4, 5" in done.stderr
