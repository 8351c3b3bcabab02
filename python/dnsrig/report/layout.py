"""What a study tells the report: its words, and how its cases lie in tables.

A study hands `dnsrig.report.build.build_report` one `StudyText`. Nothing else in `report/` knows what a
study varies: "denial" or "iterations" are keys of a measurement's `case`, named here by an `Axis`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dnsrig.report.sections import Findings, Section


@dataclass(frozen=True, slots=True)
class Axis:
    """One thing that varies between the cases of a study.

    `key` is the key in a measurement's `case`. `labels` gives the words for its values in the order in
    which they are shown; values without a label follow, sorted, and are shown as they are. A `numeric`
    axis of rows (such as NSEC3 iterations) is drawn as curves; its values must be numbers.
    """

    key: str
    title: str
    labels: Mapping[str, str] = field(default_factory=dict)
    numeric: bool = False

    def label(self, value: object) -> str:
        """Return the words for `value`."""
        return self.labels.get(str(value), str(value))

    def ordered(self, values: Iterable[object]) -> list[object]:
        """Return the different `values` in the order in which they are shown."""
        labelled = {name: position for position, name in enumerate(self.labels)}
        different = {str(value): value for value in values}.values()

        def place(value: object) -> tuple[int, float, str]:
            number = float(value) if isinstance(value, int | float) else 0.0
            return labelled.get(str(value), len(labelled)), number, str(value)

        return sorted(different, key=place)


SERVER_AXIS = Axis("server", "Server")
"""The axis that every study has; a second instance of the same server is called `nsd#2`."""


@dataclass(frozen=True, slots=True)
class RatioQuestion:
    """A question that the study asks of each server: how one case's figure compares with another's.

    `figure` is a key of `dnsrig.report.figures.FIGURES`. `of` and `to` are the values of `case` that pick
    the two cases, besides the server. `sentence` holds `{server}` and `{ratio}` ("2.1"), and may hold `{orders}`,
    the ratio's orders of magnitude ("0.3"); the report adds the interval. `no_difference` holds `{server}`, and is
    said when the run saw none. The answers to a study's first questions stand in the report's first lines.
    `if_disturbed` is asked instead where other programs used the machine in every case. Where the run answers many
    questions of one `table`, which is its title, they are shown as that: in the row `asked`, a column for each server.
    """

    figure: str
    of: Mapping[str, object]
    to: Mapping[str, object]
    sentence: str
    no_difference: str
    if_disturbed: RatioQuestion | None = None
    table: str = ""
    asked: str = ""


@dataclass(frozen=True, slots=True)
class PublishedFigures:
    """One published table: `values` by (row value, column value), both as text, in the figure's unit."""

    figure: str
    label: str
    values: Mapping[tuple[str, str], float]


@dataclass(frozen=True, slots=True)
class PublishedClaim:
    """A published figure, and which figure of a run is like it.

    The like figure is the ratio of `figure` (a key of `dnsrig.report.figures.FIGURES`) in the case that `of` picks to
    that in the case that `to` picks; without `to` it is the figure itself, which is a ratio already. Within
    `taken_as` it is as published; None: on that side there is no end. Where no figure of the study is like it,
    `lacking` says why.
    """

    study: str
    """The published study's short name, such as `JPRS-2010`."""
    keys: tuple[str, ...]
    """Where it stands in that study's file in `published/`: names of tables and keys, with dots between them."""
    what: str
    """What it is, in running text, such as "rate with validation to that without"."""
    said: str
    """The figure as published."""
    figure: str = ""
    of: Mapping[str, object] = field(default_factory=dict)
    to: Mapping[str, object] | None = None
    taken_as: tuple[float | None, float | None] = (None, None)
    above: str = ""
    """Why a figure above that range is no surprise, to follow "because"."""
    below: str = ""
    """Why one below it is none."""
    evidence: tuple[str, ...] = ()
    """Keys of figures whose ratio of the same cases is told with the reason."""
    lacking: str = ""
    """Why there is no like figure, to follow "because"; then the fields from `figure` on say nothing."""


@dataclass(frozen=True, slots=True)
class StudyText:
    """A study's words and the layout of its tables.

    Attributes:
        name: the study's name on the command line, such as `denial-cost`.
        title: one line.
        question: what the study asks, in plain words.
        method: paragraphs: what is built, sent, measured and how often.
        source: the published study that this one repeats, as a citation.
        rows: the axis down the side of each server's table.
        columns: the axis across.
        baseline: the value of `rows` that ratios refer to (such as `none`, the unsigned zone).
        baseline_label: its name in running text, such as "the unsigned zone".
        questions: what is answered in the first lines, server by server.
        unanswered: where none of the questions can be answered, what to choose on the command line for that.
        published: figures to print beside the measured ones.
        published_note: what the reader must know before comparing them.
        claims: published figures that get a verdict each: as published, or other, and why.
        limits: what this run cannot tell, one sentence or two each.
        sections: makes the results instead of the tables and pictures of rows and columns; what happened in every
            case is told in any event.
        subject: what the programs under test are: server, or signer.

    """

    name: str
    title: str
    question: str
    method: tuple[str, ...]
    source: str
    rows: Axis
    columns: Axis
    baseline: str
    baseline_label: str
    questions: tuple[RatioQuestion, ...] = ()
    unanswered: str = ""
    published: tuple[PublishedFigures, ...] = ()
    published_note: str = ""
    claims: tuple[PublishedClaim, ...] = ()
    limits: tuple[str, ...] = ()
    sections: Callable[[Findings], Sequence[Section]] | None = None
    subject: str = "server"
