"""Ctrl-C while an Internet is being made: long work in the core ends at once, and nothing of it is left."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from dnsrig.cli.app import run_command_line
from dnsrig.cli.signals import INTERRUPTED

CPU_S = 4.0
"""All of each work takes several times as much processor time."""
WHOLE_S = 120
SCRIPT = """
import json, signal, sys, time
from dnsrig import _core

def interrupt(*_):
    raise KeyboardInterrupt

internet = _core.Internet("small", seed=1, signed_at_s=1_669_900_000, domains=int(sys.argv[2]), memory_octets=1 << 40)
signal.signal(signal.SIGALRM, interrupt)
signal.setitimer(signal.ITIMER_REAL, 0.05)
try:
    getattr(internet, sys.argv[1])(*json.loads(sys.argv[3]))
except KeyboardInterrupt:
    print(json.dumps({"interrupted_after_cpu_s": time.process_time()}), flush=True)
"""


@pytest.mark.parametrize(
    ("work", "arguments", "domains"),
    [("questions", (20_000_000, 1, 0.1), 1000), ("prepare", (), 200_000_000), ("presign", (1_000_000, 1), 1_000_000)],
)
def test_work_ends_where_it_is_interrupted(work: str, arguments: tuple[float, ...], domains: int) -> None:
    command = [sys.executable, "-c", SCRIPT, work, str(domains), json.dumps(arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=WHOLE_S, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["interrupted_after_cpu_s"] < CPU_S


def test_questions_that_are_interrupted_leave_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "queries.txt"
    path.write_text("what was there before\n")

    def write(partial: Path, data: bytes) -> None:
        partial.write_bytes(data[:10])
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("dnsrig.runs.writing._write_bytes", write)
    arguments = ["internet", "questions", str(path), "--profile", "small", "--internet-seed", "1", "-n", "100"]
    assert run_command_line(arguments) == INTERRUPTED
    assert capsys.readouterr().err == "dnsrig: interrupted\n"
    assert path.read_text() == "what was there before\n"
    assert list(tmp_path.iterdir()) == [path]
