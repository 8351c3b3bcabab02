"""Panels of many columns go on in bands below, so that titles stay apart."""

from types import SimpleNamespace

import pytest
from dnsrig.report.pictures.style import Bands, server_panels, style


@pytest.mark.parametrize(
    ("count", "lengths"), [(1, [1]), (4, [4]), (5, [3, 2]), (8, [4, 4]), (9, [3, 3, 3]), (11, [4, 4, 3])]
)
def test_bands_are_as_even_as_can_be(count, lengths):
    columns = [str(number) for number in range(count)]
    bands = Bands(columns)
    assert [len(members) for members in bands.members] == lengths
    assert [column for members in bands.members for column in members] == columns


def test_titles_of_many_columns_do_not_overlap():
    columns = [f"queries of kind {number} at a rate that is given" for number in range(7)]
    servers = ["one", "two"]
    grid = SimpleNamespace(
        columns=columns, servers=servers, titles={"one": "One", "two": "Two"}, column_label=lambda column: column
    )
    with style():
        figure, panels = server_panels(grid, 1.5)
        figure.draw_without_rendering()
        assert set(panels) == {(server, column) for server in servers for column in columns}
        boxes = [panels["one", column].title.get_window_extent() for column in columns]
        panes = [axes.get_window_extent() for axes in panels.values()]
    assert not any(a.overlaps(b) for place, a in enumerate(boxes) for b in boxes[:place])
    assert not any(a.overlaps(b) for place, a in enumerate(panes) for b in panes[:place])
    assert all(box.x1 <= figure.bbox.x1 for box in boxes)
