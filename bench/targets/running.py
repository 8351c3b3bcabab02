"""Run a command on one CPU and account for its CPU time; say what the machine was doing."""

import os
import shlex
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

REAL_TIME_PRIORITY = 10


class BenchError(Exception):
    """A run that gave no figure; the message says which command, and what it said."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A command that ended well."""

    output: str
    cpu_s: float
    """User and system time of the process with its children, as the kernel accounts it (wait4)."""


def run_pinned(command: Sequence[str], cpu: int, environment: Mapping[str, str] | None = None) -> Ended:
    """Run `command` on one CPU to its end.

    Raises:
        BenchError: its exit status is not 0.

    """
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(["taskset", "-c", str(cpu), *command], stdout=output, stderr=errors, env=environment)
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            process.terminate()
            process.wait()
            raise
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        said = output.read()
        if process.returncode != 0:
            raise BenchError(f"{shlex.join(command)} ended with {process.returncode}:\n{errors.read()}{said[-2000:]}")
        return Ended(said, usage.ru_utime + usage.ru_stime)


def ask_for_real_time() -> str:
    """Put this process and its children under SCHED_RR if that is permitted; say in words which it is.

    On a machine that others use, dnsperf's two threads would otherwise get twice the share of a contended core that
    one thread gets.
    """
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(REAL_TIME_PRIORITY))
    except PermissionError:
        return "ordinary scheduling (real-time needs root): figures are good on an otherwise idle machine only"
    return "real-time scheduling (SCHED_RR) of generators and servers"


def load_average() -> float:
    """Give the machine's load average of the last minute, as it is now."""
    return os.getloadavg()[0]
