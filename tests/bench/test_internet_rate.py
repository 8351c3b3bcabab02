"""bench/internet_rate refuses a machine on which it cannot measure."""

import os
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parents[2] / "bench" / "internet_rate"


def test_one_processor_is_too_few():
    one = str(min(os.sched_getaffinity(0)))
    done = subprocess.run(
        ["taskset", "-c", one, sys.executable, str(BENCH)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (
        3,
        "needs 2 processors, one for the Internet and one for the load; may use 1\n",
    )
