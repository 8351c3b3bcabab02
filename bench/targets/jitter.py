"""Measure how late a CPU wakes a sleeper up: `python jitter.py CPU PRIORITY`, to the end of standard input.

A generator measures the machine's wake-up jitter before its load, which says nothing of a load of a minute on a machine
that others use. This sleeps 1 ms at a time beside the load, above the generator's real-time priority where that is
permitted, so that the generator does not delay it. What it prints at the end is JSON: `sleeps`, and the lateness
`p50`, `p99` and `max` in nanoseconds.
"""

import contextlib
import ctypes
import gc
import json
import os
import select
import sys
import time

SLEEP_NS = 1_000_000
STOP_CHECK = 100
"""Sleeps between looks at standard input."""
PR_SET_TIMERSLACK = 29


def measure() -> list[int]:
    """Sleep until standard input ends; give how late each sleep ended, in nanoseconds."""
    late_ns: list[int] = []
    while not select.select([0], [], [], 0)[0]:
        for _ in range(STOP_CHECK):
            due_ns = time.monotonic_ns() + SLEEP_NS
            time.sleep(SLEEP_NS / 1e9)
            late_ns.append(time.monotonic_ns() - due_ns)
    return late_ns


def main(cpu: int, priority: int) -> None:
    """Measure on one CPU and print the result."""
    os.sched_setaffinity(0, {cpu})
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(priority))
    # Timers of ordinary processes may be 50 us late by default (prctl(2)).
    ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0)
    gc.disable()
    late_ns = sorted(measure())
    count = len(late_ns)
    result = {"sleeps": count, "p50": late_ns[count // 2], "p99": late_ns[count * 99 // 100], "max": late_ns[-1]}
    print(json.dumps(result))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
