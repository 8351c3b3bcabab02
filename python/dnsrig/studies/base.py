"""What every study is: a name, words for the report, its defaults, and how it runs."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from dnsrig.report.layout import StudyText
from dnsrig.runs.folder import RunFolder
from dnsrig.studies.progress import Watcher
from dnsrig.studies.settings import StudySettings


class Study(ABC):
    """An experiment that one command repeats: cases x repetitions, measured and reported."""

    name: ClassVar[str]
    title: ClassVar[str]
    source: ClassVar[str]
    defaults: ClassVar[dict[str, Any]]
    """What this study sets apart from the defaults of StudySettings."""
    quick: ClassVar[dict[str, Any]]
    """What `--quick` sets, for one server in about a minute."""

    @abstractmethod
    def run(self, settings: StudySettings, run: RunFolder, watcher: Watcher) -> None:
        """Measure into `run` what it does not hold yet."""

    @abstractmethod
    def text(self, settings: StudySettings) -> StudyText:
        """Give the words and the layout of this study's report."""
