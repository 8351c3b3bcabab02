"""Tiles of verdicts: all of a full matrix has room, in its panel and for its text."""

import itertools

import pytest
from dnsrig.report.pictures.style import style
from dnsrig.report.pictures.tiles import BADLY, PARTLY, PLAIN, WELL, Panel, Tile, draw_tiles

LINES = [f"fragments dropped, {anchor}anchor, DO {do}" for anchor in ("", "no ") for do in (0, 1)] * 5
LEGEND = {WELL: "validates", PLAIN: "resolves", PARTLY: "in part", BADLY: "fails"}


@pytest.mark.parametrize("servers", [1, 2, 3, 4])
@pytest.mark.parametrize("keys", [1, 2, 4])
def test_texts_stay_in_their_tiles_and_panels_apart(servers, keys):
    columns = ["unsigned", "RSA 1024", "RSA 2048", "ECDSA P-256"][:keys]
    tiles = [Tile("validates", WELL), Tile("resolves", PLAIN), Tile("109 of 120 secure", PARTLY), Tile("-", None)][
        :keys
    ]
    titles = ["BIND 9 (named)", "Knot Resolver (kresd)", "PowerDNS Recursor", "Unbound"][:servers]
    panels = [Panel(title, [tiles] * len(LINES)) for title in titles]
    with style():
        figure = draw_tiles(panels, LINES, columns, LEGEND)
        figure.draw_without_rendering()
        drawn = [axes for axes in figure.axes if axes.get_visible()]
        assert len(drawn) == servers
        for axes in drawn:
            texts = [text.get_window_extent() for text in axes.texts]
            tiles_of = {(round(patch.get_x()), round(patch.get_y() + 0.45)): patch for patch in axes.patches}
            for text in axes.texts:
                place = int(text.get_position()[0]), int(text.get_position()[1])
                tile = tiles_of.pop(place, None)
                assert (tile is None) == (text.get_text() == "-")
                if tile is not None:
                    box, room = text.get_window_extent(), tile.get_window_extent()
                    assert room.x0 <= box.x0 < box.x1 <= room.x1, text.get_text()
                    assert room.y0 <= box.y0 < box.y1 <= room.y1, text.get_text()
            assert not tiles_of
            assert len(texts) == keys * len(LINES)
            assert not any(a.overlaps(b) for a, b in itertools.pairwise(texts))
            names = [label.get_window_extent() for label in axes.get_xticklabels()]
            assert not any(a.overlaps(b) for a, b in itertools.pairwise(names))
            assert all(axes.get_window_extent().x0 <= box.x0 and box.x1 <= figure.bbox.x1 for box in texts)
        heads = [axes.title.get_window_extent() for axes in drawn]
    assert not any(a.overlaps(b) for place, a in enumerate(heads) for b in heads[:place])
