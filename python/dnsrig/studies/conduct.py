"""From a study's name to a finished run with its report: what `dnsrig run` does."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dnsrig.errors import DnsrigError, EnvironmentLacksError, InputError
from dnsrig.runs.folder import RunFolder
from dnsrig.runs.writing import DiskFullError
from dnsrig.studies.base import Study
from dnsrig.studies.noted_signals import CTRL_C, NotedSignals
from dnsrig.studies.plan import Plan
from dnsrig.studies.progress import Watcher
from dnsrig.studies.registry import study as find_study
from dnsrig.studies.settings import StudySettings
from dnsrig.wording import counted


def chosen_servers(asked: tuple[str, ...] | None, study: Study[Any]) -> tuple[str, ...]:
    """Give the programs to measure: those asked for, or those installed that the study usually measures.

    Raises InputError for an unknown one, EnvironmentLacksError (with the package to install) for a missing one.
    """
    if asked is None:
        return study.usual_servers()
    if not asked:
        raise InputError(f"--{study.subject} names no {study.subject}; leave it out to have those installed")
    study.require(asked)
    return asked


def start(
    name: str, settings: StudySettings, parent: Path, argv: Sequence[str], watcher: Watcher
) -> tuple[Path, dict[str, Any]]:
    """Run the study `name` into a new folder below `parent`; return that folder and the summary."""
    study = find_study(name)
    chosen, settings = settings, study.fitted(settings)
    study.check(settings)
    study.prepare(settings)
    settings, facts = study.tried(settings, chosen, watcher)
    run = RunFolder.create(parent, name, argv=argv, settings=settings.to_manifest(), seed=settings.seed)
    run.note(**facts)
    return _conduct(study, settings, run, watcher)


def plan(name: str, settings: StudySettings) -> Plan:
    """Say what `start` would measure; nothing is made. Raises as `start` does for settings that fit nothing."""
    study = find_study(name)
    settings = study.fitted(settings)
    study.check(settings)
    return study.plan(settings)


def resume(path: Path, watcher: Watcher) -> tuple[Path, dict[str, Any]]:
    """Go on with the run at `path` where it was broken off; return its folder and the summary."""
    run = RunFolder.open(path)
    manifest = run.manifest()
    study = find_study(manifest["study"])
    settings = study.settings_type.from_manifest(manifest["settings"])
    study.require(settings.servers)
    study.prepare(settings)
    run.resume()
    return _conduct(study, settings, run, watcher)


def report(path: Path) -> tuple[Path, dict[str, Any]]:
    """Build the report of the stored run at `path` anew."""
    run = RunFolder.open(path)
    if not run.measurements():
        raise InputError(f"{path}: the run is {run.status} and holds no measurement; there is nothing to report")
    manifest = run.manifest()
    study = find_study(manifest["study"])
    settings = study.settings_type.from_manifest(manifest["settings"])
    return _build_report(study, run, settings), study.summarise(run, settings)


def _conduct(
    study: Study[Any], settings: StudySettings, run: RunFolder, watcher: Watcher
) -> tuple[Path, dict[str, Any]]:
    signals = NotedSignals("what is done is kept; ending what runs ...")
    try:
        with signals, run.says_where_to_go_on():
            study.run(settings, run, watcher)
        _require_measurements(run)
    except (KeyboardInterrupt, Exception) as error:
        # A library may have made an error of its own of the KeyboardInterrupt.
        if isinstance(error, KeyboardInterrupt) or signals.first is not None:
            run.finish("interrupted", signals.first or CTRL_C)
            watcher.phase("writing the report of what there is")
            _report_what_there_is(study, settings, run)
            watcher.problem(f"to go on: dnsrig run --resume {run.path}")
            raise KeyboardInterrupt from error
        if isinstance(error, DnsrigError) and not isinstance(error, DiskFullError):
            run.finish("failed", str(error))
        raise
    failed = run.failed_measurements
    if failed:
        run.finish("incomplete", f"{counted(failed, study.unit)} failed")
    else:
        run.finish("complete")
    watcher.phase("writing the report")
    try:
        with signals:
            _build_report(study, run, settings)
    except (KeyboardInterrupt, Exception) as error:
        # As above.
        if isinstance(error, KeyboardInterrupt) or signals.first is not None:
            watcher.problem(f"all is measured; for the report: dnsrig report {run.path}")
            raise KeyboardInterrupt from error
        raise
    return run.path, study.summarise(run, settings)


def _require_measurements(run: RunFolder) -> None:
    """Raise what was lacking if nothing could be measured."""
    if run.measurements():
        return
    reasons = "; ".join(dict.fromkeys(str(entry["reason"]) for entry in run.manifest()["failures"]))
    if reasons:
        raise EnvironmentLacksError(f"nothing could be measured: {reasons}")
    raise InputError("nothing could be measured: the servers and the choices on the command line make no case")


def _report_what_there_is(study: Study[Any], settings: StudySettings, run: RunFolder) -> None:
    if run.measurements():
        _build_report(study, run, settings)


def _build_report(study: Study[Any], run: RunFolder, settings: StudySettings) -> Path:
    try:
        return study.build_report(run, settings)
    except DiskFullError as error:
        raise DiskFullError(error.path, f"free some, and then: dnsrig report {run.path}") from error
