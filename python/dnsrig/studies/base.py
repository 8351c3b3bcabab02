"""What every study is: a name, words for the report, its defaults, and how it runs."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Generic, TypeVar

from dnsrig.report.layout import StudyText
from dnsrig.runs.folder import RunFolder
from dnsrig.servers.registry import measured_by_default
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

    def usual_servers(self) -> tuple[str, ...]:
        """Name the servers on this machine that are measured when the user names none."""
        return measured_by_default()

    def check(self, settings: Settings) -> None:
        """Refuse, before a run is begun, settings with which nothing can be measured.

        Raises InputError, or EnvironmentLacksError where the servers lack what all cases need.
        """

    @abstractmethod
    def run(self, settings: Settings, run: RunFolder, watcher: Watcher) -> None:
        """Measure into `run` what it does not hold yet."""

    @abstractmethod
    def text(self, settings: Settings) -> StudyText:
        """Give the words and the layout of this study's report."""
