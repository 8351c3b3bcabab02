"""Rows 6 to 10: re-signing, sorting, verifying, cutting and joining zones, and signing unsorted ones."""

import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from dnsrig.studies.signing.child import DNSRIG
from dnsrig.studies.signing.inputs import join_command, refresh_interval_s, split_command
from dnsrig.studies.signing.settings import PIECES

from targets.contest import Contest, Contestant, rss_mb, wall_s
from targets.running import BenchError
from targets.signing import OURS, Measured, SigningBench, cpu_verdict, installed, memory_verdict, signing_of
from targets.verdicts import Verdict, at_most

KEY = "p256"
WITH_STATE, VERIFYING = "with the state file", "verifying what is kept"
WITH_STATE_S, VERIFYING_S = 5.0, 30.0
RESIGNING_PEERS = ("knot", "bind")


def resigning(bench: SigningBench) -> Iterator[Measured]:
    """Row 6: the zone is signed already and nothing is to be renewed."""
    inputs = bench.inputs
    dated = inputs.dated(KEY)

    def again(name: str, place: Path, *, verifies_kept: bool = False) -> list[str]:
        return signing_of(
            inputs,
            name,
            KEY,
            place=place,
            threads=bench.threads,
            zone=dated.joined,
            refresh_s=refresh_interval_s(0),
            verifies_kept=verifies_kept,
        )

    peers = list(installed(RESIGNING_PEERS))
    contest = bench.hold(
        "P-256, NSEC, 0 % made anew",
        [
            Contestant(WITH_STATE, partial(again, OURS)),
            Contestant(VERIFYING, partial(again, OURS, verifies_kept=True)),
            *(Contestant(name, partial(again, name)) for name in peers),
        ],
    )
    said = "; ".join(f"{name} {contest.median(name, wall_s):.2f} s" for name in peers)
    verdicts = []
    for name, most_s in ((WITH_STATE, WITH_STATE_S), (VERIFYING, VERIFYING_S)):
        took_s = contest.median(name, wall_s)
        memory = f"{contest.median(name, rss_mb):,.0f} MB"
        what = f"{contest.work}, {name}: time"
        met = at_most(most_s, took_s)
        verdicts.append(Verdict(6, "-", what, f"<= {most_s:g} s", f"{took_s:.2f} s", met, f"{memory}; {said}"))
    yield contest, verdicts


def sorting(bench: SigningBench) -> Iterator[Measured]:
    """Row 7: reading and writing the unsigned zone."""
    zone, origin = bench.inputs.zone, bench.inputs.origin

    def ours(place: Path) -> list[str]:
        return [*DNSRIG, "zone", "sort", str(zone), "-f", str(place / "out"), "--threads", str(bench.threads)]

    def named_compilezone(place: Path) -> list[str]:
        return ["named-compilezone", "-q", "-i", "none", "-o", str(place / "out"), origin, str(zone)]

    require("named-compilezone", "bind9-utils")
    peer = Contestant("named-compilezone", named_compilezone)
    contest = bench.hold("sort the unsigned zone", [Contestant(OURS, ours), peer])
    yield contest, [ratio_verdict(7, contest, peer.name, 0.4), cpu_verdict(7, contest, peer.name)]


def verifying(bench: SigningBench) -> Iterator[Measured]:
    """Row 8: verifying the signed zone."""
    signed, origin = bench.inputs.dated(KEY).joined, bench.inputs.origin

    def ours(_: Path) -> list[str]:
        return [*DNSRIG, "zone", "verify", "-o", origin, "--threads", str(bench.threads), str(signed)]

    def dnssec_verify(_: Path) -> list[str]:
        return ["dnssec-verify", "-q", "-o", origin, str(signed)]

    require("dnssec-verify", "bind9-utils")
    contest = bench.hold(
        "verify the signed zone, P-256", [Contestant(OURS, ours), Contestant("dnssec-verify", dnssec_verify)]
    )
    yield (
        contest,
        [
            ratio_verdict(8, contest, "dnssec-verify", 0.35),
            cpu_verdict(8, contest, "dnssec-verify"),
            memory_verdict(8, contest, OURS, 200),
        ],
    )


def cutting(bench: SigningBench) -> Iterator[Measured]:
    """Row 9: splitting the unsigned zone, joining signed pieces."""
    inputs = bench.inputs
    records = int(str(inputs.statistics["records"]))

    def split(place: Path) -> list[str]:
        return split_command(inputs.zone, place / "piece")

    def ldns_zsplit(place: Path) -> list[str]:
        # It writes its pieces beside the zone.
        zone = place / "zone"
        zone.symlink_to(inputs.zone)
        return ["ldns-zsplit", "-n", str(-(-records // PIECES)), "-o", inputs.origin, str(zone)]

    dated = inputs.dated(KEY)

    def join(place: Path) -> list[str]:
        return join_command(list(dated.pieces), dated.manifest, place / "out")

    def ldns_zcat(place: Path) -> list[str]:
        command = 'output=$1; shift; exec ldns-zcat "$@" >"$output"'
        return ["sh", "-c", command, "sh", str(place / "out"), *map(str, dated.pieces)]

    works: tuple[tuple[str, Callable[[Path], list[str]], str, Callable[[Path], list[str]], float], ...] = (
        (f"split in {PIECES}", split, "ldns-zsplit", ldns_zsplit, 0.3),
        (f"join {PIECES} signed pieces", join, "ldns-zcat", ldns_zcat, 0.15),
    )
    for work, ours, peer, theirs, bound in works:
        require(peer, "ldnsutils")
        contest = bench.hold(work, [Contestant(OURS, ours), Contestant(peer, theirs)])
        verdicts = [ratio_verdict(9, contest, peer, bound), cpu_verdict(9, contest, peer)]
        yield contest, [*verdicts, memory_verdict(9, contest, OURS, 100)]


def unsorted_input(bench: SigningBench) -> Iterator[Measured]:
    """Row 10: the same zone with its records in no order."""
    inputs = bench.inputs

    def of(zone: Path, place: Path) -> list[str]:
        return signing_of(inputs, OURS, KEY, place=place, threads=bench.threads, zone=zone)

    contestants = [
        Contestant("unsorted input", partial(of, inputs.unsorted)),
        Contestant("sorted input", partial(of, inputs.zone)),
    ]
    contest = bench.hold("P-256, NSEC, unsorted input", contestants)
    ours, sorted_input = (contestant.name for contestant in contestants)
    memory = (f"{name} {contest.median(name, rss_mb):,.0f} MB" for name in (ours, sorted_input))
    verdict = Verdict(
        10,
        sorted_input,
        f"{contest.work}: time",
        "<= 1.3 x",
        contest.said_ratio(ours, sorted_input, wall_s, "s"),
        at_most(1.3, contest.ratio(ours, sorted_input, wall_s)),
        f"peak RSS: {'; '.join(memory)}",
    )
    yield contest, [verdict]


def ratio_verdict(row: int, contest: Contest, peer: str, bound: float) -> Verdict:
    """Judge our time against a peer's."""
    return Verdict(
        row,
        peer,
        f"{contest.work}: time",
        f"<= {bound} x",
        contest.said_ratio(OURS, peer, wall_s, "s"),
        at_most(bound, contest.ratio(OURS, peer, wall_s)),
        f"peak RSS {contest.median(OURS, rss_mb):,.0f} MB against {contest.median(peer, rss_mb):,.0f} MB",
    )


def require(program: str, package: str) -> None:
    """Raise BenchError, with the package, if a peer is missing."""
    if shutil.which(program) is None:
        raise BenchError(f"{program} is missing: install the Debian package {package}")
