"""The report of the study signing, from made-up measurements."""

import json
import os
from importlib import resources
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from dnsrig.report.build import build_report
from dnsrig.report.compare import compare
from dnsrig.runs.folder import RunFolder
from dnsrig.studies.signing.cases import BOUND, all_cases
from dnsrig.studies.signing.settings import SigningSettings
from dnsrig.studies.signing.study import Signing
from synthetic import HOST

GOLDEN = Path(__file__).parent / "golden"
SETTINGS = SigningSettings(
    servers=("dnsrig", "bind", "ldns", "knot"), seed=1, repetitions=3, names=550_000, threads=(1, 2)
)
TITLES = {
    "dnsrig": ("dnsrig sign", "0.1.0"),
    "bind": ("dnssec-signzone (BIND 9)", "9.18.49"),
    "ldns": ("ldns-signzone", "1.8.3"),
    "knot": ("kzonesign (Knot DNS)", "3.2.6"),
    BOUND: ("signing alone", ""),
}
ZONE_OCTETS = 67_000_000
SIGNATURES = 643_033
RATES = {"rsa1024": 8000, "rsa1280": 4500, "rsa1584": 2600, "rsa2048": 1250, "p256": 48_000, "ed25519": 85_000}
# Seconds besides signatures, and seconds a signature to those of the library.
MODEL = {"dnsrig": (2.0, 1.02), "bind": (32.0, 1.3), "ldns": (25.0, 1.4), "knot": (14.0, 1.5)}


def measured(case, rng):
    """Make up what a case took, and what it came to."""
    if case.action == "bound":
        rate = RATES[case.key] * rng.lognormal(0, 0.01)
        return 1.1, {"per_second": rate * case.threads, "cpu_us_per_signature": 1e6 / rate}
    if case.action in {"split", "join"}:
        wall_s = {"split": 6.0, "join": 20.0}[case.action] * (0.1 if case.program == "dnsrig" else 1)
        octets = ZONE_OCTETS if case.action == "split" else 238_000_000
        return wall_s * rng.lognormal(0, 0.02), {"output_octets": octets}
    rest_s, factor = MODEL[case.program]
    share = {"nsec": 1.0, "nsec3": 1.01, "opt-out": 0.07}[case.chain]
    if case.program == "ldns" and case.chain == "opt-out":
        share = 1.01
    count = round(SIGNATURES * share * (0.2 if case.source == "piece" else 1))
    made = count if case.regenerated is None else count * case.regenerated // 100
    threads = 1 if case.program == "ldns" else case.threads
    verified = 0 if case.program == "dnsrig" and not case.verifies_kept else count - made
    verifying_s = verified / (RATES[case.key] * (0.3 if case.key == "p256" else 20))
    wall_s = (rest_s * count / SIGNATURES + made * factor / RATES[case.key] + verifying_s) / threads
    wall_s *= (1.25 if case.source == "unsorted" else 1.0) * rng.lognormal(0, 0.02)
    work = {"output_octets": round(ZONE_OCTETS + count * 265), "signatures": count, "made": made}
    return wall_s, work


DISTURBED = "other programs used more than 0.15 CPUs meanwhile"


def make_run(parent, settings, name, *, is_disturbed=None, fails="knot-nsec-rsa2048"):
    is_disturbed = is_disturbed or (lambda case, repetition: case.label == "bind" and repetition == 1)
    argv = ["dnsrig", "run", "signing", "--names", "550000", "--seed", "1"]
    run = RunFolder.create(parent, "signing", argv=argv, settings=settings.to_manifest(), seed=settings.seed)
    run = RunFolder(run.path.rename(parent / name))
    (run.path / "host.json").write_text(json.dumps(HOST))
    run.note(zone={"origin": "xa.", "records": 1_361_002, "octets": ZONE_OCTETS})
    rng = np.random.default_rng(7)
    order = 0
    for repetition in range(settings.repetitions):
        for case in all_cases(settings):
            if case.case_id == fails:
                continue
            wall_s, work = measured(case, rng)
            work["verified_by"] = "dnssec-verify" if repetition == 0 and work.get("signatures") else None
            title, version = TITLES[case.program]
            run.record(
                {
                    "case_id": case.case_id,
                    "case": {**case.axes, "server_title": title, "server_version": version},
                    "repetition": repetition,
                    "order": order,
                    "started": f"2026-11-21T21:45:{order % 60:02d}+00:00",
                    "work": work,
                    "server": {
                        "wall_us": wall_s * 1e6,
                        "cpu_us": wall_s * 1e6 * case.threads * 0.95,
                        "cpu_share": case.threads * 0.95,
                        "cpu_source": "the kernel's account of the process at its end (wait4)",
                        "rss_bytes_max": 70_000_000 if case.program == "dnsrig" else 800_000_000,
                    },
                    "tainted": [DISTURBED] if is_disturbed(case, repetition) else [],
                    "remarks": [],
                }
            )
            order += 1
    for failed in (case for case in all_cases(settings) if case.case_id == fails):
        run.record_failure([failed.case_id], failed.axes, "kzonesign ended with 1: out of memory", repetition=0)
    run.finish("incomplete", "1 measurement failed")
    manifest = run.manifest()
    manifest |= {"started": "2026-11-21T21:45:00+01:00", "versions": {"dnsrig": "0.1.0", "python": "3.11.2"}}
    (run.path / "manifest.json").write_text(json.dumps(manifest))
    build_report(run, Signing().text(settings))
    return run


@pytest.fixture(scope="module")
def signing_run(tmp_path_factory):
    return make_run(tmp_path_factory.mktemp("runs"), SETTINGS, "signing")


@pytest.mark.parametrize("name", ["report.md", "summary.json"])
def test_golden_files(signing_run, name):
    """Set DNSRIG_UPDATE_GOLDEN=1 to write them anew, then read the difference."""
    text = (signing_run.path / name).read_text()
    golden = GOLDEN / f"signing_run.{name}"
    if os.environ.get("DNSRIG_UPDATE_GOLDEN"):
        golden.write_text(text)
    assert text == golden.read_text()


def test_the_summary_follows_its_schema(signing_run):
    schema = json.loads(resources.files("dnsrig.schemas").joinpath("summary.json").read_text())
    summary = json.loads((signing_run.path / "summary.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(summary)
    entry = next(case for case in summary["cases"] if case["case_id"] == "dnsrig-nsec-p256")
    assert entry["wall_s"]["n"] == 3 and entry["signatures"] == SIGNATURES
    assert "qps" not in entry


def section(run, title):
    text = (run.path / "report.md").read_text()
    return text.partition(f"## {title}")[2].partition("\n## ")[0]


def test_published_and_measured_ratios_stand_side_by_side(signing_run):
    found = section(signing_run, "Published and measured: table 1")
    row = next(line for line in found.splitlines() if line.startswith("| RSA-1584 | 2.91"))
    assert len(row.split("|")) == 8
    assert "| 238 MB (x 3.7) |" in found


def test_the_distance_to_the_limit_is_of_the_same_repetition(signing_run):
    lines = section(signing_run, "Distance to the limit").splitlines()
    by_cpu, by_time = ([cell.strip() for cell in line.split("|")] for line in lines if line.startswith("| RSA-2048"))
    assert by_cpu[2].startswith("7") and by_time[2].startswith("2,5")
    assert 0.95 < float(by_cpu[3].split()[0]) < 1.05, "the model uses 0.95 of its processors"
    assert 1.0 < float(by_time[3].split()[0]) < 1.1
    assert by_cpu[6] == by_time[6] == "-"


def test_resigning_with_the_state_file_stands_apart(signing_run):
    found = section(signing_run, "Re-signing: table 2")
    assert "dnsrig sign, with state file | dnsrig sign, kept ones verified" in found
    row = next(line for line in found.splitlines() if line.startswith("| 0 % | 0.12"))
    assert "ldns" not in found and len(row.split("|")) == 8


def test_what_failed_is_told(signing_run):
    assert "knot-nsec-rsa2048 (repetition 1): kzonesign ended with 1: out of memory" in section(
        signing_run, "Not measured"
    )


def test_a_run_does_not_differ_from_itself(signing_run):
    found = compare(signing_run, signing_run)
    assert not found["differs"]
    assert {item["figure"] for item in found["overall"]} >= {"wall_s", "cpu_s", "output_octets"}


@pytest.fixture(scope="module")
def disturbed_run(tmp_path_factory):
    """Each case was disturbed in one repetition, another one each."""
    return make_run(
        tmp_path_factory.mktemp("runs"),
        SETTINGS,
        "signing",
        is_disturbed=lambda case, repetition: repetition == len(case.case_id) % 3,
    )


def test_what_taints_every_case_is_said_once_and_nothing_is_ranked(disturbed_run):
    text = (disturbed_run.path / "report.md").read_text()
    assert text.count(DISTURBED) == 1
    assert f"measurements: {DISTURBED}. No figure is marked for that." in text
    assert "[a]" not in text and "Least time" not in text and "Least CPU time" not in text
    summary = json.loads((disturbed_run.path / "summary.json").read_text())
    assert all(case["tainted"] == [f"{DISTURBED} (1 of 3)"] for case in summary["cases"] if case["wall_s"]["n"] == 3)
    assert all(answer["tainted"] and not answer["marked"] for answer in summary["answers"])


def test_on_a_disturbed_machine_cpu_time_comes_first(disturbed_run, signing_run):
    summary = json.loads((disturbed_run.path / "summary.json").read_text())
    assert {answer["figure"] for answer in summary["answers"]} == {"cpu_s"}
    for run, first in ((disturbed_run, "CPU time"), (signing_run, "Time")):
        titles = [line for line in section(run, "Full signing").splitlines() if line.startswith("**")]
        assert titles[0] == f"**{first} in seconds**" and len(titles) == 3
        assert f"**{first} as a ratio to RSA-1024**" in section(run, "Published and measured")
    assert "Least time" in (signing_run.path / "report.md").read_text()


def test_one_case_without_a_taint_keeps_the_marks(tmp_path):
    run = make_run(tmp_path, SETTINGS, "signing", is_disturbed=lambda case, _: case.case_id != "bind-nsec-p256")
    text = (run.path / "report.md").read_text()
    assert f"[a] tainted: {DISTURBED}" in text and "No figure is marked" not in text


def test_signing_alone_has_no_version_of_a_program(signing_run):
    text = (signing_run.path / "report.md").read_text()
    assert "\n- signing alone: " in text


def test_a_run_without_answers_says_what_would_answer(tmp_path):
    settings = SigningSettings(
        servers=("dnsrig",), seed=1, repetitions=1, parts=("full",), keys=("p256",), chains=("nsec",), threads=(1, 2)
    )
    run = make_run(tmp_path, settings, "signing", fails=None)
    text = (run.path / "report.md").read_text()
    assert "no pair of cases" in text and "--part incremental" in text
