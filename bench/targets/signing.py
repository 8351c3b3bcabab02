"""Rows 1 to 5: signing a whole zone, against other signers."""

import json
import os
import shutil
import statistics
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from dnsrig.studies.signing.child import run_to_end
from dnsrig.studies.signing.inputs import Inputs
from dnsrig.studies.signing.settings import CHAINS, KEYS
from dnsrig.studies.signing.signatures import read_signatures
from dnsrig.studies.signing.signers.registry import signer

from targets.contest import Contest, Contestant, cpu_s, hold, rss_mb, wall_s
from targets.running import BenchError
from targets.verdicts import NO_TARGET, Verdict, at_most

OURS = "dnsrig"
DNST = "dnst"
ALONE = "signing alone"
ALONE_S = 3.0
"""How long signing alone is measured in each round."""
PUBLISHED_S: Mapping[tuple[str, str], Mapping[str, float]] = {
    ("p256", "nsec"): {"dnst": 20.6, "knot": 25.9, "ldns": 39.5, "bind": 48.9},
    ("p256", "nsec3"): {"dnst": 26.4, "knot": 29.9, "ldns": 45.6, "bind": 64.6},
    ("rsa1024", "nsec"): {"dnst": 8.2, "bind": 8.6, "knot": 14.0},
}
"""Seconds that peers took on two processors when the targets were set, by key and chain; RSA-1024: a tenth of the zone.

dnst is in no distribution. Where it is missing, a target against it is one against the peer that was fastest then, of
those that are there, multiplied by what lay between the two then.
"""
Measured = tuple[Contest, list[Verdict]]


@dataclass(frozen=True, slots=True)
class SigningBench:
    """What all rows have in common."""

    inputs: Inputs
    """The whole zone."""
    tenth: Inputs
    """A tenth of it, for slow keys."""
    folder: Path
    rounds: int
    threads: int
    scale: str
    """The zone's size in words, for the table."""

    @property
    def cpus(self) -> frozenset[int]:
        """One processor a thread."""
        return frozenset(sorted(os.sched_getaffinity(0))[: self.threads])

    def hold(self, work: str, contestants: Sequence[Contestant]) -> Contest:
        """Run them in turn."""
        return hold(f"{work}, {self.scale}", contestants, self.rounds, self.folder, self.cpus)


@dataclass(frozen=True, slots=True)
class Target:
    """Our time as a ratio to that of a peer, or of the fastest of several; memory in MB."""

    row: int
    key: str
    chain: str
    peers: tuple[str, ...]
    time: float
    against: str | None = None
    """The peer that the ratio is to; None: the fastest."""
    memory_mb: float | None = None
    is_of_tenth: bool = False
    bound: float | None = None
    """Our time as a ratio to that of the signatures alone."""


FULL = (
    Target(1, "p256", "nsec", ("dnst", "knot", "ldns", "bind"), 0.45, "dnst", 150),
    Target(2, "p256", "nsec3", ("dnst", "knot"), 0.45, "dnst", 250),
    Target(3, "p256", "opt-out", ("dnst", "knot"), 0.6, None, 250),
    Target(4, "ed25519", "nsec", ("knot", "dnst"), 0.4, "knot"),
    Target(5, "rsa1024", "nsec", ("dnst", "bind", "knot"), 0.6, None, is_of_tenth=True, bound=1.15),
    Target(5, "rsa2048", "nsec", ("dnst", "bind", "knot"), 0.6, None, is_of_tenth=True, bound=1.15),
)


def full_signing(row: int, bench: SigningBench) -> Iterator[Measured]:
    """Rows 1 to 5."""
    for target in FULL:
        if target.row == row:
            yield _against_peers(bench, target)


def _against_peers(bench: SigningBench, target: Target) -> Measured:
    inputs = bench.tenth if target.is_of_tenth else bench.inputs
    peers = list(installed(target.peers))
    if not peers:
        how = " or ".join(signer(name).how_to_install() for name in target.peers)
        raise BenchError(f"none of {', '.join(target.peers)} is installed: {how}")
    what = f"{KEYS[target.key].label}, {CHAINS[target.chain]}{', a tenth of the zone' if target.is_of_tenth else ''}"

    def sign(name: str, place: Path) -> list[str]:
        return signing_of(inputs, name, target.key, place=place, threads=bench.threads, chain=target.chain)

    contestants = [Contestant(name, partial(sign, name)) for name in (OURS, *peers)]
    if target.bound is not None:
        contestants.append(Contestant(ALONE, lambda _: signing_alone(target.key, bench.threads)))
    contest = bench.hold(what, contestants)
    verdicts = [time_verdict(target, contest, peers)]
    verdicts += [cpu_verdict(target.row, contest, peer) for peer in peers]
    if target.memory_mb is not None:
        verdicts.append(memory_verdict(target.row, contest, OURS, target.memory_mb))
    if target.bound is not None:
        verdicts.append(_bound_verdict(bench, inputs, target, contest))
    return contest, verdicts


def time_verdict(target: Target, contest: Contest, peers: Sequence[str]) -> Verdict:
    """Judge our time against the peer of the target, or against another one instead where that is missing."""
    fastest = contest.fastest(peers)
    against, bound, note = target.against or fastest, target.time, _others(contest, peers)
    known = PUBLISHED_S.get((target.key, target.chain), {})
    if DNST in target.peers and DNST not in peers:
        there = [name for name in peers if name in known]
        if DNST in known and there:
            against = min(there, key=lambda name: known[name])
            bound = target.time * known[DNST] / known[against]
            note = (
                f"{DNST} is missing: its target of {target.time} x is {bound:.2f} x against {against}, by their times "
                f"of {known[DNST]} and {known[against]} s when it was set; {note}"
            )
        else:
            note = f"{DNST} is missing; {note}"
    return Verdict(
        target.row,
        against,
        f"{contest.work}: time",
        f"<= {bound:.2f} x",
        contest.said_ratio(OURS, against, wall_s, "s"),
        at_most(bound, contest.ratio(OURS, against, wall_s)),
        note,
    )


def _others(contest: Contest, peers: Sequence[str]) -> str:
    """Say what every peer took."""
    said = [f"{name} {contest.median(name, wall_s):.2f} s, {contest.median(name, rss_mb):,.0f} MB" for name in peers]
    return "; ".join(said)


def cpu_verdict(row: int, contest: Contest, peer: str) -> Verdict:
    """State the ratio of CPU times, which has no target."""
    reached = contest.said_ratio(OURS, peer, cpu_s, "s")
    return Verdict(row, peer, f"{contest.work}: CPU time", NO_TARGET, reached, met=None)


def memory_verdict(row: int, contest: Contest, name: str, most_mb: float) -> Verdict:
    """Judge a peak resident set, the largest of all rounds."""
    largest = max(map(rss_mb, contest.runs[name]))
    reached = f"{largest:,.0f} MB"
    return Verdict(row, "-", f"{contest.work}: peak RSS", f"<= {most_mb:g} MB", reached, at_most(most_mb, largest))


def signing_alone(key: str, threads: int) -> list[str]:
    """Give the command that makes nothing but signatures; `per_second` reads what it prints."""
    kind = KEYS[key]
    module = "dnsrig.studies.signing.crypto_bound"
    bits = "-" if kind.bits is None else str(kind.bits)
    return [sys.executable, "-m", module, kind.algorithm, bits, str(threads), str(ALONE_S)]


def per_second(said: str) -> float:
    """Read how many signatures a second `signing_alone` made."""
    return float(json.loads(said)["per_second"])


def _bound_verdict(bench: SigningBench, inputs: Inputs, target: Target, contest: Contest) -> Verdict:
    """Judge the distance to what the signatures alone take, round by round; they are counted in an output of ours."""
    place = bench.folder / "count"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    signatures = count_signatures(bench, inputs, target, place)
    shutil.rmtree(place)
    rates = [per_second(run.said) for run in contest.runs[ALONE]]
    ratios = sorted(run.wall_s * rate / signatures for run, rate in zip(contest.runs[OURS], rates, strict=True))
    ratio, rate = statistics.median(ratios), statistics.median(rates)
    return Verdict(
        target.row,
        ALONE,
        f"{contest.work}: time",
        f"<= {target.bound} x",
        f"{ratio:.2f} x ({ratios[0]:.2f} to {ratios[-1]:.2f}): "
        f"{contest.median(OURS, wall_s):.2f} against {signatures / rate:.2f} s",
        at_most(target.bound or 1.0, ratio),
        f"{signatures:,} signatures at {rate:,.0f}/s on {bench.threads} threads",
    )


def count_signatures(bench: SigningBench, inputs: Inputs, target: Target, place: Path) -> int:
    """Sign once more and count."""
    command = signing_of(inputs, OURS, target.key, place=place, threads=bench.threads, chain=target.chain)
    run_to_end(command, place)
    return read_signatures(place / "signed.zone").count


def signing_of(
    inputs: Inputs,
    name: str,
    key: str,
    *,
    place: Path,
    threads: int,
    zone: Path | None = None,
    chain: str = "nsec",
    refresh_s: int | None = None,
    verifies_kept: bool = False,
) -> list[str]:
    """Give the command of a signer for a zone file, the sorted zone unless told."""
    kind = signer(name)()
    task = inputs.task(
        zone or inputs.zone,
        key,
        place,
        now=int(time.time()),
        chain=chain,
        threads=threads,
        refresh_s=refresh_s,
        verifies_kept=verifies_kept,
    )
    kind.prepare(task)
    return kind.command(task)


def installed(names: Sequence[str]) -> Iterator[str]:
    """Name the signers that are there, and say which are not."""
    for name in names:
        kind = signer(name)
        if kind.find() is None:
            print(f"not measured: {kind.title} ({kind.how_to_install()})", file=sys.stderr)
        else:
            yield name
