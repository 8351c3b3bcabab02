"""The frame of measurements: what becomes of a run whose server dies, cannot start, or fails in one case."""

import json
import os
import signal
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import resources
from types import SimpleNamespace

import jsonschema
import pyarrow as pa
import pytest
from dnsrig.errors import EnvironmentLacksError, InputError, SubjectFailedError
from dnsrig.runs.folder import RunFolder
from dnsrig.runs.writing import DiskFullError
from dnsrig.studies import bench, clocks, conduct
from dnsrig.studies.bench import Bench, Observation, Outcome
from dnsrig.studies.placement import place
from dnsrig.studies.settings import StudySettings

CASES = ["a", "b", "c"]
USED = {"cpu_us": 1.0, "cpu_share": 0.5}
MONITOR = {"interval_s": 0.1, "cost_share": 0.0, "late_p99_ns": 1}
MACHINE = dict.fromkeys(("cpu_share", "steal_share", "udp_receive_errors", "packets_in", "bytes_in"), 0)
SERIES = pa.table({"time_ns": [1]})
OBSERVED = Observation(datetime(2026, 11, 21, tzinfo=UTC), USED, USED, MACHINE, MONITOR, SERIES)
LOAD = {
    "sent": 1,
    "answered": 1,
    "qps": 1.0,
    "rcodes": {},
    "latency_ns": {"p50": 1, "p99": 1},
    "bytes": {"sent": 1, "received": 1},
}


@pytest.mark.parametrize(("step_s", "said"), [(0.0, False), (0.01, False), (3600.0, True), (-0.2, True)])
def test_a_clock_that_was_set_during_a_load_taints_it(monkeypatch, step_s, said):
    """The real-time clock makes a step while the server is looked at."""
    real_ns, stepped = time.time_ns, []
    monkeypatch.setattr(clocks.time, "time_ns", lambda: real_ns() + round(sum(stepped) * 1e9))
    server = SimpleNamespace(pids=lambda: [os.getpid()], check_running=lambda: None)
    _, observed = bench.observe(server, lambda: stepped.append(step_s))
    assert observed.clock_step_s == pytest.approx(step_s, abs=0.02)
    assert any("clock was set" in reason for reason in observed.disturbances) == said


@dataclass(frozen=True)
class FakeBlock:
    label: str = "fake"
    program: str = "fake"
    file_name: str = "fake"
    title: str = "fake"

    @property
    def axes(self):
        return {"server": self.label}


@dataclass
class World:
    """What goes wrong: cases by (case, repetition), starts by their number; and what was done."""

    fatal: set = field(default_factory=set)
    unstartable: set = field(default_factory=set)
    starts: int = 0
    stops: int = 0


class FakeServer:
    title, version = "Fake", "1.0"

    def __init__(self, world, folder):
        self.world, self.folder, self.dead = world, folder, False

    def start(self):
        self.world.starts += 1
        if self.world.starts in self.world.unstartable:
            raise SubjectFailedError(f"Fake: it refused a zone\nlog: {self.folder}")
        (self.folder / "fake.log").write_text("ready")

    def stop(self):
        self.world.stops += 1

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, kind, value, trace):
        self.stop()

    def remarks(self):
        return []

    def check_running(self):
        if self.dead:
            raise SubjectFailedError("Fake ended by itself by signal 9")


class FakeBench(Bench):
    def __init__(self, run, world, watcher, repetitions=2):
        self.world = world
        super().__init__([FakeBlock()], repetitions, run, watcher)
        self.repetition = Counter()

    def _case_ids(self, block):
        return CASES

    def _placement(self, block):
        return place(1)

    def _server(self, block, folder):
        return FakeServer(self.world, folder)

    def _measure_case(self, block, case_id, server):
        tried = self.repetition[case_id]
        self.repetition[case_id] += 1
        if (case_id, tried) in self.world.fatal:
            server.dead = True
            raise SubjectFailedError("no answer")
        return Outcome(LOAD, OBSERVED, 1.0, "server", [], [], {"kind": case_id}, {})


class Silent:
    def __init__(self):
        self.problems = []

    def phase(self, text):
        pass

    def note(self, text):
        pass

    def step(self, step):
        pass

    def problem(self, text):
        self.problems.append(text)


@pytest.fixture
def run(tmp_path):
    return RunFolder.create(tmp_path, "fake", argv=["dnsrig"], settings={}, seed=1)


@pytest.fixture
def measured(run, monkeypatch):
    """Measure in a world; give what is stored as (case, repetition) and the failures in the manifest."""

    def measure(world, watcher=None):
        monkeypatch.setattr(bench.os, "sched_setaffinity", lambda *_: None)
        FakeBench(run, world, watcher or Silent()).measure()
        text = resources.files("dnsrig").joinpath("schemas/manifest.json").read_text()
        jsonschema.validate(run.manifest(), json.loads(text))
        return {(item["case_id"], item["repetition"]) for item in run.measurements()}, run.manifest()["failures"]

    return measure


def all_but(*missing):
    return {(case, repetition) for case in CASES for repetition in range(2)} - set(missing)


def test_a_server_that_dies_is_started_again_for_the_other_cases(measured, run):
    world, watcher = World(fatal={("a", 0)}), Silent()
    stored, (failure,) = measured(world, watcher)
    assert stored == all_but(("a", 0))
    assert (failure["case_ids"], failure["repetitions"]) == (["a"], [0])
    assert failure["reason"] == "Fake ended by itself by signal 9"
    assert world.starts == world.stops == 3
    assert len(list(run.path.glob("servers/*/fake.log"))) == 3, "each start keeps its log"
    assert len(watcher.problems) == 1


def test_a_case_that_always_kills_the_server_costs_only_itself(measured):
    stored, failures = measured(World(fatal={("b", 0), ("b", 1)}))
    assert stored == all_but(("b", 0), ("b", 1))
    assert [(item["case_ids"], item["repetitions"]) for item in failures] == [(["b"], [0, 1])]


def test_a_server_that_does_not_start_is_tried_in_later_repetitions(measured):
    stored, (failure,) = measured(World(unstartable={1}))
    assert stored == {(case, 1) for case in CASES}
    assert (failure["case_ids"], failure["repetitions"]) == (CASES, [0])


def test_a_run_in_which_nothing_could_be_measured_raises_the_first_reason(measured):
    with pytest.raises(SubjectFailedError, match="refused a zone"):
        measured(World(unstartable={1, 2}))


@pytest.mark.parametrize(
    ("world", "kept"), [(World(fatal={("b", 0)}), {("a", 0)}), (World(unstartable={2}), {(case, 0) for case in CASES})]
)
def test_a_rig_that_ends_ends_the_run_and_blames_no_server(run, monkeypatch, world, kept):
    class Broken(FakeBench):
        def _check_rig(self):
            raise EnvironmentLacksError("the simulated Internet has ended")

    monkeypatch.setattr(bench.os, "sched_setaffinity", lambda *_: None)
    with pytest.raises(EnvironmentLacksError, match="Internet has ended"):
        Broken(run, world, Silent()).measure()
    assert {(item["case_id"], item["repetition"]) for item in run.measurements()} == kept
    assert run.manifest()["failures"] == []
    assert world.stops == 1


def test_going_on_measures_what_failed(measured, run):
    measured(World(fatal={("a", 0)}))
    run.finish("incomplete", "1 measurement failed")
    assert run.status == "incomplete"
    run.resume()
    stored, failures = measured(World())
    assert (stored, failures) == (all_but(), [])


def test_a_full_disk_is_no_failure_of_a_case(measured, run, monkeypatch):
    def fail(*_):
        raise DiskFullError(run.path / "measurements")

    monkeypatch.setattr(RunFolder, "record", fail)
    with pytest.raises(DiskFullError):
        measured(World())
    assert run.manifest()["failures"] == []


class Lacking:
    name = "fake"
    reasons = ("Knot DNS 3.2.6 has no DNS over TLS", "Knot DNS 3.2.6 has no DNS over HTTPS")

    def fitted(self, settings):
        return settings

    def check(self, settings):
        pass

    def prepare(self, settings):
        pass

    def tried(self, settings, chosen, watcher):
        return settings, {}

    def run(self, settings, run, watcher):
        for reason in self.reasons:
            run.record_failure(["knot"], {"server": "knot"}, reason)


@pytest.mark.parametrize(
    ("reasons", "error", "said"),
    [
        (Lacking.reasons, EnvironmentLacksError, "over TLS; Knot DNS 3.2.6 has no DNS over HTTPS"),
        ((), InputError, "make no case"),
    ],
)
def test_a_run_that_has_nothing_to_measure_fails_with_what_was_lacking(tmp_path, monkeypatch, reasons, error, said):
    study = Lacking()
    study.reasons = reasons
    monkeypatch.setattr(conduct, "find_study", lambda _: study)
    with pytest.raises(error, match=said):
        conduct.start("fake", StudySettings(servers=("knot",), seed=1), tmp_path, ["dnsrig"], Silent())
    (folder,) = tmp_path.iterdir()
    manifest = RunFolder.open(folder).manifest()
    assert manifest["status"] == "failed" and said in manifest["reason"]


class Interrupted(Lacking):
    """Within a library that makes an error of its own of KeyboardInterrupt."""

    def run(self, settings, run, watcher):
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        except KeyboardInterrupt as error:
            raise SubjectFailedError("it has ended") from error


class InterruptedAtItsEnd(Interrupted):
    """While it writes the report of what was measured."""

    def run(self, settings, run, watcher):
        pass

    def build_report(self, run, settings):
        super().run(settings, run, None)


def interrupted(study, folder, monkeypatch):
    """Run a study that interrupts itself; give its folder and what was said."""

    def interrupt(_number, _frame):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        monkeypatch.setattr(conduct, "find_study", lambda _: study)
        watcher = Silent()
        with pytest.raises(KeyboardInterrupt):
            conduct.start("fake", StudySettings(servers=("knot",), seed=1), folder, ["dnsrig"], watcher)
    finally:
        signal.signal(signal.SIGTERM, before)
    (run,) = folder.iterdir()
    return run, watcher.problems


def test_an_interruption_that_a_library_makes_an_error_of_is_one(tmp_path, monkeypatch):
    folder, problems = interrupted(Interrupted(), tmp_path, monkeypatch)
    manifest = RunFolder.open(folder).manifest()
    assert (manifest["status"], manifest["reason"]) == ("interrupted", "SIGTERM")
    assert problems == [f"to go on: dnsrig run --resume {folder}"]


def test_an_interruption_while_the_report_is_written_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setattr(conduct, "_require_measurements", lambda _: None)
    folder, problems = interrupted(InterruptedAtItsEnd(), tmp_path, monkeypatch)
    assert RunFolder.open(folder).manifest()["status"] == "complete"
    assert problems == [f"all is measured; for the report: dnsrig report {folder}"]
