"""The study signing: its cases, what it reads from zone files, how it runs programs; whole runs of small zones."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from importlib import resources
from pathlib import Path

import jsonschema
import pytest
from dnsrig import _core
from dnsrig.dates import DAY_S
from dnsrig.errors import EnvironmentLacksError, InputError, SubjectFailedError
from dnsrig.hosts.processes import descendants
from dnsrig.studies.signing import inputs
from dnsrig.studies.signing.cases import all_cases, kind_labels
from dnsrig.studies.signing.child import run_measured, run_to_end
from dnsrig.studies.signing.forecast import Signing, expected_of_names, expected_signatures, forecast
from dnsrig.studies.signing.published import read_published
from dnsrig.studies.signing.settings import PIECES, SigningSettings
from dnsrig.studies.signing.signatures import read_signatures
from dnsrig.studies.signing.signers import registry
from dnsrig.studies.signing.signers.base import Keys, Task
from dnsrig.studies.signing.signers.knot import knot_configuration

PATIENCE_S = 60.0
BRIEF = ["--names", 300, "--repetitions", 2, "--seed", 5, "--key", "p256"]
CPUS = frozenset(os.sched_getaffinity(0))


def settings(**more):
    return SigningSettings(**{"servers": ("dnsrig", "bind", "ldns", "knot"), "seed": 1, "threads": (1, 2), **more})


def needs(name):
    kind = registry.signer(name)
    return pytest.mark.skipif(kind.find() is None, reason=f"{kind.title} is missing: {kind.how_to_install()}")


def only_run(folder):
    (run,) = folder.iterdir()
    return run


def test_every_case_has_an_id_and_words_of_its_own():
    cases = all_cases(settings())
    assert len({case.case_id for case in cases}) == len(cases)
    assert {case.kind for case in cases} <= kind_labels(settings()).keys()


def test_the_same_signer_twice_is_told_apart():
    cases = all_cases(settings(servers=("bind", "bind"), parts=("full",), keys=("p256",)))
    assert {case.label for case in cases} == {"bind", "bind#2", "bound"}
    assert len({case.case_id for case in cases}) == len(cases)


@pytest.mark.parametrize("part", ["incremental", "pieces", "unsorted", "threads"])
def test_each_part_brings_the_full_signings_it_is_compared_with(part):
    chosen = settings(parts=(part,))
    cases = all_cases(chosen)
    full = {(case.label, case.key) for case in cases if case.part == "full" and case.action == "sign"}
    assert {(case.label, case.key) for case in cases if case.action == "sign"} == full
    bounds = {(case.key, case.threads) for case in cases if case.action == "bound"}
    assert {(key, chosen.all_threads) for _, key in full} <= bounds


def test_signing_alone_is_measured_beside_the_signers_with_the_key():
    cases = all_cases(settings())
    for place, case in enumerate(cases):
        if case.action == "bound":
            beside = cases[place - 1]
            assert (beside.action, beside.key, beside.threads) == ("sign", case.key, case.threads)
    # After the first signings with the key: there are four signers.
    first = {case.key: place for place, case in reversed(list(enumerate(cases))) if case.part == "full"}
    assert all(cases[place + 4].action == "bound" for place in first.values())
    wanted = {(case.key, case.threads) for case in cases if case.part in {"full", "threads"} and case.action == "sign"}
    assert wanted == {(case.key, case.threads) for case in cases if case.action == "bound"}


def test_signing_alone_counts_its_processors_but_not_the_making_of_the_key():
    command = [sys.executable, "-m", "dnsrig.studies.signing.crypto_bound", "RSASHA256", "2048", "1", "0.4"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE_S)
    found = json.loads(done.stdout)
    # One thread uses one processor at most.
    assert 0 < found["cpu_us_per_signature"] <= 1e6 / found["per_second"] * 1.1


def test_a_forecast_has_every_case_and_grows_with_the_zone():
    chosen = settings()
    costs = dict.fromkeys(chosen.keys, 0.0001)
    small, large = (forecast(chosen, Signing(count, costs, slowness=1.0)) for count in (5_000, 500_000))
    assert [case.case_id for case in small.cases] == [case.case_id for case in all_cases(chosen)]
    assert small.repetitions == chosen.repetitions
    assert all(0 < case.later_s <= case.first_s for case in large.cases)
    assert 20 * small.seconds < large.seconds < 100 * small.seconds
    slow = forecast(chosen, Signing(500_000, dict.fromkeys(chosen.keys, 0.0002), slowness=2.0))
    assert 1.8 < slow.seconds / large.seconds < 2.2


def test_the_expected_number_of_signatures(tmp_path, small_zone):
    zone = tmp_path / "tld.zone"
    _core.generate_zone(zone, model="tld", origin="xa.", names=400, seed=1)
    found = expected_signatures(_core.Zone.read(zone, None).statistics())
    assert found == pytest.approx(expected_of_names(400), rel=0.1)
    signed = tmp_path / "signed"
    keys = _core.KeySet()
    keys.generate("example.test.", "ED25519", None, "ksk")
    keys.generate("example.test.", "ED25519", None, "zsk")
    unsigned = _core.Zone.read(small_zone)
    unsigned.sign(keys, denial="nsec").write(signed)
    assert expected_signatures(unsigned.statistics()) == pytest.approx(read_signatures(signed).count, rel=0.25)


def test_a_dry_run_lists_what_would_be_measured_and_makes_nothing(dnsrig, tmp_path):
    choices = ["run", "signing", "--signer", "dnsrig", *BRIEF, "--out", tmp_path / "runs", "--dry-run"]
    done = dnsrig(*choices)
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[-1].startswith("signing: ") and ", 2 times: " in lines[-1] and "about" in lines[-1]
    found = dnsrig(*choices, "--json").json
    assert found["cases"] == [line.split()[0] for line in lines[1:-1] if not line.startswith("-")]
    assert found["measurements"] == 2 * len(found["cases"]) and found["estimated_s"] > 1
    assert not (tmp_path / "runs").exists()


def test_a_dry_run_is_of_a_new_run_of_a_study_that_knows_its_cases(dnsrig, tmp_path):
    assert dnsrig("run", "denial-cost", "--server", "embedded", "--dry-run", "--json").json["measurements"] == 45
    lists = ["--server", "embedded", "--iterations", "0", "--iterations", "5,10"]
    repeated = dnsrig("run", "nsec3-iterations", *lists, "--repetitions", "1", "--dry-run", "--json").json
    joined = [*lists[:2], "--iterations", "0,5,10", "--repetitions", "1", "--dry-run", "--json"]
    assert repeated == dnsrig("run", "nsec3-iterations", *joined).json
    for arguments, said in (
        (["encrypted-cost", "--server", "embedded"], "has no --dry-run"),
        (["--resume", tmp_path], "leave out --dry-run"),
    ):
        done = dnsrig("run", *arguments, "--dry-run", cwd=tmp_path)
        assert done.code == 2 and said in done.err


def test_only_those_resign_that_can_and_ours_twice():
    cases = [case for case in all_cases(settings()) if case.part == "incremental" and case.key == "p256"]
    assert {case.label for case in cases} == {"dnsrig", "bind", "knot"}
    assert {case.verifies_kept for case in cases if case.label == "dnsrig"} == {False, True}
    assert not any(case.verifies_kept for case in cases if case.label != "dnsrig")


@pytest.mark.parametrize("share", [0, 20, 40, 60, 80, 100])
def test_a_refresh_interval_lies_between_the_expirations_of_two_pieces(share):
    ends = [inputs.APART_S * number for number in range(1, PIECES + 1)]
    renewed = [end for end in ends if end < inputs.refresh_interval_s(share)]
    assert len(renewed) * 100 == share * PIECES
    assert inputs.refresh_interval_s(share) < inputs.VALIDITY_S
    assert min(abs(end - inputs.refresh_interval_s(share)) for end in ends) > DAY_S


def test_shares_are_those_of_whole_pieces():
    with pytest.raises(InputError, match="multiples of 20"):
        settings(regenerated=(0, 30)).check()


def test_more_threads_than_processors_are_refused():
    with pytest.raises(InputError, match="--threads 4096"):
        settings(threads=(4096,)).check()


def test_published_figures():
    published = read_published()
    assert {key: (row.seconds, row.growth) for key, row in published.full.items()} == {
        "rsa1024": (1749, 3.7),
        "rsa1280": (3139, 4.2),
        "rsa1584": (5090, 4.8),
    }
    assert published.resigned == {0: 202, 20: 530, 40: 853, 80: 1503, 100: 1749}
    assert (published.split_s, published.join_s, published.parallel_s) == (60, 150, 570)


def test_signatures_are_counted_in_any_layout(tmp_path):
    zone = tmp_path / "zone"
    zone.write_text(
        "a.xa. 3600 IN NS ns.example.\n"
        "a.xa. 3600 IN NSEC b.xa. NS RRSIG NSEC\n"
        "1.xa. 3600 IN A 192.0.2.1\n"
        "a.xa. 3600 IN RRSIG NSEC 13 2 3600 20270101000000 20260101000000 1 xa. AAAA\n"
        "\t\t3600\tRRSIG\tNSEC 13 2 3600 (\n\t\t\t\t20270202000000 20260101000000 1 xa.\n\t\t\t\tAAAA )\n"
        "a.xa.\t3600\tRRSIG\tDS 13 2 3600 20270101000000 20260101000000 1 xa. AAAA\n"
    )
    found = read_signatures(zone)
    assert found.count == 3
    assert found.by_expiration == {"20270101000000": 2, "20270202000000": 1}
    assert found.expiring_after("20270101000000") == 1
    zone.write_text("")
    assert read_signatures(zone).count == 0


def test_time_and_memory_of_a_program(tmp_path):
    megabytes = 64
    code = f"held = b'x' * ({megabytes} << 20); sum(range(2_000_000)); print('done')"
    used = run_measured([sys.executable, "-c", code], tmp_path, cpus=CPUS)
    assert used.said == "done\n"
    assert used.program["rss_bytes_max"] > megabytes << 20
    assert 0 < used.program["cpu_us"] <= used.program["wall_us"] * len(CPUS) * 1.5
    small = run_measured(["true"], tmp_path, cpus=CPUS)
    assert small.program["rss_bytes_max"] < 32 << 20


@pytest.mark.parametrize("run", [lambda *given: run_measured(*given, cpus=CPUS), run_to_end])
@pytest.mark.parametrize(
    ("script", "said"),
    [("echo no such zone >&2; exit 3", "ended with 3: no such zone"), ("kill -9 $$", "it said nothing")],
)
def test_a_program_that_fails_is_quoted(tmp_path, run, script, said):
    with pytest.raises(SubjectFailedError, match=said):
        run(["sh", "-c", script], tmp_path)


def test_a_program_that_is_missing(tmp_path):
    with pytest.raises(SubjectFailedError, match="could not be run: No such file"):
        run_measured(["/nonexistent/signer"], tmp_path, cpus=CPUS)


def test_knot_is_configured_for_the_task(tmp_path):
    keys = Keys(tmp_path, ("Kxa.+013+00001",))
    task = Task(tmp_path / "zone", "xa.", keys, tmp_path, "opt-out", 2, inception=1000, expiration=5000, refresh_s=7)
    text = knot_configuration(task, tmp_path / "kasp")
    for line in ("nsec3-opt-out: on", "nsec3-iterations: 0", "signing-threads: 2", "rrsig-refresh: 7"):
        assert line in text
    assert "rrsig-lifetime: 4000" in text


def test_a_missing_signer_is_named_with_its_package(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(EnvironmentLacksError, match=r"dnssec-signzone .*; apt-get install bind9-utils; or .*--signer"):
        registry.require(["bind"])
    with pytest.raises(EnvironmentLacksError, match="cargo install dnst;"):
        registry.require(["dnst"])
    with pytest.raises(InputError, match="did you mean knot"):
        registry.require(["knott"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--signer", "binds"], "no signer is called 'binds'; did you mean bind?"),
        (["--signer", ""], "--signer names no signer"),
        (["--server", "bind"], "signing has no --server"),
        (["--load-seconds", "1"], "signing has no --load-seconds"),
        (["--key", "rsa512"], "'rsa512' is not one of rsa1024"),
        (["--part", "transports"], "'transports' is not one of full"),
        (["--regenerated", "30"], "multiples of 20"),
        (["--zone", __file__, "--names", "300"], "--zone and --names"),
        (["--zone", __file__], "test_signing.py:"),
    ],
)
def test_wrong_choices_are_refused(dnsrig, tmp_path, arguments, said):
    done = dnsrig("run", "signing", *arguments, "--out", tmp_path / "runs", cwd=tmp_path)
    assert done.code == 2, done.err
    assert said in done.err


def test_other_studies_have_no_signers(dnsrig, tmp_path):
    done = dnsrig("run", "denial-cost", "--signer", "bind", cwd=tmp_path)
    assert done.code == 2 and "denial-cost has no --signer" in done.err


@pytest.mark.parametrize("name", [pytest.param(name, marks=needs(name)) for name in ("bind", "ldns", "knot")])
def test_a_run_of_a_peer(dnsrig, tmp_path, name):
    done = dnsrig(
        *("run", "signing", "--signer", name, *BRIEF, "--part", "full,unsorted,threads"),
        # A relative path, as is usual: programs run in folders of their own.
        *("--out", "runs", "--json"),
        cwd=tmp_path,
    )
    assert done.code == 0, done.err
    check_summary(done.json, only_run(tmp_path / "runs"))


def check_summary(summary, run):
    schema = json.loads(resources.files("dnsrig.schemas").joinpath("summary.json").read_text())
    jsonschema.validate(summary, schema)
    signed = [case for case in summary["cases"] if case["part"] == "full" and case["server"] != "bound"]
    assert {case["kind"] for case in signed} == {"nsec", "nsec3", "opt-out"}
    for case in signed:
        assert case["wall_s"]["n"] == 2 and case["signatures"] > 20
        assert case["signatures"] == case["signatures_made"]
    assert not (run / inputs.SCRATCH).exists()
    report = (run / "report.md").read_text()
    assert "## Distance to the limit" in report and "CA-2006 (published)" in report
    assert (run / "tables" / "measurements.parquet").exists()
    for key in run.glob("inputs/keys-*/*.private"):
        assert key.stat().st_mode & 0o077 == 0


@pytest.mark.usefixtures("pictures")
def test_a_whole_run_of_ours(dnsrig, tmp_path):
    """Pieces, re-signing with and without the state file, split and join; resumed, nothing is left to measure."""
    choices = ["--signer", "dnsrig", *BRIEF, "--regenerated", "0,40,100", "--out", tmp_path]
    done = dnsrig("run", "signing", *choices, "--json")
    assert done.code == 0, done.err
    summary, run = done.json, only_run(tmp_path)
    check_summary(summary, run)
    assert "made another share" not in json.dumps(summary["cases"])
    by_kind = {case["kind"]: case for case in summary["cases"]}
    assert by_kind["resign-0"]["signatures_made"] == 0
    assert by_kind["resign-100"]["signatures_made"] == by_kind["resign-100"]["signatures"]
    part = by_kind["resign-40-verified"]["signatures_made"] / by_kind["resign-40-verified"]["signatures"]
    assert part == pytest.approx(0.4, abs=0.02)
    assert by_kind["join"]["signatures"] == by_kind["resign-0"]["signatures"]
    again = dnsrig("run", "--resume", run)
    assert again.code == 2 and "complete" in again.err


@needs("ldns")
def test_a_zone_of_ones_own_is_signed_without_its_old_signatures(dnsrig, small_zone, tmp_path):
    signed = tmp_path / "signed.db"
    keys = _core.KeySet()
    keys.generate("example.test.", "ED25519", None, "ksk")
    keys.generate("example.test.", "ED25519", None, "zsk")
    _core.Zone.read(small_zone).sign(keys, denial="nsec").write(signed)
    choices = ["--signer", "ldns", "--zone", signed, "--key", "p256", "--part", "full", "--chain", "nsec"]
    done = dnsrig("run", "signing", *choices, "--repetitions", 1, "--out", tmp_path / "runs", "--json")
    assert done.code == 0, done.err
    zone = (only_run(tmp_path / "runs") / "inputs" / inputs.ZONE_FILE).read_text()
    assert "RRSIG" not in zone and "DNSKEY" not in zone
    assert done.json["cases"][0]["signatures"] > 100


@needs("ldns")
def test_a_signer_that_fails_leaves_its_cases_out_and_the_run_goes_on(tmp_path):
    broken = tmp_path / "bin" / "dnssec-signzone"
    broken.parent.mkdir()
    broken.write_text("#!/bin/sh\necho 'version 9.99.1'\n[ \"$1\" = -V ] || { echo out of luck; exit 9; }\n")
    broken.chmod(0o755)
    environment = {**os.environ, "PATH": f"{broken.parent}:{os.environ['PATH']}"}
    choices = ["--signer", "bind,ldns", *map(str, BRIEF), "--part", "full", "--out", str(tmp_path / "runs")]
    done = subprocess.run(
        [sys.executable, "-m", "dnsrig", "run", "signing", *choices],
        capture_output=True,
        text=True,
        env=environment,
        timeout=PATIENCE_S * 2,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert re.search(r"7 cases, 2 times: 14 measurements, about \d+ s, with a zone of \d+ records", done.stderr)
    assert re.search(r"\d+/14, about \d+ s left", done.stderr)
    # One key and no other part: no two cases to compare.
    assert "No pair of cases answers" in done.stdout and "--part incremental" in done.stdout
    run = only_run(tmp_path / "runs")
    manifest = json.loads((run / "manifest.json").read_text())
    assert manifest["status"] == "incomplete"
    assert {failure["case"]["server"] for failure in manifest["failures"]} == {"bind"}
    assert all("out of luck" in failure["reason"] for failure in manifest["failures"])
    assert "ended with 9: out of luck" in (run / "report.md").read_text()


@needs("ldns")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_no_signer_and_no_scratch(tmp_path, number):
    choices = ["--signer", "ldns", "--names", "20000", "--key", "rsa2048", "--part", "full", "--out", str(tmp_path)]
    argv = [sys.executable, "-m", "dnsrig", "run", "signing", *choices]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        ends_by = time.monotonic() + PATIENCE_S
        signing: list[int] = []
        while not signing and time.monotonic() < ends_by:
            signing = [pid for pid in descendants(process.pid) if is_signer(pid)]
            time.sleep(0.01)
        assert signing
        process.send_signal(number)
        _, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130, errors
    assert not any(is_signer(pid) for pid in signing)
    run = only_run(tmp_path)
    assert json.loads((run / "manifest.json").read_text())["status"] == "interrupted"
    assert not (run / inputs.SCRATCH).exists()


def is_signer(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"ldns-signzone\0")
    except OSError:
        return False
