"""Sentences with numbers, generated from the ratios that a study asks about."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dnsrig.report.cases import CaseResult, servers_of
from dnsrig.report.figures import FIGURES, short_number
from dnsrig.report.identical import paired_in_run
from dnsrig.report.layout import RatioQuestion, StudyText
from dnsrig.report.statistics import SIGNIFICANCE, RatioEstimate
from dnsrig.report.verdicts import percent


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one of a study's questions for one server."""

    question: RatioQuestion
    server: str
    ratio: RatioEstimate
    text: str
    tainted: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the answer as it stands in `summary.json`."""
        ratio = self.ratio
        return {
            "figure": self.question.figure,
            "server": self.server,
            "of": dict(self.question.of),
            "to": dict(self.question.to),
            "ratio": ratio.ratio,
            "ci95": None if ratio.low is None or ratio.high is None else [ratio.low, ratio.high],
            "n": ratio.n,
            "text": self.text,
            "tainted": list(self.tainted),
        }


def answers(text: StudyText, cases: Sequence[CaseResult], titles: Mapping[str, str]) -> list[Answer]:
    """Answer the study's questions for every server that has the cases for it, question by question.

    `titles` gives the words for a server's label ("BIND 9"); labels without one are shown as they are.
    """
    found = []
    for question in text.questions:
        for server in servers_of(cases):
            answer = _answer(question, server, cases, titles.get(server, server))
            if answer is not None:
                found.append(answer)
    return found


def _answer(question: RatioQuestion, server: str, cases: Sequence[CaseResult], title: str) -> Answer | None:
    of = _pick(cases, server, question.of)
    to = _pick(cases, server, question.to)
    if of is None or to is None:
        return None
    ratio = paired_in_run(of, to, FIGURES[question.figure])
    if ratio is None:
        return None
    reasons = tuple(dict.fromkeys(str(taint) for case in (of, to) for taint in case.taints))
    sentence = _sentence(question, title, ratio)
    if reasons:
        sentence = f"{sentence} Tainted: {'; '.join(reasons)}."
    return Answer(question, server, ratio, sentence, reasons)


def _sentence(question: RatioQuestion, title: str, ratio: RatioEstimate) -> str:
    if ratio.low is None or ratio.high is None or ratio.p is None:
        words = question.sentence.format(server=title, ratio=short_number(ratio.ratio))
        return f"{words} (one repetition, so no interval)."
    if ratio.p > SIGNIFICANCE:
        words = question.no_difference.format(server=title)
        return f"{words} (no difference above {percent(ratio.largest_compatible or 0)} %, n = {ratio.n})."
    words = question.sentence.format(server=title, ratio=short_number(ratio.ratio))
    low, high = short_number(ratio.low), short_number(ratio.high)
    return f"{words} (95 % interval {low} to {high}, n = {ratio.n})."


def _pick(cases: Sequence[CaseResult], server: str, values: Mapping[str, object]) -> CaseResult | None:
    matching = [case for case in cases if case.server == server and case.matches(values)]
    return matching[0] if len(matching) == 1 else None
