"""Notices that a resolver has stopped answering while a load goes on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dnsrig.errors import SubjectFailedError

SILENT_S = 15.0
"""Longer than clients wait for an answer, so that no query can still be answered that was sent before the silence."""


@dataclass(slots=True)
class Silence:
    """Hears of a load second by second; `title` names the resolver."""

    title: str
    answered: int = 0
    outstanding: int = 0
    """Queries that were sent and have neither been answered nor given up."""
    silent_s: float = 0.0
    """How long it has not answered now, although there were queries."""
    since_s: float = 0.0
    """When in the load that began."""

    def note(self, row: Mapping[str, Any]) -> None:
        """Take the figures of an interval of the load."""
        sent, answered, timed_out = (row.get(key, 0) for key in ("sent", "answered", "timed_out"))
        self.outstanding += sent - answered - timed_out - row.get("refused", 0)
        if answered:
            self.answered += answered
            self.silent_s = 0.0
        elif self.outstanding > 0 or sent or timed_out:
            if not self.silent_s:
                self.since_s = row.get("start_s", 0.0)
            self.silent_s += row.get("length_s", 1.0)

    def refuse(self) -> None:
        """Raise SubjectFailedError if nothing has been answered for `SILENT_S`."""
        if self.silent_s >= SILENT_S:
            raise SubjectFailedError(f"{self.said}; the load was given up")

    @property
    def said(self) -> str:
        """Say how long it has not answered."""
        return (
            f"{self.title} has stopped answering: nothing in {self.silent_s:.0f} s, from second {self.since_s:.0f} of "
            f"the load on, {self.answered:,} answers before"
        )
