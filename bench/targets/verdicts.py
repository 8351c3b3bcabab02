"""What a target asks, what was reached, and how that is printed."""

from collections.abc import Sequence
from dataclasses import dataclass

NO_TARGET = "-"
WORDS = {True: "met", False: "**missed**", None: "not shown here"}


@dataclass(frozen=True, slots=True)
class Verdict:
    """One target against what was reached."""

    row: int
    """Row of the table of targets in issue 3, from 1."""
    subject: str
    what: str
    target: str
    reached: str
    met: bool | None
    """None: this machine does not permit what would show it."""
    note: str = ""
    """What a reader must know to judge the figure."""

    @property
    def said(self) -> str:
        """Say whether the target is met; a figure without one has `-` for it."""
        return "no target" if self.target == NO_TARGET else WORDS[self.met]


def at_least(bound: float, reached: float) -> bool:
    """Judge a figure that must be large."""
    return reached >= bound


def at_most(bound: float, reached: float) -> bool:
    """Judge a figure that must be small."""
    return reached <= bound


def table(verdicts: Sequence[Verdict]) -> str:
    """Lay verdicts out as a Markdown table."""
    lines = ["| row | against | what | target | reached | |", "|---:|---|---|---|---|---|"]
    for verdict in verdicts:
        said = verdict.said
        judged = f"{said}; {verdict.note}" if verdict.note else said
        cells = (str(verdict.row), verdict.subject, verdict.what, verdict.target, verdict.reached, judged)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
