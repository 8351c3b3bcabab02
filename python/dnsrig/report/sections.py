"""Parts of a report that a study makes itself, where rows and columns of one table do not hold its cases."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dnsrig.report.grid import Grid
from dnsrig.report.notes import Notes
from dnsrig.report.tables import Table

if TYPE_CHECKING:
    # Importing it takes half a second (pictures/plots.py).
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture to be drawn: the name of its files, its caption, and the function that draws it."""

    name: str
    caption: str
    draw: Callable[[], Figure]
    has_letters: bool = False
    """Whether letters in it refer to the notes on tainted cases, which have to stand below it then."""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with paragraphs, pictures, tables and remarks below them, in this order."""

    title: str
    paragraphs: tuple[str, ...] = ()
    drawings: tuple[Drawing, ...] = ()
    tables: tuple[Table, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Findings:
    """What sections are made of: the run's cases, its notes on tainted ones, and the facts in its manifest."""

    grid: Grid
    notes: Notes
    facts: Mapping[str, Any] = field(default_factory=dict)
