"""A run's folder: never overwritten, never half written, honest about how it ended."""

import contextlib
import errno
import json
import os
import subprocess
import sys
from importlib import resources
from pathlib import Path

import jsonschema
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from dnsrig.errors import EnvironmentLacksError, InputError
from dnsrig.runs import writing
from dnsrig.runs.folder import RunFolder
from dnsrig.runs.process import is_alive, process_identity
from dnsrig.runs.writing import DiskFullError


def new_run(parent, **changes):
    given = {"argv": ["dnsrig", "run", "denial-cost"], "settings": {"repetitions": 3}, "seed": 7}
    return RunFolder.create(parent, "denial-cost", **{**given, **changes})


def measurement(case_id="nsd-nsec-denial", repetition=0, order=0):
    return {
        "case_id": case_id,
        "case": {"server": "nsd", "server_version": "4.6.1", "denial": "nsec", "stream": "denial"},
        "repetition": repetition,
        "order": order,
        "started": "2026-11-21T21:45:00+00:00",
        "load": {
            "sent": 10,
            "answered": 9,
            "timed_out": 1,
            "qps": 4.5,
            "rcodes": {"NXDOMAIN": 9},
            "latency_ns": {"p50": 1000, "p99": 2000},
            "bytes": {"sent": 450, "received": 900},
            "latency_histogram": "AAAA",
            "intervals": [{"answered": 5}, {"answered": 4}],
        },
        "server": {"cpu_us": 12.5},
        "generator": {"cpu_us": 3},
        "server_cpu_us_per_query": 1.39,
        "bottleneck": "server",
        "evidence": [],
        "tainted": [],
        "remarks": ["rate limiting off", "query logging off"],
    }


def check(run, name, schema):
    text = resources.files("dnsrig").joinpath(f"schemas/{schema}.json").read_text()
    validator = jsonschema.Draft202012Validator(json.loads(text))
    validator.check_schema(json.loads(text))
    validator.validate(json.loads((run.path / name).read_text()))


def test_a_new_run_says_running_and_follows_its_schemas(tmp_path):
    run = new_run(tmp_path)
    assert run.status == "running"
    assert run.path.name.endswith("-denial-cost")
    check(run, "manifest.json", "manifest")
    check(run, "host.json", "host")


def test_two_runs_in_the_same_second_get_folders_of_their_own(tmp_path):
    paths = {new_run(tmp_path).path for _ in range(3)}
    assert len(paths) == 3


def test_a_finished_run_has_tables_and_follows_its_schemas(tmp_path):
    run = new_run(tmp_path)
    run.record(measurement(), pa.table({"time_ns": [1, 2], "subject": ["server", "machine"]}))
    run.record(measurement(repetition=1, order=1))
    run.note(zone={"records": 244})
    run.record_failure(["bind-nsec-denial"], {"server": "bind"}, "named: not installed")
    run.finish("complete")
    assert run.status == "complete"
    check(run, "manifest.json", "manifest")
    check(run, "measurements/nsd-nsec-denial/0.json", "measurement")
    assert not (run.path / ".reserve").exists()
    table = pq.read_table(run.path / "tables/measurements.parquet").to_pylist()
    assert [row["repetition"] for row in table] == [0, 1]
    assert table[0]["load.latency_ns.p50"] == 1000
    assert table[0]["server.cpu_us"] == 12.5
    assert table[0]["remarks"] == "rate limiting off; query logging off"
    assert pq.read_table(run.path / "tables/intervals.parquet").num_rows == 4
    series = pq.read_table(run.path / "tables/series.parquet").to_pylist()
    assert series[1] == {"case_id": "nsd-nsec-denial", "repetition": 0, "time_ns": 2, "subject": "machine"}


def test_a_repetition_is_never_overwritten(tmp_path):
    run = new_run(tmp_path)
    assert not run.done("nsd-nsec-denial", 0)
    run.record(measurement())
    assert run.done("nsd-nsec-denial", 0)
    with pytest.raises(FileExistsError, match="repetition 0 of case nsd-nsec-denial"):
        run.record(measurement())


def test_measurements_come_in_the_order_they_were_taken(tmp_path):
    run = new_run(tmp_path)
    run.record(measurement("b-case", 0, 5))
    run.record(measurement("a-case", 0, 9))
    run.record(measurement("b-case", 1, 2))
    assert [(item["case_id"], item["order"]) for item in run.measurements()] == [
        ("b-case", 2),
        ("b-case", 5),
        ("a-case", 9),
    ]


@pytest.mark.parametrize("case_id", ["../other", "a/b", "", ".hidden"])
def test_a_case_cannot_write_elsewhere(tmp_path, case_id):
    with pytest.raises(ValueError, match="cannot name a folder"):
        new_run(tmp_path).record(measurement(case_id))


def test_inputs_are_kept_with_their_hash(tmp_path):
    run = new_run(tmp_path)
    zone = tmp_path / "example.zone"
    zone.write_text("@ SOA ...\n")
    kept = run.add_input(zone)
    assert kept.read_text() == zone.read_text()
    run.add_input(zone)
    (entry,) = run.manifest()["inputs"]
    assert entry["path"] == "inputs/example.zone"
    assert entry["bytes"] == 10
    assert entry["sha256"] == writing.sha256(zone)
    zone.write_text("another")
    with pytest.raises(InputError, match=r"different input called example\.zone"):
        run.add_input(zone)


def test_a_crash_leaves_a_run_that_reads_as_interrupted(tmp_path):
    program = (
        "import os, sys; from pathlib import Path; from dnsrig.runs.folder import RunFolder\n"
        "run = RunFolder.create(Path(sys.argv[1]), 'denial-cost', argv=[], settings={}, seed=1)\n"
        "print(run.path, run.status, flush=True); os.kill(os.getpid(), 9)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True, check=False
    )
    path, status = ended.stdout.split()
    assert (ended.returncode, status) == (-9, "running")
    run = RunFolder.open(Path(path))
    assert run.manifest()["status"] == "running"
    assert run.status == "interrupted"


def test_a_reused_process_number_does_not_pass_for_the_run(tmp_path):
    identity = process_identity()
    assert is_alive(identity)
    assert not is_alive({**identity, "start_ticks": identity["start_ticks"] + 1})
    assert not is_alive({**identity, "boot_id": "another boot"})


def test_resuming_keeps_what_is_done_and_clears_leftovers(tmp_path):
    run = new_run(tmp_path)
    run.record(measurement())
    run.record_failure(["bind"], {}, "no port")
    run.finish("interrupted", "Ctrl-C")
    assert (run.status, run.manifest()["reason"]) == ("interrupted", "Ctrl-C")
    leftover = run.path / f"measurements/nsd-nsec-denial/1.json{writing.PARTIAL_SUFFIX}"
    leftover.write_text("{")
    again = RunFolder.open(run.path)
    again.resume()
    assert again.status == "running"
    assert again.done("nsd-nsec-denial", 0)
    assert again.manifest()["failures"] == []
    assert not leftover.exists()
    again.finish("complete")
    with pytest.raises(InputError, match="dnsrig report"):
        again.resume()


@pytest.mark.parametrize("status", ["interrupted", "complete"])
@pytest.mark.parametrize("damaged", ["0.series.parquet", "0.json", "both"])
def test_damaged_measurements_are_said_before_resuming(tmp_path, damaged, status):
    run = new_run(tmp_path)
    series = pa.table({"time_ns": list(range(5000))})
    for number, case_id in enumerate(("whole", "torn", "torn-too")):
        run.record(measurement(case_id, order=number), series)
    run.finish(status)
    torn = []
    for case_id in ("torn", "torn-too"):
        folder = run.path / "measurements" / case_id
        torn += [folder / "0.json", folder / "0.series.parquet"]
        for path in torn[-2:]:
            if damaged in {path.name, "both"}:
                os.truncate(path, path.stat().st_size // 2)
    with pytest.raises(InputError, match="delete these files and resume") as raised:
        run.resume()
    assert str(raised.value).splitlines()[-4:] == [f"  {path}" for path in torn]
    assert str(run.path / "measurements" / "whole") not in str(raised.value)
    assert run.status == status
    for path in torn:
        path.unlink()
    # Also of a complete run those are made again.
    run.resume()
    assert run.status == "running"
    assert run.done("whole", 0) and not run.done("torn", 0)


def test_another_process_at_the_run_forbids_resuming(tmp_path):
    run = new_run(tmp_path)
    with subprocess.Popen(["sleep", "600"]) as other:
        run._update(process=process_identity(other.pid))
        try:
            with pytest.raises(InputError, match=f"process {other.pid} is still at this run"):
                run.resume()
        finally:
            other.kill()


def test_what_is_not_a_run_is_said(tmp_path):
    with pytest.raises(InputError, match=r"not a run's folder, it has no file manifest\.json"):
        RunFolder.open(tmp_path)
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(InputError, match="not valid JSON"):
        RunFolder.open(tmp_path)
    (tmp_path / "manifest.json").write_text('{"schema": "dnsrig-run/99"}')
    with pytest.raises(InputError, match="dnsrig-run/99"):
        RunFolder.open(tmp_path)


def test_a_parent_that_is_a_file_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="file cannot be written: File exists; give another folder for runs"):
        new_run(tmp_path / "file")


def test_a_full_disk_is_said_and_marks_the_run(tmp_path, monkeypatch):
    run = new_run(tmp_path)
    run.record(measurement())
    real = writing._write_bytes

    def full(path, data):
        if "measurements" in path.parts:
            path.write_bytes(data[:10])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(path, data)

    monkeypatch.setattr(writing, "_write_bytes", full)
    with pytest.raises(EnvironmentLacksError, match=rf"no room left on the disk .*--resume {run.path}") as error:
        run.record(measurement(repetition=1))
    assert error.value.exit_code == 3
    assert run.status == "interrupted"
    reason = "no room left on the disk while writing measurements/nsd-nsec-denial/1.json"
    assert run.manifest()["reason"] == reason
    assert not list(run.path.rglob(f"*{writing.PARTIAL_SUFFIX}"))
    assert run.done("nsd-nsec-denial", 0)
    assert not run.done("nsd-nsec-denial", 1)


def test_another_write_error_is_not_taken_for_a_full_disk(tmp_path, monkeypatch):
    run = new_run(tmp_path)

    def broken(path, data):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(writing, "_write_bytes", broken)
    with pytest.raises(OSError, match="Input/output error"):
        run.record(measurement())


@pytest.fixture
def small_disk(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("mounting a small tmpfs needs root")
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip(f"a tmpfs cannot be mounted here: {mounted.stderr.decode().strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_disk_without_any_room_has_no_folder_afterwards(small_disk):
    filler = small_disk / "filler"
    with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    with pytest.raises(EnvironmentLacksError, match=f"no room left on the disk for a run in {small_disk}"):
        new_run(small_disk)
    assert list(small_disk.iterdir()) == [filler]


def test_a_disk_that_is_really_full_still_leaves_a_marked_run(small_disk):
    run = new_run(small_disk)

    def measure_for_ever():
        for repetition in range(100_000):
            run.record(measurement(repetition=repetition, order=repetition))

    with pytest.raises(DiskFullError):
        measure_for_ever()
    assert run.status == "interrupted"
    assert run.manifest()["reason"].startswith("no room left on the disk while writing measurements/")
    stored = run.measurements()
    assert stored
    assert [item["repetition"] for item in stored] == list(range(len(stored)))
    assert not list(run.path.rglob(f"*{writing.PARTIAL_SUFFIX}"))


def test_a_disk_too_full_for_a_new_run_is_said(small_disk):
    (small_disk / "ballast").write_bytes(bytes(480 * 1024))
    with pytest.raises(DiskFullError):
        new_run(small_disk)


def test_numbers_that_json_lacks_are_refused(tmp_path):
    with pytest.raises(ValueError, match="not JSON compliant"):
        writing.write_json(tmp_path / "x.json", {"qps": float("nan")})
    assert not list(tmp_path.iterdir())
