"""Comparison of a server with itself (A/A): two instances of one server in one run must not differ."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dnsrig.report.cases import CaseResult, servers_of
from dnsrig.report.figures import Figure
from dnsrig.report.statistics import RatioEstimate, paired_ratio
from dnsrig.report.verdicts import HIGHER, LOWER, Judgement, compared_ratios, judge


@dataclass(frozen=True, slots=True)
class IdenticalPair:
    """Two instances of one server, such as `nsd` and `nsd#2`, and what their comparison found."""

    first: str
    second: str
    judgement: Judgement

    @property
    def text(self) -> str:
        """The verdict in one or more sentences."""
        names = f"{self.first} and {self.second} are the same server measured twice (A/A)"
        if not self.judgement.decidable:
            return f"{names}; one repetition is too few to compare them."
        if not self.judgement.differs:
            worst = "; ".join(item.as_json()["text"] for item in self.judgement.overall)
            return f"{names}, and the run reports no difference between them. Over all cases: {worst}."
        differing = [
            f"{item.as_json()['text']}" + (f" in case {item.case_id}" if item.case_id else " over all cases")
            for item in (*self.judgement.overall, *self.judgement.cases)
            if item.direction in {HIGHER, LOWER}
        ]
        return (
            f"{names}, yet the run reports differences: {'; '.join(differing)}. Differences of this size "
            "between unlike servers in this run may have the same unknown cause."
        )

    def as_json(self) -> dict[str, Any]:
        """Return the comparison as it stands in `summary.json`."""
        return {
            "servers": [self.first, self.second],
            "differs": self.judgement.differs,
            "text": self.text,
            "overall": [verdict.as_json() for verdict in self.judgement.overall],
            "cases": [verdict.as_json() for verdict in self.judgement.cases],
        }


def identical_pairs(cases: Sequence[CaseResult]) -> list[IdenticalPair]:
    """Compare every further instance of a server with its first one, repetition by repetition."""
    found = []
    labels = servers_of(cases)
    programs = {case.server: case.program for case in cases}
    for second in labels:
        first = next(label for label in labels if programs[label] == programs[second])
        if first != second:
            pairs = _matching_cases(cases, first, second)
            found.append(IdenticalPair(first, second, judge(compared_ratios(pairs, paired_in_run))))
    return found


def paired_in_run(first: CaseResult, second: CaseResult, figure: Figure) -> RatioEstimate | None:
    """Compare a figure of two cases of one run."""
    return paired_ratio(first.by_repetition(figure), second.by_repetition(figure))


def _matching_cases(cases: Sequence[CaseResult], first: str, second: str) -> list[tuple[CaseResult, CaseResult]]:
    def place(case: CaseResult) -> str:
        return repr(sorted((key, str(value)) for key, value in case.case.items() if key != "server"))

    others = {place(case): case for case in cases if case.server == second}
    return [(case, others[place(case)]) for case in cases if case.server == first and place(case) in others]
