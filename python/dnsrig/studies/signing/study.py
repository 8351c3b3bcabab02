"""signing: what it takes to sign a registry's zone (CA-2006)."""

import shutil
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from dnsrig import _core
from dnsrig.report.layout import Axis, StudyText
from dnsrig.report.sections import Findings, Section
from dnsrig.runs.folder import RunFolder
from dnsrig.studies.base import Study
from dnsrig.studies.plan import Plan
from dnsrig.studies.progress import Watcher
from dnsrig.studies.settings import StudySettings
from dnsrig.studies.signing import words
from dnsrig.studies.signing.bench import SigningBench
from dnsrig.studies.signing.cases import key_labels, kind_labels
from dnsrig.studies.signing.finder import CaseFinder
from dnsrig.studies.signing.forecast import expected_of_names, expected_signatures, forecast, look
from dnsrig.studies.signing.inputs import Inputs
from dnsrig.studies.signing.more_sections import (
    pieces_section,
    threads_section,
    unsorted_section,
    verified_section,
)
from dnsrig.studies.signing.published import read_published
from dnsrig.studies.signing.sections import (
    chains_section,
    full_section,
    incremental_section,
    limit_section,
    published_section,
)
from dnsrig.studies.signing.settings import CHAINS, KEYS, PARTS, SigningSettings
from dnsrig.studies.signing.signers import registry


class Signing(Study[SigningSettings]):
    """Signers x keys, chains, shares made anew, pieces, order and threads."""

    name: ClassVar[str] = "signing"
    title: ClassVar[str] = "What it takes to sign a registry's zone"
    source: ClassVar[str] = "CA-2006: .ca Signing Metrics, NLnet Labs document 2006-001 (2006)"
    settings_type: ClassVar[type[StudySettings]] = SigningSettings
    defaults: ClassVar[dict[str, Any]] = {}
    quick: ClassVar[dict[str, Any]] = {
        "repetitions": 3,
        "names": 2_000,
        "keys": ("rsa1024", "p256"),
        "regenerated": (0, 100),
        "bound_s": 0.5,
    }
    subject: ClassVar[Any] = "signer"
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "parts": PARTS,
        "keys": tuple(KEYS),
        "chains": tuple(CHAINS),
        "regenerated": (),
    }

    def usual_servers(self) -> tuple[str, ...]:
        """Name the signers on this machine."""
        return registry.installed()

    def require(self, names: Sequence[str]) -> None:
        """Raise InputError for an unknown signer, EnvironmentLacksError (with the package) for a missing one."""
        registry.require(names)

    def check(self, settings: SigningSettings) -> None:
        """Refuse what could not be measured."""
        settings.check()

    def plan(self, settings: SigningSettings) -> Plan:
        """Say what a run would measure."""
        if settings.zone is None:
            return _forecast(settings, expected_of_names(settings.names))
        zone = _core.Zone.read(settings.zone, settings.origin).without_dnssec()
        return _forecast(settings, expected_signatures(zone.statistics()))

    def run(self, settings: SigningSettings, run: RunFolder, watcher: Watcher) -> None:
        """Measure every case that `run` does not hold yet."""
        watcher.phase("making the zone and its keys")
        inputs = Inputs(settings, run)
        try:
            run.note(**inputs.facts())
            plan = _forecast(settings, expected_signatures(inputs.statistics))
            bench = SigningBench(settings, run, inputs, plan, watcher)
            watcher.note(bench.plan())
            self._note_missing(settings, run, watcher)
            bench.measure()
        finally:
            shutil.rmtree(inputs.scratch, ignore_errors=True)

    def _note_missing(self, settings: SigningSettings, run: RunFolder, watcher: Watcher) -> None:
        """Say which signers that Debian has are not measured because they are not installed."""
        for kind in registry.USUAL:
            if kind.find() is None and kind.name not in settings.servers:
                reason = f"{kind.title} is not installed: {kind.how_to_install()}"
                run.record_failure([kind.name], {"server": kind.name}, reason)
                watcher.problem(reason)

    def text(self, settings: SigningSettings) -> StudyText:
        """Give the words and the layout of the report."""
        published = read_published()

        def sections(findings: Findings) -> Sequence[Section]:
            finder = CaseFinder(findings, settings)
            full: list[Section | None] = []
            if "full" in settings.parts:
                full = [full_section(finder), published_section(finder, published), chains_section(finder)]
                full.append(limit_section(finder))
            more = [incremental_section(finder, published), pieces_section(finder, published)]
            more += [threads_section(finder, published), unsorted_section(finder), verified_section(finder)]
            return [section for section in (*full, *more) if section is not None]

        return StudyText(
            name=self.name,
            title=self.title,
            question=words.QUESTION,
            method=words.method(settings),
            source=self.source,
            rows=Axis("kind", "Case", kind_labels(settings)),
            columns=Axis("key", "Key", key_labels()),
            baseline=settings.main_chain,
            baseline_label=CHAINS[settings.main_chain],
            questions=words.questions(settings, published),
            unanswered=words.UNANSWERED,
            limits=words.limits(settings),
            sections=sections,
            subject="signer",
        )


def _forecast(settings: SigningSettings, signatures: int) -> Plan:
    return forecast(settings, look(signatures, settings.keys))
