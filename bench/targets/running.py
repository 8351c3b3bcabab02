"""Run commands, end them whatever happens, account for their CPU time; say what the machine was doing."""

import contextlib
import os
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO

REAL_TIME_PRIORITY = 10
ENDS_WITHIN_S = 5.0
"""Time that a process has to end when it is told to."""


class BenchError(Exception):
    """A run that gave no figure; the message says which command, and what it said."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A command that ended well."""

    output: str
    cpu_s: float
    """User and system time of the process with its children, as the kernel accounts it (wait4)."""


def pinned(command: Sequence[str], cpu: int) -> list[str]:
    """Give the command that runs `command` on one CPU."""
    return ["taskset", "-c", str(cpu), *command]


@contextmanager
def running(
    command: Sequence[str],
    *,
    stdin: int | None = None,
    stdout: int | IO[str] | None = None,
    stderr: int | IO[str] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Iterator["subprocess.Popen[str]"]:
    """Run `command`; end it with the block, if it has not ended by then."""
    with subprocess.Popen(command, stdin=stdin, stdout=stdout, stderr=stderr, env=environment, text=True) as process:
        try:
            yield process
        finally:
            _end(process)


def _end(process: "subprocess.Popen[str]") -> None:
    """End a process: by the end of its input if that is ours, then by SIGTERM, then by SIGKILL."""
    means: list[Callable[[], None]] = [process.terminate, process.kill]
    if process.stdin is not None:
        means.insert(0, process.stdin.close)
    for end in means:
        if process.poll() is not None:
            return
        end()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(ENDS_WITHIN_S)


def run_pinned(command: Sequence[str], cpu: int, environment: Mapping[str, str] | None = None) -> Ended:
    """Run `command` on one CPU to its end.

    Raises:
        BenchError: its exit status is not 0.

    """
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        with running(pinned(command, cpu), stdout=output, stderr=errors, environment=environment) as process:
            _, status, usage = os.wait4(process.pid, 0)
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
