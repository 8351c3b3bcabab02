"""One verification: a target, and what became of each item."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from dnsrig.verification.item import Role
from dnsrig.verification.runner import Result
from dnsrig.verification.verdicts import Severity, Verdict

ORDER = (Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.PASS_BY_TCP, Verdict.PASS, Verdict.NOT_APPLICABLE)
"""Verdicts in the order in which readers want them."""
LABELS = {
    Verdict.FAIL: "fail",
    Verdict.INCONCLUSIVE: "inconclusive",
    Verdict.PASS_BY_TCP: "pass by TCP",
    Verdict.PASS: "pass",
    Verdict.NOT_APPLICABLE: "not applicable",
}


@dataclass(frozen=True, slots=True)
class Verification:
    """What was found of one target."""

    role: Role
    target: str
    server_version: str | None
    """Name and version of the server, where the rig started it."""
    zone: str | None
    results: Sequence[Result]
    elapsed_s: float

    def of(self, verdict: Verdict) -> list[Result]:
        """Give the results with a verdict, the severest items first."""
        found = [result for result in self.results if result.outcome.verdict == verdict]
        return sorted(found, key=lambda result: -result.item.severity.rank)

    @property
    def summary(self) -> dict[Verdict, int]:
        """Count the verdicts."""
        counts = Counter(result.outcome.verdict for result in self.results)
        return {verdict: counts[verdict] for verdict in Verdict}

    def fails_at(self, least: Severity) -> bool:
        """Say whether an item of at least this severity failed."""
        return any(result.item.severity.rank >= least.rank for result in self.of(Verdict.FAIL))
