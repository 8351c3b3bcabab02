"""Footnotes: every tainted figure carries a letter, and the letter's reason stands beside it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from string import ascii_lowercase

from dnsrig.report.cases import CaseResult, is_disturbed

GENERATOR_BOUND = "generator"
AT_LEAST = "\N{GREATER-THAN OR EQUAL TO}"


@dataclass(slots=True)
class Notes:
    """Gives each reason for distrust one letter for a whole report; the same reason keeps its letter.

    Reasons that all cases share are said once, at the report's beginning, and mark no figure.
    """

    letters: dict[str, str] = field(default_factory=dict)
    shared: frozenset[str] = frozenset()

    @property
    def all_disturbed(self) -> bool:
        """Whether other programs used the machine in every case, so that times tell little and no case stands out."""
        return is_disturbed(self.shared)

    def mark(self, case: CaseResult) -> str:
        """Return the letters of a case's taints, such as `a,c`; "" for a case without."""
        return ",".join(self._letter(taint.reason) for taint in case.taints if taint.reason not in self.shared)

    def reasons(self, cases: Iterable[CaseResult]) -> list[tuple[str, str]]:
        """Return (letter, reason) of all taints of `cases`, by letter."""
        reasons = dict.fromkeys(taint.reason for case in cases for taint in case.taints)
        found = {self._letter(reason): reason for reason in reasons if reason not in self.shared}
        return sorted(found.items(), key=lambda entry: (len(entry[0]), entry[0]))

    def _letter(self, reason: str) -> str:
        if reason not in self.letters:
            number = len(self.letters)
            repeats, position = divmod(number, len(ascii_lowercase))
            self.letters[reason] = ascii_lowercase[position] * (repeats + 1)
        return self.letters[reason]


def rate_is_lower_bound(case: CaseResult) -> bool:
    """Say whether the generator was the bottleneck, so that the server could have answered more."""
    return case.bottleneck == GENERATOR_BOUND
