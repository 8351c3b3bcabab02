"""What `dnsrig traffic` must reach, against programs that read captures."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from dnsrig.studies.signing.child import DNSRIG

from targets.contest import Contest, Contestant, cpu_s, hold, rss_mb, wall_s
from targets.dns_capture import DnsCapture
from targets.running import BenchError
from targets.verdicts import NO_TARGET, Verdict, at_least, at_most

TCPDUMP_FILTER_MPPS, PACKETQ_TABLE_MPPS = 6.4, 1.9
"""Million packets per second of one core on one capture, measured once: PacketQ is in no Debian release that this runs
on, so that it is judged through tcpdump on the same file."""
MEMORY_MB = 1024.0

Figures = Iterator[tuple[Contest, list[Verdict]]]


@dataclass(frozen=True, slots=True)
class TrafficBench:
    """What rows need."""

    capture: DnsCapture
    folder: Path
    rounds: int

    def hold(self, work: str, *contestants: Contestant, cpus: frozenset[int]) -> Contest:
        """Run all contestants in turn."""
        return hold(work, contestants, self.rounds, self.folder, cpus)

    def mpps(self, seconds: float) -> float:
        """Give million packets per second."""
        return self.capture.packets / seconds / 1e6


def _needed(program: str, package: str) -> str:
    path = shutil.which(program)
    if path is None:
        raise BenchError(f"{program} is missing: apt-get install {package}")
    return path


def _dnsrig(name: str, capture: Path, threads: int, *options: str) -> Contestant:
    command = [*DNSRIG, "traffic", "stats", str(capture), "--json", "--threads", str(threads), *options]
    return Contestant(name, lambda _place: command)


def _fixed(name: str, command: Sequence[str]) -> Contestant:
    return Contestant(name, lambda _place: list(command))


def table(bench: TrafficBench, cpus: frozenset[int]) -> Figures:
    """Row 1: everything but names against PacketQ's table of types and response codes, on one core."""
    path = bench.capture.path
    tcpdump = [_needed("tcpdump", "tcpdump"), "-n", "-r", str(path), "-w", "/dev/null", "udp port 53"]
    one = frozenset(sorted(cpus)[:1])
    contest = bench.hold(
        "stats --names 0", _dnsrig("dnsrig", path, 1, "--names", "0"), _fixed("tcpdump", tcpdump), cpus=one
    )
    ratio = 1 / contest.ratio("dnsrig", "tcpdump", wall_s)
    of_packetq = ratio * TCPDUMP_FILTER_MPPS / PACKETQ_TABLE_MPPS
    ours = bench.mpps(contest.median("dnsrig", wall_s))
    theirs = bench.mpps(contest.median("tcpdump", wall_s))
    reached = f"{of_packetq:.1f} x ({ratio:.2f} x tcpdump: {ours:.1f} against {theirs:.1f} Mpkt/s, one core)"
    note = "through tcpdump on the same file; PacketQ is not packaged"
    yield contest, [Verdict(1, "PacketQ", "types and response codes", ">= 4 x", reached, at_least(4, of_packetq), note)]


def names(bench: TrafficBench, cpus: frozenset[int]) -> Figures:
    """Row 2: everything against dnstop with names to three levels, on one core."""
    path = bench.capture.path
    dnstop = [_needed("dnstop", "dnstop"), "-Q", "-R", "-l", "3", str(path)]
    one = frozenset(sorted(cpus)[:1])
    contest = bench.hold("stats with names", _dnsrig("dnsrig", path, 1), _fixed("dnstop", dnstop), cpus=one)
    ratio = 1 / contest.ratio("dnsrig", "dnstop", wall_s)
    ours, theirs = (bench.mpps(contest.median(name, wall_s)) for name in ("dnsrig", "dnstop"))
    reached = f"{ratio:.1f} x: {ours:.1f} against {theirs:.2f} Mpkt/s, one core"
    yield contest, [Verdict(2, "dnstop", "names to three levels", ">= 10 x", reached, at_least(10, ratio))]


def cores(bench: TrafficBench, cpus: frozenset[int]) -> Figures:
    """Row 5: what all cores add, and memory."""
    path, number = bench.capture.path, len(cpus)
    contest = bench.hold("all cores", _dnsrig("one", path, 1), _dnsrig("all", path, number), cpus=cpus)
    ratio = 1 / contest.ratio("all", "one", wall_s)
    cost = contest.ratio("all", "one", cpu_s)
    memory = contest.median("all", rss_mb)
    speed = bench.mpps(contest.median("all", wall_s))
    yield (
        contest,
        [
            Verdict(
                5,
                "one core",
                f"{number} cores",
                NO_TARGET,
                f"{ratio:.2f} x, CPU time {cost:.2f} x: {speed:.1f} Mpkt/s",
                None,
            ),
            Verdict(5, "1 GiB", "peak memory with names", "<= 1024 MB", f"{memory:.0f} MB", at_most(MEMORY_MB, memory)),
        ],
    )


Row = Callable[[TrafficBench], Figures]


def rows(cpus: frozenset[int]) -> dict[int, Row]:
    """Give the rows by their number in the table of issue 6."""
    return {1: partial(table, cpus=cpus), 2: partial(names, cpus=cpus), 5: partial(cores, cpus=cpus)}
