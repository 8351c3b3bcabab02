"""functionality: what servers, resolvers, proxies and paths do, item by item (JPRS-2010)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from dnsrig.errors import EnvironmentLacksError, InputError
from dnsrig.hosts.network.users import enter_user_namespace
from dnsrig.report.layout import Axis, StudyText
from dnsrig.runs.folder import RunFolder
from dnsrig.studies.base import Study
from dnsrig.studies.functionality import cases, words
from dnsrig.studies.functionality.bench import FunctionalityBench
from dnsrig.studies.functionality.page import build_page
from dnsrig.studies.functionality.settings import FunctionalitySettings
from dnsrig.studies.functionality.summary import summarise_run
from dnsrig.studies.plan import Plan
from dnsrig.studies.progress import Watcher
from dnsrig.studies.settings import StudySettings
from dnsrig.verification.item import ROLES


class Functionality(Study[FunctionalitySettings]):
    """Roles x servers, each with all items of the role."""

    name: ClassVar[str] = "functionality"
    title: ClassVar[str] = words.TITLE
    source: ClassVar[str] = words.SOURCE
    settings_type: ClassVar[type[StudySettings]] = FunctionalitySettings
    defaults: ClassVar[dict[str, Any]] = {}
    quick: ClassVar[dict[str, Any]] = {"scope": "published"}
    unit: ClassVar[str] = "verification"
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {"roles": ROLES}

    def usual_servers(self) -> tuple[str, ...]:
        """Name everything on this machine that has a role, and the paths that the rig makes."""
        return cases.usual_names()

    def require(self, names: Sequence[str]) -> None:
        """Raise InputError for an unknown name, EnvironmentLacksError (with the package) for a missing program."""
        cases.require(names)

    def check(self, settings: FunctionalitySettings) -> None:
        """Refuse servers that have none of the roles."""
        if not cases.cases(settings):
            raise InputError(f"--server and --role: none of the servers is a target as {' or '.join(settings.roles)}")

    def prepare(self, settings: FunctionalitySettings) -> None:
        """Enter a user namespace where network namespaces take that; without, those cases fail with the reason."""
        if any(case.role != "authoritative" for case in cases.cases(settings)):
            try:
                enter_user_namespace()
            except EnvironmentLacksError:
                # Authoritative servers need no namespace; the other cases say what is lacking.
                return

    def plan(self, settings: FunctionalitySettings) -> Plan:
        """Say what a run would verify."""
        return cases.plan(settings)

    def run(self, settings: FunctionalitySettings, run: RunFolder, watcher: Watcher) -> None:
        """Verify every case that `run` does not hold yet."""
        bench = FunctionalityBench(settings, run, watcher)
        watcher.note(bench.plan())
        bench.note_missing()
        bench.measure()

    def text(self, settings: FunctionalitySettings) -> StudyText:
        """Give the words of the report."""
        return StudyText(
            name=self.name,
            title=self.title,
            question=words.QUESTION,
            method=words.method(settings),
            source=self.source,
            rows=Axis("role", "Role"),
            columns=Axis("item", "Item"),
            baseline="",
            baseline_label="",
            published_note=words.PUBLISHED_NOTE,
            limits=words.LIMITS,
        )

    def build_report(self, run: RunFolder, settings: FunctionalitySettings) -> Path:
        """Write the run's report and give the page."""
        return build_page(run, self.text(settings))

    def summarise(self, run: RunFolder, settings: FunctionalitySettings) -> dict[str, Any]:
        """Give the object of functionality.json."""
        return summarise_run(run)
