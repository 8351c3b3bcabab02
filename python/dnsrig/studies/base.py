"""What every study is: a name, words for the report, its defaults, and how it runs."""

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, TypeVar

from dnsrig.errors import EnvironmentLacksError, InputError
from dnsrig.report.build import PICTURES, build_report
from dnsrig.report.layout import StudyText
from dnsrig.report.summary import summarise
from dnsrig.runs.folder import RunFolder
from dnsrig.servers.registry import driver, measured_by_default
from dnsrig.studies.plan import Plan
from dnsrig.studies.progress import Watcher
from dnsrig.studies.settings import StudySettings

Settings = TypeVar("Settings", bound=StudySettings)


class Study(ABC, Generic[Settings]):
    """An experiment that one command repeats: cases x repetitions, measured and reported."""

    name: ClassVar[str]
    title: ClassVar[str]
    source: ClassVar[str]
    settings_type: ClassVar[type[StudySettings]]
    """What a user may choose."""
    defaults: ClassVar[dict[str, Any]]
    """What this study sets apart from the defaults of its settings' type."""
    quick: ClassVar[dict[str, Any]]
    """What `--quick` sets, for one server in about a minute."""
    subject: ClassVar[Literal["server", "signer"]] = "server"
    """What the programs under test are, and the option that names them."""
    unit: ClassVar[str] = "measurement"
    """What a repetition of a case is."""
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """What those settings that are lists may hold, where another study's of the same name may hold something else."""

    def usual_servers(self) -> tuple[str, ...]:
        """Name the servers on this machine that are measured when the user names none."""
        return measured_by_default()

    def require(self, names: Sequence[str]) -> None:
        """Raise InputError for an unknown program, EnvironmentLacksError (with the package) for a missing one."""
        missing = [kind for kind in map(driver, dict.fromkeys(names)) if kind.find() is None]
        if missing:
            titles, packages = ", ".join(kind.title for kind in missing), " ".join(kind.package for kind in missing)
            raise EnvironmentLacksError(
                f"not installed: {titles}; apt-get install {packages}, or leave them out of --server"
            )

    def fitted(self, settings: Settings) -> Settings:
        """Choose, by what this machine can do, what the user has not chosen."""
        return settings

    def check(self, settings: Settings) -> None:
        """Refuse, before a run is begun, settings with which nothing can be measured.

        Raises InputError, or EnvironmentLacksError where the servers lack what all cases need.
        """

    def prepare(self, settings: Settings) -> None:
        """Bring this process where the study can run, before anything is done that must not be done twice.

        It may replace the process by the same command.
        """

    def tried(self, settings: Settings, chosen: Settings, watcher: Watcher) -> tuple[Settings, Mapping[str, Any]]:
        """Change, by a short trial, what `fitted` made of the `chosen` settings; give also facts for the run to note.

        This is called after `prepare`, and not where a run is only planned.
        """
        return settings, {}

    def plan(self, settings: Settings) -> Plan:
        """Say what a run with these settings would measure, without making anything.

        Raises InputError where the study cannot say it before it runs.
        """
        raise InputError(f"{self.name} has no --dry-run: what it measures depends on what its servers can do")

    @abstractmethod
    def run(self, settings: Settings, run: RunFolder, watcher: Watcher) -> None:
        """Measure into `run` what it does not hold yet."""

    @abstractmethod
    def text(self, settings: Settings) -> StudyText:
        """Give the words and the layout of this study's report."""

    def build_report(self, run: RunFolder, settings: Settings) -> Path:
        """Write the run's report and give the page; raises DiskFullError when there is no room."""
        return build_report(run, self.text(settings), draws=os.environ.get(PICTURES) != "0")

    def summarise(self, run: RunFolder, settings: Settings) -> dict[str, Any]:
        """Give the object that summary.json holds."""
        return summarise(run, self.text(settings))
