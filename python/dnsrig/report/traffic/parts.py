"""Of what a description of traffic consists, on a terminal as on a page."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Facts:
    """Figures with a name each; one without a name goes on with the one before."""

    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under the names of columns; all but the first align right."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


Part = Facts | Table
