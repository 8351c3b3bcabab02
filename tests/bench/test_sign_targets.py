"""bench/sign_targets: its ratios and targets, and that it measures and leaves nothing behind."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from dnsrig.hosts.processes import descendants
from dnsrig.studies.signing.signers.registry import signer

ROOT = Path(__file__).resolve().parents[2]
BENCH = ROOT / "bench"
sys.path.insert(0, str(BENCH))

from targets.contest import Contest, Took, rss_mb, wall_s  # noqa: E402 (found by the path above)
from targets.signing import FULL, memory_verdict, per_second, signing_alone, time_verdict  # noqa: E402
from targets.verdicts import NO_TARGET, Verdict, table  # noqa: E402

PATIENCE_S = 120.0
NSEC, NSEC3, OPT_OUT = FULL[:3]


def took(*times: float, rss_bytes: int = 50_000_000) -> list[Took]:
    return [Took(wall_s=time_s, cpu_s=2 * time_s, rss_bytes=rss_bytes) for time_s in times]


def contest(**runs: list[Took]) -> Contest:
    return Contest("signing", runs, load_average=0.0)


def test_what_signing_alone_prints_is_read() -> None:
    *command, _seconds = signing_alone("p256", 1)
    done = subprocess.run([*command, "0.1"], capture_output=True, text=True, timeout=PATIENCE_S, check=True)
    assert per_second(done.stdout) > 100


def test_ratios_are_of_rounds_and_not_of_medians() -> None:
    found = contest(dnsrig=took(1, 3, 10), knot=took(2, 10, 10))
    assert found.ratios("dnsrig", "knot", wall_s) == [0.3, 0.5, 1.0]
    assert found.said_ratio("dnsrig", "knot", wall_s, "s") == "0.50 x (0.30 to 1.00): 3.00 against 10.00 s"
    assert found.fastest(["dnsrig", "knot"]) == "dnsrig"


def test_with_dnst_its_target_is_as_it_stands() -> None:
    found = contest(dnsrig=took(4), dnst=took(10), knot=took(5))
    verdict = time_verdict(NSEC, found, ["dnst", "knot"])
    assert (verdict.subject, verdict.target, verdict.met) == ("dnst", "<= 0.45 x", True)


@pytest.mark.parametrize(("ours_s", "met"), [(3.5, True), (3.6, False)])
def test_without_dnst_the_target_is_scaled_to_the_peer_that_was_fastest(ours_s: float, met: bool) -> None:
    found = contest(dnsrig=took(ours_s), knot=took(10), bind=took(9))
    verdict = time_verdict(NSEC, found, ["knot", "bind"])
    assert (verdict.subject, verdict.target, verdict.met) == ("knot", "<= 0.36 x", met)
    assert "dnst is missing: its target of 0.45 x is 0.36 x against knot" in verdict.note


def test_where_dnst_was_not_the_fastest_nothing_is_scaled() -> None:
    found = contest(dnsrig=took(5), knot=took(10))
    verdict = time_verdict(OPT_OUT, found, ["knot"])
    assert (verdict.subject, verdict.target, verdict.met) == ("knot", "<= 0.60 x", True)


def test_memory_is_judged_by_the_worst_round() -> None:
    runs = [*took(1, rss_bytes=100_000_000), *took(1, rss_bytes=260_000_000)]
    verdict = memory_verdict(2, contest(dnsrig=runs), "dnsrig", 250)
    assert (verdict.reached, verdict.met) == ("260 MB", False)
    assert rss_mb(runs[0]) == 100


def test_a_figure_without_target_is_no_miss() -> None:
    stated = Verdict(1, "knot", "CPU time", NO_TARGET, "0.5 x", met=None)
    assert table([stated]).splitlines()[-1] == "| 1 | knot | CPU time | - | 0.5 x | no target |"


def run(folder: Path, *arguments: str) -> "subprocess.Popen[str]":
    argv = [sys.executable, str(BENCH / "sign_targets"), "--rounds", "1", "--threads", "1", *arguments]
    environment = {**os.environ, "TMPDIR": str(folder)}
    return subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, env=environment)


def needs(*names: str) -> pytest.MarkDecorator:
    missing = [signer(name) for name in names if signer(name).find() is None]
    how = "; ".join(kind.how_to_install() for kind in missing)
    return pytest.mark.skipif(bool(missing), reason=f"peers are missing: {how}")


@needs("knot", "bind", "ldns")
def test_every_row_measures_and_nothing_is_left_behind(tmp_path: Path) -> None:
    results = tmp_path / "results.json"
    process = run(tmp_path, "--names", "1000", "--json", str(results))
    output, errors = process.communicate(timeout=PATIENCE_S * 3)
    assert process.returncode in {0, 1}, errors
    verdicts = json.loads(results.read_text())["verdicts"]
    assert not [verdict for verdict in verdicts if verdict["what"] == "not measured"], errors
    assert {verdict["row"] for verdict in verdicts} == set(range(1, 11))
    assert f"| {verdicts[-1]['reached']} |" in output
    assert [path.name for path in tmp_path.iterdir()] == ["results.json"]


@needs("knot")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_takes_signers_and_folder_along(tmp_path: Path, number: signal.Signals) -> None:
    process = run(tmp_path, "--names", "20000", "--row", "1")
    ends_by = time.monotonic() + PATIENCE_S
    signing: list[int] = []
    while not signing and time.monotonic() < ends_by and process.poll() is None:
        signing = [pid for pid in descendants(process.pid) if b"kzonesign\0" in command_line(pid)]
        time.sleep(0.01)
    process.send_signal(number)
    _, errors = process.communicate(timeout=PATIENCE_S)
    assert signing and process.returncode == 128 + number, errors
    # The kernel ends them with their parent, and takes its time on a busy machine.
    ends_by = time.monotonic() + PATIENCE_S
    while any(b"kzonesign\0" in command_line(pid) for pid in signing):
        assert time.monotonic() < ends_by, "signers go on"
        time.sleep(0.01)
    assert list(tmp_path.iterdir()) == []


def command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
