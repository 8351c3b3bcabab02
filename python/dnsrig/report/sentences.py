"""Sentences with numbers, generated from the ratios that a study asks about."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dnsrig.report.cases import CaseResult, Taint, is_disturbed, servers_of, shared_taints
from dnsrig.report.figures import FIGURES, ratio_text
from dnsrig.report.identical import paired_in_run
from dnsrig.report.layout import RatioQuestion, StudyText
from dnsrig.report.statistics import SIGNIFICANCE, RatioEstimate
from dnsrig.report.verdicts import no_difference


@dataclass(frozen=True, slots=True)
class _Said:
    """What is claimed, and what it rests on, in a sentence and in a table."""

    claim: str
    detail: str
    short: str
    short_detail: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one of a study's questions for one server."""

    question: RatioQuestion
    server: str
    title: str
    """The server's, in words."""
    ratio: RatioEstimate
    said: _Said
    tainted: tuple[str, ...]
    marked: tuple[str, ...]
    """Those of `tainted` that not all cases of the run share."""

    @property
    def text(self) -> str:
        """The answer as one sentence, with its interval, and a second one if it is marked as tainted."""
        sentence = f"{self.said.claim} ({self.said.detail})."
        return f"{sentence} Tainted: {'; '.join(self.marked)}." if self.marked else sentence

    def as_json(self) -> dict[str, Any]:
        """Return the answer as it stands in `summary.json`."""
        ratio = self.ratio
        return {
            "figure": self.question.figure,
            "server": self.server,
            "server_title": self.title,
            "table": self.question.table,
            "asked": self.question.asked,
            "of": dict(self.question.of),
            "to": dict(self.question.to),
            "ratio": ratio.ratio,
            "ci95": None if ratio.low is None or ratio.high is None else [ratio.low, ratio.high],
            "n": ratio.n,
            "claim": self.said.claim,
            "detail": self.said.detail,
            "short": self.said.short,
            "short_detail": self.said.short_detail,
            "text": self.text,
            "tainted": list(self.tainted),
            "marked": list(self.marked),
        }


def answers(text: StudyText, cases: Sequence[CaseResult], titles: Mapping[str, str]) -> list[Answer]:
    """Answer the study's questions for every server that has the cases for it, question by question.

    `titles` gives the words for a server's label ("BIND 9"); labels without one are shown as they are.
    """
    found = []
    shared = shared_taints(cases)
    for usual in text.questions:
        question = usual.if_disturbed if usual.if_disturbed is not None and is_disturbed(shared) else usual
        for server in servers_of(cases):
            answer = _answer(question, server, cases, titles.get(server, server), shared)
            if answer is not None:
                found.append(answer)
    return found


def _answer(
    question: RatioQuestion, server: str, cases: Sequence[CaseResult], title: str, shared: Sequence[str]
) -> Answer | None:
    of = pick(cases, server, question.of)
    to = pick(cases, server, question.to)
    if of is None or to is None:
        return None
    ratio = paired_in_run(of, to, FIGURES[question.figure])
    if ratio is None:
        return None
    said = _said(question, title, ratio)
    taints = [*of.taints, *to.taints]
    marked = merged(taint for taint in taints if taint.reason not in shared)
    return Answer(question, server, title, ratio, said, tuple(merged(taints)), tuple(marked))


def merged(taints: Iterable[Taint]) -> list[str]:
    """Print each reason once, with the repetitions of all cases that have it added up."""
    by_reason: dict[str, Taint] = {}
    for taint in taints:
        so_far = by_reason.get(taint.reason, Taint(taint.reason, 0, 0))
        by_reason[taint.reason] = Taint(taint.reason, so_far.repetitions + taint.repetitions, so_far.of + taint.of)
    return [str(taint) for taint in by_reason.values()]


def _said(question: RatioQuestion, title: str, ratio: RatioEstimate) -> _Said:
    orders, times = f"{math.log10(ratio.ratio):.1f}", ratio_text(ratio.ratio)
    claim = question.sentence.format(server=title, ratio=times, orders=orders)
    if ratio.low is None or ratio.high is None or ratio.p is None:
        return _Said(claim, "one repetition, so no interval", times, "n = 1")
    if ratio.p > SIGNIFICANCE:
        said = no_difference(ratio)
        return _Said(question.no_difference.format(server=title), f"{said}, n = {ratio.n}", said, f"n = {ratio.n}")
    interval = f"{ratio_text(ratio.low)} to {ratio_text(ratio.high)}, n = {ratio.n}"
    return _Said(claim, f"95 % interval {interval}", times, interval)


def pick(cases: Sequence[CaseResult], server: str, values: Mapping[str, object]) -> CaseResult | None:
    """Return the one case of a server that has these values; None if there is none, or several."""
    matching = [case for case in cases if case.server == server and case.matches(values)]
    return matching[0] if len(matching) == 1 else None
