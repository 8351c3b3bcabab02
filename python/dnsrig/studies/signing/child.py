"""Programs run to their end, with what they took."""

import json
import os
import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from dnsrig.errors import SubjectFailedError
from dnsrig.hosts.local import LocalHost, LocalProcess
from dnsrig.monitor.counters import read_counters, usage
from dnsrig.monitor.sampler import Monitor
from dnsrig.monitor.usage import other_cpu_share
from dnsrig.report.cases import DISTURBED

MEASURED = Path(__file__).with_name("measured.py")
DNSRIG = (sys.executable, "-m", "dnsrig")
"""Command that runs this dnsrig."""
POLL_S = 0.005
"""How often it is looked whether a program has ended; its own time is taken elsewhere."""
LONGEST_S = 6 * 3600.0
"""A program that takes longer is taken to hang."""
CPU_SOURCE = "the kernel's account of the process at its end (wait4)"
DISTURBING_CPUS = 0.15
"""Other programs that use more than this, in CPUs, take time from the measured one."""


@dataclass(frozen=True, slots=True)
class Used:
    """What a program took, as a measurement records it, and what else the machine did."""

    started: datetime
    program: Mapping[str, Any]
    generator: Mapping[str, Any]
    machine: Mapping[str, Any]
    monitor: Mapping[str, Any]
    series: pa.Table
    said: str
    """Standard output and standard error."""

    @property
    def disturbances(self) -> list[str]:
        """Say what else kept the machine busy, in words that are the same for all repetitions."""
        if other_cpu_share(self.machine, self.program, self.generator) < DISTURBING_CPUS:
            return []
        return [f"{DISTURBED} {DISTURBING_CPUS:g} CPUs meanwhile"]


def run_measured(command: Sequence[str], folder: Path, *, cpus: frozenset[int]) -> Used:
    """Run a command in `folder` on `cpus` to its end; `folder` gets its log.

    Raises SubjectFailedError, with the end of what it said, if its exit status is not 0.
    """
    result, log = folder / "used.json", folder / "log"
    for leftover in (result, log):
        leftover.unlink(missing_ok=True)
    argv = [sys.executable, "-I", "-S", str(MEASURED), str(result), *command]
    started = datetime.now(UTC)
    with LocalHost().spawn(argv, folder=folder, log=log, cpus=cpus) as process:
        with Monitor({"program": process.pids, "generator": _own_pid}) as monitor:
            own_before = read_counters(_own_pid())
            _wait(process, command)
            own_after = read_counters(_own_pid())
            samples = monitor.stop()
        code = process.returncode
    if code != 0:
        raise _failure(command, code, process)
    used = json.loads(result.read_text(encoding="ascii"))
    wall_us = used["wall_ns"] / 1000
    program = {
        "wall_us": wall_us,
        "cpu_us": used["cpu_us"],
        "cpu_share": used["cpu_us"] / max(wall_us, 1),
        "cpu_source": CPU_SOURCE,
        "rss_bytes_max": used["rss_bytes_max"],
    }
    return Used(
        started=started,
        program=program,
        generator=usage(own_before, own_after, samples, "generator"),
        machine=samples.usage("machine"),
        monitor=samples.facts(),
        series=samples.table,
        said=log.read_text(encoding="utf-8", errors="replace"),
    )


def run_to_end(command: Sequence[str], folder: Path) -> str:
    """Run a command that only prepares or checks; give what it said. Raises SubjectFailedError as `run_measured`."""
    log = folder / "log"
    log.unlink(missing_ok=True)
    with LocalHost().spawn(command, folder=folder, log=log, cpus=None) as process:
        _wait(process, command)
        if process.returncode != 0:
            raise _failure(command, process.returncode, process)
    return log.read_text(encoding="utf-8", errors="replace")


def _failure(command: Sequence[str], code: int | None, process: LocalProcess) -> SubjectFailedError:
    """Say first what is the same in all repetitions, then the command, and all that it said."""
    said = process.log_tail()
    last = said.splitlines()[-1] if said else "it said nothing"
    name = " ".join(part for part in command[: len(DNSRIG) + 2] if "/" not in part)
    name = name.replace("-m dnsrig", "dnsrig") if tuple(command[: len(DNSRIG)]) == DNSRIG else command[0]
    return SubjectFailedError(f"{name} ended with {code}: {last}\n{shlex.join(command)}\n{said}")


def _wait(process: LocalProcess, command: Sequence[str]) -> None:
    ends_by = time.monotonic() + LONGEST_S
    while process.alive():
        if time.monotonic() > ends_by:
            raise SubjectFailedError(f"{shlex.join(command)} had not ended after {LONGEST_S / 3600:g} hours")
        time.sleep(POLL_S)


def _own_pid() -> list[int]:
    return [os.getpid()]
