"""Many answers of one kind are a table; few are sentences."""

import pytest
from dnsrig.report.answer_tables import FEWEST, as_tables

TITLE = "Validation makes these so many times as much"
LATE = "some queries were sent late (1 of 3)"


def answer(server: str, asked: str, table: str = TITLE, *marked: str) -> dict[str, object]:
    return {
        **{"server": server, "server_title": server.upper(), "table": table, "asked": asked, "marked": marked},
        **{"short": "1.5", "short_detail": "1.4 to 1.6, n = 3"},
    }


@pytest.mark.parametrize("count", [0, 1, FEWEST - 1])
def test_few_answers_are_sentences(count: int) -> None:
    few = [answer("bind", f"figure {number}") for number in range(count)]
    assert as_tables(few) == (few, [])


def test_answers_without_a_title_are_sentences_however_many() -> None:
    many = [answer("bind", f"figure {number}", "") for number in range(2 * FEWEST)]
    assert as_tables(many) == (many, [])


def test_a_table_has_a_row_for_each_figure_and_a_column_for_each_server() -> None:
    alone = answer("bind", "", "")
    many = [answer(server, asked) for asked in ("CPU", "memory", "latency") for server in ("bind", "unbound")]
    # Of one server a case was not measured.
    sentences, (table,) = as_tables([alone, *many[:-1]])
    assert sentences == [alone]
    assert (table.title, table.header, table.notes) == (TITLE, ("", "BIND", "UNBOUND"), ())
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["CPU", "1.5", "1.5"],
        ["memory", "1.5", "1.5"],
        ["latency", "1.5", "-"],
    ]


def test_tainted_answers_are_marked_and_each_reason_is_said_once() -> None:
    many = [answer("bind", f"figure {number}", TITLE, LATE) for number in range(2)]
    many += [answer("unbound", f"figure {number}", TITLE, *([LATE] if number else [])) for number in range(3)]
    _, (table,) = as_tables(many)
    assert [[cell.mark for cell in row] for row in table.rows] == [["", "*", ""], ["", "*", "*"], ["", "", "*"]]
    assert table.notes == (("*", f"BIND, UNBOUND: {LATE}"),)
