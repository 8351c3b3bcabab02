"""Waiting for what a process that runs is to do."""

import time

WITHIN_S = 60.0


def wait_until(is_so, process=None):
    """Wait until `is_so()`, at most WITHIN_S, and as long as `process` runs, if there is one."""
    deadline = time.monotonic() + WITHIN_S
    while not is_so():
        assert process is None or process.poll() is None, f"it ended with {process.returncode} before"
        assert time.monotonic() < deadline, f"not so in {WITHIN_S:g} s"
        time.sleep(0.01)
