"""Where DoT beside UDP is at its maximum: the step from which on its rate grows no more."""

from collections.abc import Sequence
from dataclasses import dataclass

from dnsrig.report.cases import CaseResult
from dnsrig.report.figures import QPS, short_number
from dnsrig.report.verdicts import percent
from dnsrig.studies.encrypted.cases import reused
from dnsrig.studies.encrypted.findings import BESIDE_QPS, SERVER_SHARE, CaseFinder

SMALL_GROWTH = 0.1
"""DoT that grows by less than this from one step to the next, of several times the queries in flight, is at its end."""
SERVER_FULL = 0.9
"""Share of its processors from which a server has no more to give to DoT."""


@dataclass(frozen=True, slots=True)
class Maximum:
    """The highest rate of DoT beside UDP on a server. `growth` is that of the last step; None with a single one."""

    step: int
    qps: float
    growth: float | None
    server_share: float

    @property
    def is_reached(self) -> bool:
        """Whether more queries in flight would not have shown more."""
        return self.server_share >= SERVER_FULL or (self.growth is not None and self.growth < SMALL_GROWTH)


def dot_maximum(finder: CaseFinder, known: Sequence[tuple[int, CaseResult]]) -> Maximum | None:
    """Find the maximum among (queries in flight, case); None without a rate."""
    rates = []
    for step, case in sorted(known, key=lambda entry: entry[0]):
        found = finder.estimate(case, BESIDE_QPS)
        if found is not None:
            rates.append((step, found.median, case))
    if not rates:
        return None
    step, qps, case = max(rates, key=lambda entry: entry[1])
    growth = rates[-1][1] / rates[-2][1] - 1 if len(rates) > 1 and rates[-2][1] else None
    share = finder.estimate(case, SERVER_SHARE)
    return Maximum(step, qps, growth, (share.median if share else 0.0) / finder.settings.threads[0])


def maximum_sentence(finder: CaseFinder, server: str, found: Maximum) -> str:
    """Say where DoT's maximum beside UDP is, whether it is one, and what DoT does alone."""
    title = finder.findings.grid.titles[server]
    sentence = (
        f"{title}: beside UDP, DoT had its highest rate, {short_number(found.qps)} qps, at {found.step:,} in flight"
    )
    alone_case = finder.case(server, reused("dot"))
    alone = None if alone_case is None else finder.estimate(alone_case, QPS)
    if alone is not None and alone.median:
        sentence += f" ({percent(found.qps / alone.median)} % of its {short_number(alone.median)} qps alone)"
    used = f"the server used {found.server_share:.2f} of its processors"
    if found.growth is None:
        return f"{sentence}; one step alone does not tell whether that is its maximum, and {used}."
    change = f"the last step changed it by {'+' if found.growth >= 0 else '-'}{percent(abs(found.growth))} %"
    if found.is_reached:
        return f"{sentence}. That is its maximum there: {change}, and {used}."
    return f"{sentence}. That is not its maximum: {change}, and {used}; larger --steps would show more."
