"""Rows 6 to 8: how well the generator keeps to times and rates."""

import json
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from targets.capture import Capture, write_capture
from targets.file_limit import clients_permitted
from targets.generators import Bench
from targets.running import REAL_TIME_PRIORITY, load_average, running
from targets.servers import echo
from targets.verdicts import Verdict, at_most

REPLAY_QPS = 50_000
REPLAY_CLIENTS = 20_000
JITTER = Path(__file__).with_name("jitter.py")
LATE_QUANTILE = "p99"
CAPTURE_SEED = 20_000
SEND_ERROR_P50_NS = 20_000
SEND_ERROR_P99_NS = 200_000
RATE_TOLERANCE = 0.001
FIXED_RATES = (1, 10, 100, 1_000, 10_000, 100_000)
QUERIES_AT_LEAST = 10
"""A slow rate runs for as long as so many queries take."""
REPETITIONS = 3
SUBJECT = "bare UDP echo"
Measured = tuple[dict[str, Any], list[Verdict]]


def replay(bench: Bench, seconds: int) -> Iterator[Measured]:
    """Rows 6 and 7: a capture of 50,000 q/s from 20,000 clients, each with a socket of its own."""
    clients = clients_permitted(REPLAY_CLIENTS)
    path = bench.folder / "replay.pcap"
    capture = write_capture(path, rate_qps=REPLAY_QPS, seconds=seconds, clients=clients, seed=CAPTURE_SEED)
    with echo(bench) as port, _jitter(bench) as stop:
        report, _ = bench.run_dnsrig(["-p", str(port), "--replay", str(path)])
        jitter_ns = stop()
    path.unlink()
    figures = {
        "capture": {"queries": capture.queries, "clients": clients},
        "jitter_ns": jitter_ns,
        "report": _without_histogram(report),
    }
    yield (
        figures,
        [
            *_send_time_verdicts(report, jitter_ns, capture, seconds),
            _rate_verdict(report, capture, seconds),
        ],
    )


@contextmanager
def _jitter(bench: Bench) -> Iterator[Callable[[], dict[str, int]]]:
    """Measure the wake-up jitter of the generator's CPU until the function that this gives is called."""
    argv = [sys.executable, str(JITTER), str(bench.generator_cpu), str(REAL_TIME_PRIORITY + 1)]
    with running(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:

        def stop() -> dict[str, int]:
            figures: dict[str, int] = json.loads(process.communicate()[0])
            return figures

        yield stop


def _what(capture: Capture, seconds: int) -> str:
    said = f"replay, {REPLAY_QPS:,} q/s for {seconds} s, {capture.clients:,} clients"
    return said if capture.clients == REPLAY_CLIENTS else f"{said} (the file limit permits no more)"


def _send_time_verdicts(
    report: dict[str, Any], jitter_ns: dict[str, int], capture: Capture, seconds: int
) -> Iterator[Verdict]:
    late, wake_up = report["send_error_ns"], report["generator"]["wake_up_ns"]
    in_load = report["generator"]["wake_up_in_load_ns"]
    every = [part["send_error_ns"][LATE_QUANTILE] for part in report["intervals"] if part["phase"] == "measure"]
    median_ns = statistics.median(part for part in every if part is not None)
    for quantile, bound_ns in (("p50", SEND_ERROR_P50_NS), ("p99", SEND_ERROR_P99_NS)):
        yield Verdict(
            6,
            SUBJECT,
            f"{_what(capture, seconds)}: send-time error {quantile}",
            f"<= {bound_ns // 1000} us",
            f"{late[quantile] / 1000:.1f} us",
            at_most(bound_ns, late[quantile]),
            f"median of the seconds' {LATE_QUANTILE} {median_ns / 1000:.1f} us; the machine's own wake-up jitter "
            f"{wake_up[quantile] / 1000:.1f} us before and {jitter_ns[quantile] / 1000:.1f} us during the replay; "
            f"its own sleeps ended {in_load[quantile] / 1000:.1f} us late; "
            f"load average {load_average():.1f}",
        )


def _rate_verdict(report: dict[str, Any], capture: Capture, seconds: int) -> Verdict:
    sent = [interval["sent"] for interval in report["intervals"] if interval["phase"] == "measure"]
    off = [abs(ours / theirs - 1) for ours, theirs in zip(sent, capture.per_second, strict=False)]
    worst = max(off, default=1.0)
    complete = sum(sent) == capture.queries and len(off) == seconds
    return Verdict(
        7,
        SUBJECT,
        f"{_what(capture, seconds)}: each second's rate against the capture",
        "within 0.1 %",
        f"worst second {worst:.4%}, median {statistics.median(off):.4%}",
        complete and at_most(RATE_TOLERANCE, worst),
        f"{sum(sent):,} of {capture.queries:,} queries sent, {report['answered']:,} answered",
    )


def fixed_rates(bench: Bench) -> Iterator[Measured]:
    """Row 8: fixed rates from 1/s to 100,000/s, the worst of several runs of each."""
    with echo(bench) as port:
        for rate_qps in FIXED_RATES:
            seconds = max(bench.seconds, QUERIES_AT_LEAST / rate_qps)
            arguments = ["-p", str(port), "-d", str(bench.queries), "-Q", str(rate_qps), "-l", f"{seconds:g}"]
            reports = [bench.run_dnsrig(arguments)[0] for _ in range(REPETITIONS)]
            achieved = [report["sent"] / report["duration_s"] for report in reports]
            worst = max(achieved, key=lambda rate: abs(rate / rate_qps - 1))
            off = worst / rate_qps - 1
            yield (
                {"rate_qps": rate_qps, "seconds": seconds, "achieved_qps": achieved},
                [
                    Verdict(
                        8,
                        SUBJECT,
                        f"fixed {rate_qps:,} q/s for {seconds:g} s, worst of {REPETITIONS}",
                        "within 0.1 %",
                        f"{worst:,.3f} q/s ({off:+.4%})",
                        at_most(RATE_TOLERANCE, abs(off)),
                    )
                ],
            )


def _without_histogram(report: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in report.items() if name != "latency_histogram"}
