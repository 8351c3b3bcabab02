"""One verification: a target, and what became of each item."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from dnsrig.verification.deviations import KnownFailures, why_known
from dnsrig.verification.exchange import Endpoint
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
NotVerified = Sequence[tuple[str, str]]
"""Targets of which nothing was found, each with the reason; a name may stand here more than once."""


@dataclass(frozen=True, slots=True)
class Verification:
    """What was found of one target."""

    role: Role
    target: str
    server_version: str | None
    """Name and version of the server, where the rig started it, or as it or the user says."""
    zone: str | None
    results: Sequence[Result]
    elapsed_s: float
    known: KnownFailures = field(default_factory=dict)
    """The items that this version of the server is known to fail (`deviations.py`), with reasons."""
    began: datetime = field(kw_only=True)
    """When, with its time zone."""
    endpoint: Endpoint | None = field(default=None, kw_only=True)
    """What was asked; None if that was never known. Of what the rig starts it may be in a network namespace."""
    seed: int | None = field(default=None, kw_only=True)
    """By which was drawn what of a large zone was looked at; None where nothing is drawn."""
    command: tuple[str, ...] = field(default=(), kw_only=True)
    """The command line as typed, without secrets; empty where it was none for this target alone."""
    incomplete: str = field(default="", kw_only=True)
    """Why not all items were run to their end, as a clause; "" where they were."""
    remark: str = field(default="", kw_only=True)
    """What the reader should know of how the target is set up, as a sentence."""
    raised: "Verification | None" = field(default=None, kw_only=True)
    """The items about size with a raised limit of octets by UDP, where they were tried beside the others."""

    def of(self, verdict: Verdict) -> list[Result]:
        """Give the results with a verdict, the severest items first."""
        found = [result for result in self.results if result.outcome.verdict == verdict]
        return sorted(found, key=lambda result: -result.item.severity.rank)

    @property
    def summary(self) -> dict[Verdict, int]:
        """Count the verdicts."""
        counts = Counter(result.outcome.verdict for result in self.results)
        return {verdict: counts[verdict] for verdict in Verdict}

    def known_deviation(self, result: Result) -> str | None:
        """Give the reason of a failure that is known of this version; None for other failures and verdicts."""
        if result.outcome.verdict != Verdict.FAIL:
            return None
        return why_known(self.known, result.item.id, result.outcome.reason)

    @property
    def known_failures(self) -> int:
        """How many items failed that this version is known to fail."""
        return sum(self.known_deviation(result) is not None for result in self.results)

    @property
    def found_nothing(self) -> bool:
        """Whether items were run, and none of them is applicable."""
        return bool(self.results) and len(self.of(Verdict.NOT_APPLICABLE)) == len(self.results)

    @property
    def left_all_open(self) -> bool:
        """Whether items were run, and of those that are applicable none could be found out."""
        ends = {result.outcome.verdict for result in self.results}
        return Verdict.INCONCLUSIVE in ends and ends <= {Verdict.INCONCLUSIVE, Verdict.NOT_APPLICABLE}

    @property
    def began_utc(self) -> str:
        """When it began, to the second, as RFC 3339 has it."""
        return self.began.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def fails_at(self, least: Severity) -> bool:
        """Say whether an item of at least this severity failed, be it known or not."""
        return any(result.item.severity.rank >= least.rank for result in self.of(Verdict.FAIL))
