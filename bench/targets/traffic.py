"""What `dnsrig traffic` must reach, against programs that read captures."""

import os
import shutil
import subprocess
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
    one = frozenset(sorted(cpus)[:1])
    packetq = shutil.which("packetq")
    if packetq is not None:
        path = _in_microseconds(bench)
    ours = _dnsrig("dnsrig", path, 1, "--names", "0")
    if packetq is not None:
        asked = "select qtype, rcode, count(*) as n from dns group by qtype, rcode"
        contest = bench.hold(
            "stats --names 0", ours, _fixed("packetq", [packetq, "--csv", "-s", asked, str(path)]), cpus=one
        )
        ratio = 1 / contest.ratio("dnsrig", "packetq", wall_s)
        reached = _faster(bench, contest, "packetq", ratio)
        yield contest, [Verdict(1, "PacketQ", "types and response codes", ">= 4 x", reached, at_least(4, ratio))]
        return
    contest = bench.hold("stats --names 0", ours, _fixed("tcpdump", _tcpdump(path)), cpus=one)
    ratio = 1 / contest.ratio("dnsrig", "tcpdump", wall_s)
    of_packetq = ratio * TCPDUMP_FILTER_MPPS / PACKETQ_TABLE_MPPS
    reached = f"{of_packetq:.1f} x ({_faster(bench, contest, 'tcpdump', ratio)})"
    note = "through tcpdump on the same file; PacketQ is not packaged, and not on PATH"
    yield contest, [Verdict(1, "PacketQ", "types and response codes", ">= 4 x", reached, at_least(4, of_packetq), note)]


def _tcpdump_that_writes() -> list[str]:
    # As root it would write as another user, who may not do so in a folder of ours.
    return [_needed("tcpdump", "tcpdump"), *(["-Z", "root"] if os.geteuid() == 0 else [])]


def _in_microseconds(bench: TrafficBench) -> Path:
    """Write the capture with times in microseconds: of others, PacketQ says that they are empty."""
    path = bench.folder / "microseconds.pcap"
    command = [*_tcpdump_that_writes(), "-r", str(bench.capture.path), "-w", str(path)]
    written = subprocess.run(command, capture_output=True, check=False)
    if written.returncode != 0:
        raise BenchError(f"tcpdump wrote no capture: {written.stderr.decode(errors='replace').strip()}")
    return path


def _tcpdump(path: Path) -> list[str]:
    return [_needed("tcpdump", "tcpdump"), "-n", "-r", str(path), "-w", "/dev/null", "udp port 53"]


def _faster(bench: TrafficBench, contest: Contest, other: str, ratio: float) -> str:
    """Say how many times as fast as `other` dnsrig was: the median of the rounds, the least and the greatest."""
    ratios = [1 / ratio for ratio in contest.ratios("dnsrig", other, wall_s)]
    ours, theirs = (bench.mpps(contest.median(name, wall_s)) for name in ("dnsrig", other))
    spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
    by_cpu = 1 / contest.ratio("dnsrig", other, cpu_s)
    speeds = f"{ours:.2f} against {theirs:.2f} Mpkt/s, one core"
    return f"{ratio:.2f} x {other} ({spread}; by CPU time {by_cpu:.2f} x): {speeds}"


def names(bench: TrafficBench, cpus: frozenset[int]) -> Figures:
    """Row 2: everything against dnstop with names to three levels, on one core."""
    path = bench.capture.path
    dnstop = [_needed("dnstop", "dnstop"), "-Q", "-R", "-l", "3", str(path)]
    one = frozenset(sorted(cpus)[:1])
    contest = bench.hold("stats with names", _dnsrig("dnsrig", path, 1), _fixed("dnstop", dnstop), cpus=one)
    ratio = 1 / contest.ratio("dnsrig", "dnstop", wall_s)
    reached = _faster(bench, contest, "dnstop", ratio)
    yield contest, [Verdict(2, "dnstop", "names to three levels", ">= 10 x", reached, at_least(10, ratio))]


def anonymise(bench: TrafficBench, cpus: frozenset[int]) -> Figures:
    """Row 3: `traffic anonymize` against dnscap with Crypto-PAn of both families, on one core, into files."""
    path = bench.capture.path
    dnscap = _needed("dnscap", "dnscap")
    key = "0123456789abcdef"
    theirs = [dnscap, "-r", str(path), "-w", "out", "-P", _plugin(), "-k", key, "-i", key, "-a", key, "-6"]
    ours = [*DNSRIG, "traffic", "anonymize", str(path), "-f", "out.pcap", "--threads", "1"]
    one = frozenset(sorted(cpus)[:1])
    contest = bench.hold("anonymise", _fixed("dnsrig", ours), _fixed("dnscap", theirs), cpus=one)
    ratio = 1 / contest.ratio("dnsrig", "dnscap", wall_s)
    reached = _faster(bench, contest, "dnscap", ratio)
    note = "dnsrig searches its output for originals as well, and maps names and records"
    yield (
        contest,
        [Verdict(3, "dnscap, cryptopan", "addresses of both families", ">= 3 x", reached, at_least(3, ratio), note)],
    )


def _plugin() -> str:
    found = sorted(Path("/usr/lib").glob("**/dnscap/cryptopan.so"))
    if not found:
        raise BenchError("dnscap's plugin cryptopan.so is missing: apt-get install dnscap")
    return str(found[0])


def zone(bench: TrafficBench, cpus: frozenset[int]) -> Figures:
    """Row 4: `traffic filter` by zone against tcpdump's own filter, on one core, into files; both write everything."""
    path = bench.capture.path
    theirs = [*_tcpdump_that_writes(), "-n", "-r", str(path), "-w", "out.pcap", "udp port 53"]
    ours = [*DNSRIG, "traffic", "filter", "not zone sub.invalid", str(path), "-f", "out.pcap", "--threads", "1"]
    one = frozenset(sorted(cpus)[:1])
    contest = bench.hold("filter by zone", _fixed("dnsrig", ours), _fixed("tcpdump", theirs), cpus=one)
    ratio = 1 / contest.ratio("dnsrig", "tcpdump", wall_s)
    reached = _faster(bench, contest, "tcpdump", ratio)
    yield contest, [Verdict(4, "tcpdump", "filter by zone", ">= 0.8 x", reached, at_least(0.8, ratio))]


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
    functions = {1: table, 2: names, 3: anonymise, 4: zone, 5: cores}
    return {number: partial(function, cpus=cpus) for number, function in functions.items()}
