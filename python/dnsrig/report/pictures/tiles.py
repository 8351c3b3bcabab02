"""A table as coloured tiles, a panel for each server: where something works and where it does not, at a glance."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dnsrig.report.pictures import plots
from dnsrig.report.pictures.style import INK, new_figure

WELL, PLAIN, PARTLY, BADLY = "#a9dcc3", "#bcd9f0", "#fbdc9a", "#f4b7a3"
"""Tiles from good to bad: tints of the palette that any colour vision tells apart, the same on light and dark pages."""
_TEXT = "#101014"
"""On tiles, which stay as light as they are on a dark page, where `style.INK` becomes light."""
_TILES_ACROSS = 8
_LETTERS_ACROSS = 8 * 13
"""As many tiles and letters have room side by side."""
_TILE_IN = 0.21
_ROOM_IN = 0.55
"""Above each band of panels, for titles and names of columns."""


@dataclass(frozen=True, slots=True)
class Tile:
    """One cell: a few letters, and its colour; None is a cell about which nothing is known."""

    text: str
    colour: str | None


@dataclass(frozen=True, slots=True)
class Panel:
    """The tiles of one server, line by line."""

    title: str
    lines: Sequence[Sequence[Tile]]


def draw_tiles(
    panels: Sequence[Panel], lines: Sequence[str], columns: Sequence[str], legend: Mapping[str, str]
) -> plots.Figure:
    """Draw a panel for each server; all have the same `lines` and `columns`. `legend` names colours."""
    longest = max(len(tile.text) for panel in panels for tiles in panel.lines for tile in tiles)
    room = min(_TILES_ACROSS, _LETTERS_ACROSS // longest)
    across = min(len(panels), max(1, room // len(columns)))
    down = math.ceil(len(panels) / across)
    height = 0.3 + down * (_ROOM_IN + _TILE_IN * len(lines))
    figure, places = new_figure(height, down, across, share_x=True, share_y=True)
    every = [place for band in places for place in band]
    for axes, panel in zip(every, panels, strict=False):
        _draw_panel(axes, panel)
        axes.set_title(panel.title)
        axes.set_xticks([place + 0.5 for place in range(len(columns))], columns)
        axes.set_yticks(range(len(lines)), lines)
        axes.set_xlim(0, len(columns))
        axes.set_ylim(len(lines) - 0.5, -0.5)
        axes.tick_params(length=0, labelbottom=False, labeltop=True)
        axes.grid(visible=False)
        for spine in axes.spines.values():
            spine.set_visible(False)
    for axes in every[len(panels) :]:
        axes.set_visible(False)
    handles: list[plots.Artist] = [plots.Patch(facecolor=colour, label=name) for colour, name in legend.items()]
    figure.legend(handles=handles, loc="outside upper left", ncols=len(legend), handlelength=1.2)
    return figure


def _draw_panel(axes: plots.Axes, panel: Panel) -> None:
    for line, tiles in enumerate(panel.lines):
        for place, tile in enumerate(tiles):
            if tile.colour is not None:
                axes.barh(line, 0.97, 0.9, place, align="center", color=tile.colour)
            ink = INK if tile.colour is None else _TEXT
            axes.text(place + 0.485, line, tile.text, color=ink, fontsize=6.5, ha="center", va="center")
