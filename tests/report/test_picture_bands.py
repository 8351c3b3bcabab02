"""Panels of many columns go on in bands below, so that titles stay apart."""

from types import SimpleNamespace

import pytest
from dnsrig.report.pictures.series import draw_series
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


def test_each_column_of_loads_over_time_is_as_long_as_its_own_loads():
    longest = {"short": 5.0, "long": 30.0}
    columns, servers = list(longest), ["one", "two"]
    cases = {
        (server, column): SimpleNamespace(case_id=f"{server}-{column}", taints=())
        for server in servers
        for column in columns
    }
    grid = SimpleNamespace(
        columns=columns,
        servers=servers,
        titles={"one": "One", "two": "Two"},
        column_label=lambda column: column,
        cases=list(cases.values()),
        rows=[SimpleNamespace(key="row", label="row")],
        baseline=None,
        cell=lambda server, row, column: cases[server, column],
    )

    def lines_of(case):
        return [((1.0, longest[case.case_id.partition("-")[2]]), (1.0, 2.0))]

    with style():
        figure = draw_series(grid, "some figure", lines_of)
        figure.draw_without_rendering()
    ends = [axes.get_xlim()[1] for axes in figure.axes]
    for axes, end in zip(figure.axes, ends, strict=True):
        last = max(line.get_xdata()[-1] for line in axes.get_lines())
        assert last <= end < 1.2 * last
