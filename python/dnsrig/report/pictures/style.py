"""One look for all pictures: palette, type, axes without clutter."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from dnsrig.report.grid import Grid
from dnsrig.report.pictures import plots

INK = "#1b1b1f"
"""Colour of text and axes; the HTML report replaces it by the page's own text colour."""
GRID = "#dcdce1"
"""Colour of grid lines; the HTML report replaces it by a colour of the page."""
MUTED = "#85858d"
WIDTH_IN = 8.4
_ROOM_IN = 0.8
"""For what stands above and below all panels."""
_PANEL_NAME_COLUMNS = 16
"""Longer names of servers go on in a second line, so that they fit the height of a panel."""
_MOST_ACROSS = 4
"""More columns than this go on in a band of panels below."""
_LEGEND_COLUMNS = 112
"""So many letters of a legend's names fit side by side, with what is before and after each."""
_LEGEND_SWATCH_COLUMNS = 7
_TITLE_COLUMNS = 84
"""So many letters of titles fit side by side; longer ones go on in a second line."""

# Okabe and Ito's palette (jfly.uni-koeln.de/color), which people with any colour vision can tell apart.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
MARKERS = ("o", "s", "D", "^", "v", "P")

_SETTINGS: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 8.5,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlesize": 9.0,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "lines.linewidth": 1.6,
    "lines.solid_capstyle": "round",
    "hatch.linewidth": 0.8,
    "legend.frameon": False,
    "svg.fonttype": "path",
}


@contextmanager
def style(salt: str = "dnsrig") -> Iterator[None]:
    """Draw in dnsrig's look within this context, whatever the user's own matplotlib settings.

    `salt` makes the ids in an SVG the same each time it is drawn.
    """
    with plots.matplotlib.rc_context():
        plots.matplotlib.rcdefaults()
        plots.matplotlib.rcParams.update({**_SETTINGS, "svg.hashsalt": salt})
        yield


def new_figure(
    height_in: float, rows: int, columns: int, *, share_x: bool = False, share_y: bool = False
) -> tuple[plots.Figure, list[list[plots.Axes]]]:
    """Return a figure of the usual width with `rows` x `columns` panels, which may share their axes."""
    figure = plots.Figure(figsize=(WIDTH_IN, height_in), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False, sharex=share_x, sharey=share_y)
    return figure, [list(row) for row in panels]


@dataclass(frozen=True, slots=True)
class Bands:
    """How columns are laid out: in bands of panels, one below the other, as even as can be."""

    columns: Sequence[str]

    @property
    def count(self) -> int:
        """How many bands there are."""
        return -(-len(self.columns) // _MOST_ACROSS)

    @property
    def across(self) -> int:
        """So many columns a band has; the last one may have fewer."""
        return -(-len(self.columns) // self.count)

    @property
    def members(self) -> list[Sequence[str]]:
        """Columns by band."""
        return [self.columns[place : place + self.across] for place in range(0, len(self.columns), self.across)]


def column_panels(
    grid: Grid, height_in: float, columns: Sequence[str], rows: int = 1, *, share_x: bool = False
) -> tuple[plots.Figure, dict[str, list[plots.Axes]]]:
    """Return a figure with `rows` panels for each of `columns`, which have titles, and the panels by column.

    `height_in` is that of a band of columns. All panels have one vertical axis, and with `share_x` one horizontal axis.
    """
    bands = Bands(columns)
    figure, panels = new_figure(
        _ROOM_IN + height_in * bands.count, rows * bands.count, bands.across, share_x=share_x, share_y=True
    )
    found: dict[str, list[plots.Axes]] = {}
    for band, members in enumerate(bands.members):
        lines = panels[band * rows : (band + 1) * rows]
        for place, column in enumerate(members):
            found[column] = [line[place] for line in lines]
            title = textwrap.wrap(grid.column_label(column), _TITLE_COLUMNS // bands.across)
            found[column][0].set_title("\n".join(title))
            # Matplotlib leaves out the labels of shared axes for all but the last line of the figure.
            found[column][-1].tick_params(axis="x", labelbottom=True)
        for axes in (axes for line in lines for axes in line[len(members) :]):
            axes.remove()
    return figure, found


def colours_of_rows(grid: Grid) -> dict[object, str]:
    """Return a colour for the key of each row of `grid`."""
    baseline = grid.rows.index(grid.baseline) if grid.baseline is not None else None
    colours = row_colours(len(grid.rows), baseline)
    return {row.key: colour for row, colour in zip(grid.rows, colours, strict=True)}


def row_colours(count: int, baseline: int | None) -> list[str]:
    """Return a colour a row; the baseline is grey, more rows than colours go from light to dark."""
    others = count - (baseline is not None)
    if others <= len(COLOURS):
        colours = list(COLOURS[:others])
    else:
        scale = plots.matplotlib.colormaps["viridis"]
        colours = [plots.matplotlib.colors.to_hex(scale(0.1 + 0.8 * index / (others - 1))) for index in range(others)]
    if baseline is not None:
        colours.insert(baseline, MUTED)
    return colours


def server_panels(
    grid: Grid, panel_height_in: float, *, share_x: bool = True
) -> tuple[plots.Figure, dict[tuple[str, str], plots.Axes]]:
    """Return a figure with a panel for each server (down) and column (across), on common axes, named once a band.

    Without `share_x` each column has a horizontal axis of its own.
    """
    figure, panels = column_panels(
        grid, panel_height_in * len(grid.servers), grid.columns, len(grid.servers), share_x=share_x
    )
    if not share_x:
        for lines in panels.values():
            for axes in lines[:-1]:
                axes.sharex(lines[-1])
                axes.tick_params(axis="x", labelbottom=False)
    for members in Bands(grid.columns).members:
        for axes, server in zip(panels[members[0]], grid.servers, strict=True):
            name = textwrap.fill(grid.titles[server], _PANEL_NAME_COLUMNS)
            axes.set_ylabel(name, fontweight="bold", fontsize="small")
    return figure, {
        (server, column): axes
        for column, lines in panels.items()
        for server, axes in zip(grid.servers, lines, strict=True)
    }


def legend_of_rows(figure: plots.Figure, grid: Grid, *others: plots.Artist) -> None:
    """Name the colours of rows, and `others`, above the panels."""
    colours = colours_of_rows(grid)
    handles: list[plots.Artist] = [plots.Patch(facecolor=colours[row.key], label=row.label) for row in grid.rows]
    every = [*handles, *others]
    columns = _legend_columns([str(one.get_label()) for one in every])
    figure.legend(handles=every, loc="outside upper left", ncols=columns, handlelength=1.2)


def _legend_columns(labels: Sequence[str]) -> int:
    """Give how many names of a legend fit side by side; the legend fills column after column."""
    for columns in range(min(8, len(labels)), 1, -1):
        deep, longer = divmod(len(labels), columns)
        ends = list(itertools.accumulate([deep + 1] * longer + [deep] * (columns - longer), initial=0))
        widest = sum(max(map(len, labels[start:end])) for start, end in itertools.pairwise(ends))
        if widest + _LEGEND_SWATCH_COLUMNS * columns <= _LEGEND_COLUMNS:
            return columns
    return 1


def axis_number(value: float, _position: float) -> str:
    """Print a number beside a tick: thousands separated, no needless zeros."""
    return f"{value:,.0f}" if abs(value) >= 10 or value == 0 else f"{value:g}"


def bare(axes: plots.Axes) -> None:
    """Take away the vertical axis's line and ticks, where labels say enough."""
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
