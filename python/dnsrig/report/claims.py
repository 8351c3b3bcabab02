"""Published figures beside the like ones of a run, with a verdict on each: as published, or other, and why.

A figure is as published where the whole 95 % interval of the measured one lies in the range that is taken as that, and
other where none of it does. In between the run cannot tell, and says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dnsrig.report.cases import CaseResult, servers_of
from dnsrig.report.figures import FIGURES, ratio_text
from dnsrig.report.identical import paired_in_run
from dnsrig.report.layout import PublishedClaim, StudyText
from dnsrig.report.sentences import merged, pick

AS_PUBLISHED, OTHER, UNDECIDED, NOT_COMPARED = "as published", "other", "not decided", "not compared"
LACKING_CASES = "this run has not the cases for it"
LACKING_FIGURE = "what it is made of was not measured, or is 0"
EN_DASH = "\N{EN DASH}"


@dataclass(frozen=True, slots=True)
class Compared:
    """What became of a published figure; `server` is None where it is the same for all."""

    claim: PublishedClaim
    verdict: str
    server: str | None = None
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    because: str = ""
    """Why the verdict is not AS_PUBLISHED."""
    cases: tuple[CaseResult, ...] = ()
    """What was compared."""

    @property
    def said(self) -> str:
        """The verdict in words."""
        return f"{self.verdict}, because {self.because}" if self.because else self.verdict

    @property
    def measured(self) -> str:
        """The figure with its interval; a dash where there is none."""
        if self.ratio is None:
            return "-"
        return ratio_text(self.ratio) + (f" ({self.interval})" if self.interval else "")

    @property
    def interval(self) -> str:
        """The ends of the interval; "" without one."""
        return (
            "" if self.low is None or self.high is None else f"{ratio_text(self.low)}{EN_DASH}{ratio_text(self.high)}"
        )

    def as_json(self) -> dict[str, Any]:
        """Return it as it stands in `summary.json`."""
        return {
            "study": self.claim.study,
            "keys": list(self.claim.keys),
            "what": self.claim.what,
            "published": self.claim.said,
            "as_published": list(self.claim.taken_as),
            "server": self.server,
            "measured": self.ratio,
            "ci95": None if self.low is None or self.high is None else [self.low, self.high],
            "n": self.n,
            "verdict": self.verdict,
            "because": self.because,
            "tainted": merged(taint for case in self.cases for taint in case.taints),
        }


def compare_published(text: StudyText, cases: Sequence[CaseResult]) -> list[Compared]:
    """Compare every published figure of a study with what each server measured."""
    found = []
    for claim in text.claims:
        if claim.lacking:
            found.append(Compared(claim, NOT_COMPARED, because=claim.lacking))
        else:
            found += [_compared(claim, server, cases) for server in servers_of(cases)]
    return found


def verdict_on(low: float | None, high: float | None, claim: PublishedClaim) -> str:
    """Judge an interval by the range that is taken as the published figure."""
    if low is None or high is None:
        return UNDECIDED
    least, most = _ends(claim)
    if least <= low and high <= most:
        return AS_PUBLISHED
    return OTHER if high < least or low > most else UNDECIDED


def _compared(claim: PublishedClaim, server: str, cases: Sequence[CaseResult]) -> Compared:
    of = pick(cases, server, claim.of)
    to = of if claim.to is None else pick(cases, server, claim.to)
    if of is None or to is None:
        return Compared(claim, NOT_COMPARED, server, because=LACKING_CASES)
    measured = _measured(claim, of, to)
    if measured is None:
        return Compared(claim, NOT_COMPARED, server, because=LACKING_FIGURE)
    ratio, low, high, n = measured
    verdict = verdict_on(low, high, claim)
    because = ""
    if verdict == UNDECIDED:
        because = "one repetition has no interval" if low is None else "its interval reaches out of that range"
    elif verdict == OTHER:
        because = (claim.above if ratio > _ends(claim)[1] else claim.below) + _evidence(claim, of, to)
    compared = (of,) if to is of else (of, to)
    return Compared(claim, verdict, server, ratio, low, high, n, because, compared)


def _ends(claim: PublishedClaim) -> tuple[float, float]:
    """Give the range that is taken as the published figure, infinite where it has no end."""
    low, high = claim.taken_as
    return float("-inf") if low is None else low, float("inf") if high is None else high


def _measured(
    claim: PublishedClaim, of: CaseResult, to: CaseResult
) -> tuple[float, float | None, float | None, int] | None:
    """Give the like figure, the ends of its interval, and the number of repetitions."""
    if claim.to is None:
        # Ten repetitions and more are drawn from at random: the same ones each time.
        found = of.estimate(claim.figure, seed=0)
        return None if found is None else (found.median, found.low, found.high, found.n)
    ratio = paired_in_run(of, to, FIGURES[claim.figure])
    return None if ratio is None else (ratio.ratio, ratio.low, ratio.high, ratio.n)


def _evidence(claim: PublishedClaim, of: CaseResult, to: CaseResult) -> str:
    """Tell, in brackets, by which factors other figures of the same cases differ."""
    ratios = [(FIGURES[key], paired_in_run(of, to, FIGURES[key])) for key in claim.evidence]
    told = [
        f"{figure.title[:1].lower()}{figure.title[1:]}: {ratio_text(ratio.ratio)} times"
        for figure, ratio in ratios
        if ratio is not None
    ]
    return f" ({'; '.join(told)})" if told else ""


def range_text(claim: PublishedClaim) -> str:
    """Print the range that is taken as the published figure; a dash where nothing is like it."""
    low, high = claim.taken_as
    if low is not None and high is not None:
        return f"{ratio_text(low)}{EN_DASH}{ratio_text(high)}"
    if low is not None:
        return f"{ratio_text(low)} or more"
    return "-" if high is None else f"{ratio_text(high)} or less"
