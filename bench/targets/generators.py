"""The two load generators: the same load as a command line of each, and what each says of it."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from targets.running import BenchError, Ended, run_pinned

Generator = Literal["dnsperf", "dnsrig"]
GENERATORS: tuple[Generator, ...] = ("dnsperf", "dnsrig")
DOH_PATH = "/dns-query"
COMPLETED = re.compile(r"Queries completed:\s+(\d+)")
LOST = re.compile(r"Queries lost:\s+(\d+)")
RATE = re.compile(r"Queries per second:\s+([\d.]+)")


@dataclass(frozen=True, slots=True)
class Load:
    """What both generators are asked for."""

    name: str
    transport: Literal["udp", "dot", "doh"] = "udp"
    sessions: int = 1
    """Sockets, or sessions at once."""
    outstanding: int = 100
    """Most queries outstanding; with a rate it limits dnsperf only, which cannot go without."""
    rate_qps: int | None = None
    """Fixed rate; None is a closed loop."""
    one_query_per_session: bool = False
    """A new session and a full TLS handshake for each query."""
    http_get: bool = False
    at_least_s: float = 0.0
    """Length of its runs, if that of others is less: where a load takes little CPU, starting must not drown it."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One run of one generator as it was measured."""

    answered: int
    lost: int
    qps: float
    cpu_s: float
    """CPU time of the whole process, starting included."""

    def less_starting(self, starting_s: float) -> "Result":
        """Take the CPU time that is not the load's off."""
        cpu_us_per_query = (self.cpu_s - starting_s) * 1e6 / self.answered
        return Result(self.answered, self.lost, self.qps, cpu_us_per_query)


@dataclass(frozen=True, slots=True)
class Result:
    """One run of one generator."""

    answered: int
    lost: int
    qps: float
    """Answered queries a second."""
    cpu_us_per_query: float
    """CPU time of the process for each answered query, less what starting it costs."""

    @property
    def per_cpu_s(self) -> float:
        """Queries, or handshakes where each query has a session of its own, that one CPU second suffices for."""
        return 1e6 / self.cpu_us_per_query


@dataclass(frozen=True, slots=True)
class Bench:
    """What all runs have in common."""

    dnsrig: Sequence[str]
    """Command that runs dnsrig."""
    folder: Path
    """Where query files, zone and servers live."""
    generator_cpu: int
    server_cpu: int
    seconds: float
    pairs: int

    @property
    def queries(self) -> Path:
        """The query file of all comparisons."""
        return self.folder / "queries.txt"

    @property
    def one_query(self) -> Path:
        """A query file of one query."""
        return self.folder / "one.txt"

    def run_dnsrig(self, arguments: Sequence[str]) -> tuple[dict[str, Any], Ended]:
        """Run `dnsrig load` with these arguments; give its report and what the process came to."""
        ended = run_pinned([*self.dnsrig, "load", "-s", "127.0.0.1", *arguments, "--json"], self.generator_cpu)
        return json.loads(ended.output), ended


def command(bench: Bench, generator: Generator, port: int, load: Load, *, one_query: bool) -> list[str]:
    """Give the command line of a generator for a load against the server at `port`."""
    file = bench.one_query if one_query else bench.queries
    common = ["-s", "127.0.0.1", "-p", str(port), "-d", str(file), "-m", load.transport, "-c", str(load.sessions)]
    common += ["-n", "1"] if one_query else ["-l", f"{max(bench.seconds, load.at_least_s):g}"]
    return [*common_program(bench, generator), *common, *OPTIONS[generator](port, load)]


def common_program(bench: Bench, generator: Generator) -> list[str]:
    """Give the program of a generator with its sub-command."""
    return ["dnsperf"] if generator == "dnsperf" else [*bench.dnsrig, "load"]


def _dnsperf_options(port: int, load: Load) -> list[str]:
    options = ["-q", str(load.outstanding)]
    if load.rate_qps:
        options += ["-Q", str(load.rate_qps)]
    if load.one_query_per_session:
        options += ["-O", "num-queries-per-conn=1"]
    if load.transport == "doh":
        method = "GET" if load.http_get else "POST"
        options += ["-O", f"doh-uri=https://127.0.0.1:{port}{DOH_PATH}", "-O", f"doh-method={method}"]
    return options


def _dnsrig_options(_: int, load: Load) -> list[str]:
    options = ["-Q", str(load.rate_qps)] if load.rate_qps else ["-q", str(load.outstanding)]
    if load.one_query_per_session:
        options += ["--queries-per-session", "1", "--no-resumption"]
    if load.http_get:
        options.append("--http-get")
    return [*options, "--json"]


OPTIONS: dict[Generator, Callable[[int, Load], list[str]]] = {"dnsperf": _dnsperf_options, "dnsrig": _dnsrig_options}


def starting_cpu_s(bench: Bench, generator: Generator, port: int, load: Load) -> float:
    """Measure the CPU seconds of a run of one query, which is what starting the generator costs."""
    return run_pinned(command(bench, generator, port, load, one_query=True), bench.generator_cpu).cpu_s


def measure(bench: Bench, generator: Generator, port: int, load: Load) -> Measured:
    """Run one load.

    Raises:
        BenchError: the generator failed, or got no answer.

    """
    argv = command(bench, generator, port, load, one_query=False)
    ended = run_pinned(argv, bench.generator_cpu)
    if generator == "dnsperf":
        answered, lost, qps = (_number(pattern, ended.output) for pattern in (COMPLETED, LOST, RATE))
    else:
        report = json.loads(ended.output)
        answered, qps = report["answered"], report["qps"]
        lost = report["timed_out"] + report["refused"]
    if answered == 0:
        raise BenchError(f"no answer came to: {' '.join(argv)}\n{ended.output[-2000:]}")
    return Measured(int(answered), int(lost), qps, ended.cpu_s)


def _number(pattern: re.Pattern[str], output: str) -> float:
    match = pattern.search(output)
    if match is None:
        raise BenchError(f"dnsperf did not print {pattern.pattern!r} but:\n{output[-2000:]}")
    return float(match.group(1))
