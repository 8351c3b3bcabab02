"""A run's folder: written so that it can be read without dnsrig, and so that a broken-off run says so.

- `manifest.json`: what was run, with what, by which version, and how it ended
- `host.json`: the machine
- `inputs/`: zone files and query streams; their SHA-256 stands in the manifest
- `servers/CASE/`: rendered configurations and logs
- `measurements/CASE/N.json` and `N.series.parquet`: repetition N of a case
- `tables/*.parquet`: the same as tables, made at the end
- `summary.json`, `report.html`, `report.md`, `pictures/`: made of all that by `dnsrig report`
"""

import json
import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache, partial
from importlib import resources
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq
from jsonschema import Draft202012Validator

from dnsrig import __version__
from dnsrig.errors import EnvironmentLacksError, InputError
from dnsrig.runs.host import describe_host
from dnsrig.runs.process import is_alive, process_identity
from dnsrig.runs.tables import write_tables
from dnsrig.runs.writing import PARTIAL_SUFFIX, DiskFullError, sha256, unwritable, write_json, write_whole

SCHEMA = "dnsrig-run/1"
MEASUREMENT_SCHEMA = "dnsrig-measurement/1"
RUNNING, COMPLETE, INCOMPLETE, INTERRUPTED, FAILED = "running", "complete", "incomplete", "interrupted", "failed"
# Given back when the disk is full, so that the manifest can still say that the run is incomplete.
_RESERVE_NAME = ".reserve"
_RESERVE_BYTES = 64 * 1024
_SAFE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._#+-]*")


class RunFolder:
    """One stored run. Made by `create` or `open`; never overwrites another run or a measurement."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create(cls, parent: Path, study: str, *, argv: Sequence[str], settings: Mapping[str, Any], seed: int) -> Self:
        """Make a new folder below `parent`, named after time and study, whose manifest says `running`.

        `settings` is the resolved configuration, as JSON. Raises what `unwritable` gives when `parent` cannot be
        written, DiskFullError when there is no room, or EnvironmentLacksError when there is none for a run at all.
        """
        started = datetime.now().astimezone()
        run = cls(_new_folder(parent, f"{started:%Y%m%d-%H%M%S}-{study}"))
        manifest = {
            "schema": SCHEMA,
            "study": study,
            "status": RUNNING,
            "reason": None,
            "argv": list(argv),
            "settings": dict(settings),
            "seed": seed,
            "started": started.isoformat(timespec="seconds"),
            "finished": None,
            "process": process_identity(),
            "versions": {"dnsrig": __version__, "python": sys.version.split()[0]},
            "inputs": [],
            "facts": {},
            "failures": [],
        }
        try:
            write_json(run.path / "manifest.json", manifest)
            write_whole(run.path / _RESERVE_NAME, _fill_reserve)
            write_json(run.path / "host.json", describe_host())
            for name in ("inputs", "servers", "measurements"):
                (run.path / name).mkdir()
        except DiskFullError as error:
            if not (run.path / "manifest.json").exists():
                # There is nothing to go on with.
                shutil.rmtree(run.path, ignore_errors=True)
                said = f"no room left on the disk for a run in {parent}; free some space, or choose another folder"
                raise EnvironmentLacksError(said) from error
            raise run._mark_disk_full(error) from error
        return run

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open a stored run. Raises InputError when `path` isn't one, or is of another schema version."""
        run = cls(path)
        schema = run._read_json("manifest.json").get("schema")
        if schema != SCHEMA:
            raise InputError(
                f"{path}: this run's format is {schema!s}, and this dnsrig reads {SCHEMA}; "
                "use the dnsrig version that its manifest.json names"
            )
        return run

    def manifest(self) -> dict[str, Any]:
        """Return the manifest as stored; see `status` for whether a run that says `running` still does."""
        return _checked(self._read_json("manifest.json"), "manifest.json", self.path / "manifest.json")

    def host(self) -> dict[str, Any]:
        """Return the description of the machine that the run was made on."""
        return self._read_json("host.json")

    @property
    def status(self) -> str:
        """One of the manifest's: `running`, `complete`, ... A run whose process is gone is interrupted."""
        manifest = self.manifest()
        status = str(manifest["status"])
        return INTERRUPTED if status == RUNNING and not is_alive(manifest["process"]) else status

    def resume(self) -> None:
        """Mark a run that isn't complete as running again, by this process; leftovers of writing are removed.

        A complete run goes on if measurements were deleted, which are made again. Raises InputError when nothing is
        left to measure, another process is still at it, or what it holds is damaged.
        """
        status = self.status
        if status == COMPLETE and not self._lacks_measurements():
            self._check_measurements()
            raise InputError(f"{self.path}: the run is complete; for its report: dnsrig report {self.path}")
        if status == RUNNING and self.manifest()["process"] != process_identity():
            pid = self.manifest()["process"]["pid"]
            raise InputError(f"{self.path}: process {pid} is still at this run; wait for it or stop it")
        self._check_inputs()
        self._check_measurements()
        for leftover in self.path.rglob(f"*{PARTIAL_SUFFIX}"):
            leftover.unlink()
        with self.says_where_to_go_on():
            write_whole(self.path / _RESERVE_NAME, _fill_reserve)
            self._update(status=RUNNING, reason=None, finished=None, process=process_identity(), failures=[])

    def _lacks_measurements(self) -> bool:
        """Say whether fewer measurements are there than when the run came to its end."""
        table = self.path / "tables" / "measurements.parquet"
        try:
            stored: int = pq.read_metadata(table).num_rows
        except (pa.ArrowInvalid, OSError):
            # Nothing tells how many there were; looking costs no measurement, and makes the table again.
            return True
        return stored > len(list(self.path.glob("measurements/*/*.json")))

    def _check_inputs(self) -> None:
        """See that the kept inputs are those that the finished cases were measured with."""
        for entry in self.manifest()["inputs"]:
            kept = self.path / entry["path"]
            if not kept.is_file() or sha256(kept) != entry["sha256"]:
                raise InputError(
                    f"{kept}: missing or changed since the run began, so that further cases would not be comparable; "
                    "put the file back, or begin a new run"
                )

    def _check_measurements(self) -> None:
        """See that what is measured already can be read: only at the end of the run all of it is."""
        damaged: dict[Path, InputError] = {}
        for file in sorted(self.path.glob("measurements/*/*.json")):
            try:
                _checked(_read_json(file), "measurement.json", file)
                self.series(file.parent.name, int(file.stem))
            except InputError as error:
                damaged[file] = error
        if damaged:
            files = [f"  {path}" for file in damaged for path in (file, _series_path(file)) if path.exists()]
            first = next(iter(damaged.values()))
            raise InputError(
                "\n".join([f"{first}", "To have it measured again, delete these files and resume:", *files])
            )

    def add_input(self, path: Path) -> Path:
        """Keep a file in `inputs/` (copied unless it lies there already) and its SHA-256 in the manifest.

        Returns the path of the kept file. Raises InputError when a different file of that name is there.
        """
        kept = self.path / "inputs" / path.name
        digest = sha256(path)
        if kept.exists() and sha256(kept) != digest:
            raise InputError(f"{path}: the run keeps a different input called {path.name}; rename one")
        with self.says_where_to_go_on():
            if not kept.exists():
                write_whole(kept, partial(_copy, path))
        entry = {
            "path": f"inputs/{path.name}",
            "source": str(path.resolve()),
            "bytes": kept.stat().st_size,
            "sha256": digest,
        }
        others = [item for item in self.manifest()["inputs"] if item["path"] != entry["path"]]
        self._guarded_update(inputs=[*others, entry])
        return kept

    def note(self, **facts: object) -> None:
        """Keep facts about the run (what its inputs turned out to be, ...) in the manifest, as JSON."""
        self._guarded_update(facts={**self.manifest()["facts"], **facts})

    def record_failure(
        self, case_ids: Sequence[str], case: Mapping[str, Any], reason: str, repetition: int | None = None
    ) -> None:
        """Keep in the manifest that these cases could not be measured, and why; resuming tries them again.

        Without `repetition` they never can be here, as where a server lacks a transport; with it they failed.
        Repetitions that fail for reasons with the same first line share an entry, which keeps the first reason.
        """
        failures = self.manifest()["failures"]
        entry: dict[str, Any] = {"case_ids": list(case_ids), "case": dict(case), "reason": reason}
        if repetition is not None:
            same = next((item for item in failures if _same_failure(item, entry)), None)
            if same is None:
                entry["repetitions"] = [repetition]
            else:
                failures.remove(same)
                entry = {**same, "repetitions": [*same["repetitions"], repetition]}
        self._guarded_update(failures=[*failures, entry])

    @property
    def failed_measurements(self) -> int:
        """How many measurements were tried and failed, for another reason than that the server lacks something."""
        failures = self.manifest()["failures"]
        return sum(len(item["case_ids"]) * len(item.get("repetitions", ())) for item in failures)

    def record(self, measurement: Mapping[str, Any], series: pa.Table | None = None) -> None:
        """Store one repetition of a case; the series (monitor samples) first, so that JSON means complete.

        Raises FileExistsError when the repetition is stored already, and DiskFullError, after marking the
        run, when there is no room.
        """
        case_id, repetition = str(measurement["case_id"]), int(measurement["repetition"])
        path = self._measurement_path(case_id, repetition)
        if path.exists():
            raise FileExistsError(f"{path}: repetition {repetition} of case {case_id} is stored already")
        with self.says_where_to_go_on():
            path.parent.mkdir(parents=True, exist_ok=True)
            if series is not None:
                write_whole(_series_path(path), partial(pq.write_table, series))
            write_json(path, {"schema": MEASUREMENT_SCHEMA, **measurement})

    def done(self, case_id: str, repetition: int) -> bool:
        """Say whether this repetition of a case is stored."""
        return self._measurement_path(case_id, repetition).exists()

    def measurements(self) -> list[dict[str, Any]]:
        """Return all stored measurements in the order in which they were taken."""
        files = sorted(self.path.glob("measurements/*/*.json"))
        found = [_checked(_read_json(file), "measurement.json", file) for file in files]
        return sorted(found, key=lambda item: int(item["order"]))

    def series(self, case_id: str, repetition: int) -> pa.Table | None:
        """Return the monitor's samples of one repetition; None when none were stored."""
        path = _series_path(self._measurement_path(case_id, repetition))
        try:
            return pq.read_table(path) if path.exists() else None
        except (pa.ArrowInvalid, OSError) as error:
            raise InputError(f"{path}: not a Parquet file that can be read: {error}") from error

    def finish(self, status: str, reason: str | None = None) -> None:
        """Write the tables and set the run's final status, any but `running`."""
        if status not in {COMPLETE, INCOMPLETE, INTERRUPTED, FAILED}:
            raise ValueError(f"a run cannot finish as {status}")
        with self.says_where_to_go_on():
            write_tables(self.path, self.measurements(), self.series)
        (self.path / _RESERVE_NAME).unlink(missing_ok=True)
        self._guarded_update(status=status, reason=reason, finished=_now())

    def _measurement_path(self, case_id: str, repetition: int) -> Path:
        if not _SAFE_NAME.fullmatch(case_id):
            raise ValueError(f"case id {case_id} cannot name a folder")
        return self.path / "measurements" / case_id / f"{repetition}.json"

    def _mark_disk_full(self, error: DiskFullError) -> DiskFullError:
        """Set the run's status, if that can be done, and give the error that says how to go on."""
        (self.path / _RESERVE_NAME).unlink(missing_ok=True)
        try:
            is_of_run = error.path.is_relative_to(self.path)
            named = error.path.relative_to(self.path) if is_of_run else error.path
            reason = f"no room left on the disk while writing {named}"
            self._update(status=INTERRUPTED, reason=reason, finished=_now())
        except (OSError, DiskFullError):
            # The manifest then stays `running`, and is read as interrupted once this process has ended.
            pass
        advice = f"the run is incomplete. To go on, once there is some: dnsrig run --resume {self.path}"
        return DiskFullError(error.path, advice)

    @contextmanager
    def says_where_to_go_on(self) -> Iterator[None]:
        """Mark the run where the block meets a full disk, and have the error say how to go on."""
        try:
            yield
        except DiskFullError as error:
            raise self._mark_disk_full(error) from error

    def _guarded_update(self, **changes: object) -> None:
        with self.says_where_to_go_on():
            self._update(**changes)

    def _update(self, **changes: object) -> None:
        write_json(self.path / "manifest.json", {**self.manifest(), **changes})

    def _read_json(self, name: str) -> dict[str, Any]:
        path = self.path / name
        if not path.is_file():
            raise InputError(
                f"{self.path}: not a run's folder, it has no file {name}; give the folder that `dnsrig run` named"
            )
        return _read_json(path)


def _series_path(measurement: Path) -> Path:
    return measurement.with_suffix(".series.parquet")


def _same_failure(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Say whether two failures of planned measurements are one in different repetitions."""
    reasons = {item["reason"].partition("\n")[0] for item in (one, other)}
    cases = {frozenset(item["case_ids"]) for item in (one, other)}
    return "repetitions" in one and one["case"] == other["case"] and len(reasons) == len(cases) == 1


def _checked(value: dict[str, Any], schema: str, path: Path) -> dict[str, Any]:
    error = next(_validator(schema).iter_errors(value), None)
    if error is not None:
        raise InputError(f"{path}: damaged or of another version, at {error.json_path}: {error.message[:200]}")
    return value


@cache
def _validator(schema: str) -> Draft202012Validator:
    text = resources.files("dnsrig.schemas").joinpath(schema).read_text(encoding="utf-8")
    return Draft202012Validator(json.loads(text))


def _read_json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text())
    except ValueError as error:
        raise InputError(f"{path}: not valid JSON ({error}); the file was changed or damaged") from error
    if not isinstance(value, dict):
        raise InputError(f"{path}: holds no JSON object; the file was changed or damaged")
    return value


def _new_folder(parent: Path, name: str) -> Path:
    try:
        parent.mkdir(parents=True, exist_ok=True)
        for number in range(1, 1000):
            path = parent / (name if number == 1 else f"{name}-{number}")
            try:
                path.mkdir()
            except FileExistsError:
                continue
            return path
    except OSError as error:
        raise unwritable(parent, error, "give another folder for runs") from error
    raise InputError(f"{parent}: a thousand runs called {name} are there already; give another folder")


def _fill_reserve(path: Path) -> None:
    path.write_bytes(bytes(_RESERVE_BYTES))


def _copy(source: Path, target: Path) -> None:
    shutil.copyfile(source, target)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
