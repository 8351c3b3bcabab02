"""bench/internet_memory tells what the memory of an Internet holds."""

import json
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parents[2] / "bench" / "internet_memory"


def test_each_step_takes_more_and_is_told_by_what_it_holds(tmp_path):
    file = tmp_path / "memory.json"
    command = [sys.executable, str(BENCH), "--profile", "small", "--domains", "50,300", "--json", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    steps = json.loads(file.read_text())
    assert [step["name"] for step in steps] == ["nothing yet", "made", "50 domains", "300 domains", "served"]
    for kind in ("zones", "keys", "to_sign", "signatures"):
        held = [step["account"][kind] for step in steps]
        assert held == sorted(held) and held[0] == 0 and held[2] < held[3] == held[4]
    assert steps[1]["rss_octets"] < steps[3]["rss_octets"]
    lines = done.stdout.splitlines()
    assert len(lines) == 5 and "kB a domain (by the account zones " in lines[3]
