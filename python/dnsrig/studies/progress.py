"""What a running study tells whoever watches it."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Step:
    """One finished measurement: where the run stands, and the first figures of a load, or the time that work took."""

    done: int
    total: int
    case_id: str
    repetition: int
    tainted: bool
    qps: float | None = None
    server_cpu_us_per_query: float | None = None
    wall_s: float | None = None
    said: str = ""
    """What came of it, where no figure says that."""
    left_s: float | None = None
    """About how long the rest of the run takes, where the study can tell."""


class Watcher(Protocol):
    """Receives the course of a run; the command line prints it."""

    def phase(self, text: str) -> None:
        """Hear what is being done now."""

    def note(self, text: str) -> None:
        """Hear, once, what is going to happen, such as how long it takes."""

    def step(self, step: Step) -> None:
        """Hear of a finished measurement."""

    def problem(self, text: str) -> None:
        """Hear of something that the user should know now, such as a case that could not be measured."""
