"""encrypted-cost: what encrypted transports cost an authoritative server (VRSN-2025)."""

from collections.abc import Sequence
from typing import Any, ClassVar

from dnsrig.errors import EnvironmentLacksError
from dnsrig.report.layout import Axis, StudyText
from dnsrig.report.sections import Findings, Section
from dnsrig.runs.folder import RunFolder
from dnsrig.servers.certificates import LABELS as CERTIFICATE_LABELS
from dnsrig.servers.dnsdist import Dnsdist, find_dnsdist
from dnsrig.servers.registry import found
from dnsrig.servers.unbound import Unbound
from dnsrig.studies.base import Study
from dnsrig.studies.encrypted import words
from dnsrig.studies.encrypted.bench import NO_CERTIFICATE, EncryptedBench
from dnsrig.studies.encrypted.beside import attempts_section, together_section
from dnsrig.studies.encrypted.cases import UDP, all_cases, kind_labels
from dnsrig.studies.encrypted.findings import CaseFinder
from dnsrig.studies.encrypted.inputs import prepare
from dnsrig.studies.encrypted.kernel_tls import facts, kernel_tls, sentence
from dnsrig.studies.encrypted.offers import lacking, wanted_transports
from dnsrig.studies.encrypted.parts import parts_section
from dnsrig.studies.encrypted.rates import published_section, rates_section, threads_section
from dnsrig.studies.encrypted.sessions import sessions_section
from dnsrig.studies.encrypted.settings import EncryptedSettings
from dnsrig.studies.progress import Watcher
from dnsrig.studies.settings import StudySettings

BEHIND_DNSDIST = ("nsd", "knot", "bind", "embedded")
"""Servers that dnsdist is measured in front of, the first one that is installed."""


class EncryptedCost(Study[EncryptedSettings]):
    """Transports x sessions x certificates x threads x servers; UDP beside DoT and beside connection attempts."""

    name: ClassVar[str] = "encrypted-cost"
    title: ClassVar[str] = "What encrypted transports cost an authoritative server"
    source: ClassVar[str] = "VRSN-2025: Verisign's RFC 9539 experiment, authoritative DNS over TLS (2025)"
    settings_type: ClassVar[type[StudySettings]] = EncryptedSettings
    defaults: ClassVar[dict[str, Any]] = {"load_s": 2.0, "warm_up_s": 0.3}
    quick: ClassVar[dict[str, Any]] = {"repetitions": 3, "load_s": 1.0, "warm_up_s": 0.1, "steps": (1, 512, 4096)}

    def usual_servers(self) -> tuple[str, ...]:
        """Name the authoritative servers on this machine, Unbound, and dnsdist in front of one of them."""
        there = found()
        usual = [*super().usual_servers(), *(name for name in (Unbound.name,) if name in there)]
        behind = next((name for name in BEHIND_DNSDIST if name in there), None)
        if behind is not None and find_dnsdist() is not None:
            usual.append(f"{Dnsdist.name}+{behind}")
        return tuple(usual)

    def check(self, settings: EncryptedSettings) -> None:
        """Refuse what no server can be measured by."""
        settings.check()
        names = dict.fromkeys(settings.servers)
        if not any(all_cases(settings, wanted_transports(name, settings)) for name in names):
            reasons = [f"{name}: {reason}" for name in names for _, reason in lacking(name, settings)]
            raise EnvironmentLacksError(f"nothing of this can be measured: {'; '.join(reasons)}")

    def run(self, settings: EncryptedSettings, run: RunFolder, watcher: Watcher) -> None:
        """Measure every case that `run` does not hold yet."""
        watcher.phase("making the zone, queries and certificates")
        inputs = prepare(run, settings.seed)
        before = kernel_tls()
        run.note(inputs=inputs.facts, kernel_tls=facts(before, before))
        bench = EncryptedBench(settings, run, inputs, watcher)
        bench.note_lacking()
        watcher.note(bench.plan())
        bench.measure()
        run.note(kernel_tls=facts(before, kernel_tls()))

    def text(self, settings: EncryptedSettings) -> StudyText:
        """Give the words and the layout of the report."""

        def sections(findings: Findings) -> Sequence[Section]:
            finder = CaseFinder(findings, settings)
            alone = []
            if "transports" in settings.parts:
                alone = [rates_section(finder), published_section(finder), sessions_section(finder)]
                alone.append(threads_section(finder))
            beside = [parts_section(finder), together_section(finder), attempts_section(finder)]
            kernel = Section("Kernel TLS", (sentence(findings.facts.get("kernel_tls")),))
            return [*alone, *(section for section in beside if section is not None), kernel]

        return StudyText(
            name=self.name,
            title=self.title,
            question=words.QUESTION,
            method=words.method(settings),
            source=self.source,
            rows=Axis("kind", "Case", kind_labels(settings)),
            columns=Axis("certificate", "Certificate", {NO_CERTIFICATE: "no certificate", **CERTIFICATE_LABELS}),
            baseline=UDP,
            baseline_label="UDP",
            questions=words.questions(settings),
            limits=words.limits(),
            sections=sections,
        )
