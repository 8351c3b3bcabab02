"""Answers that are too many to be read as sentences: a table of what was asked, a column for each server."""

from collections.abc import Mapping, Sequence
from typing import Any

from dnsrig.report.tables import Cell, Table

FEWEST = 5
"""Fewer answers of one kind are read as sentences."""
MARK = "*"
_MISSING = "-"
Answers = Sequence[Mapping[str, Any]]
"""As they stand in `summary.json`."""


def as_tables(answers: Answers) -> tuple[list[Mapping[str, Any]], list[Table]]:
    """Part answers into those that remain sentences, and tables of those that have the words for one."""
    by_title: dict[str, list[Mapping[str, Any]]] = {}
    for answer in answers:
        by_title.setdefault(answer.get("table", ""), []).append(answer)
    tabled = {title for title, some in by_title.items() if title and len(some) >= FEWEST}
    sentences = [answer for answer in answers if answer.get("table", "") not in tabled]
    return sentences, [_table(title, some) for title, some in by_title.items() if title in tabled]


def _table(title: str, answers: Answers) -> Table:
    servers = {answer["server"]: answer["server_title"] for answer in answers}
    asked = dict.fromkeys(answer["asked"] for answer in answers)
    cells = {(answer["asked"], answer["server"]): _cell(answer) for answer in answers}
    rows = [(Cell(what), *(cells.get((what, server), Cell(_MISSING)) for server in servers)) for what in asked]
    reasons = _reasons(answers)
    return Table(title, ("", *servers.values()), tuple(rows), notes=((MARK, "; ".join(reasons)),) if reasons else ())


def _cell(answer: Mapping[str, Any]) -> Cell:
    return Cell(answer["short"], answer["short_detail"], MARK if answer["marked"] else "")


def _reasons(answers: Answers) -> list[str]:
    """Give each reason once, with the servers that have it."""
    servers: dict[str, dict[str, None]] = {}
    for answer in answers:
        for reason in answer["marked"]:
            servers.setdefault(reason, {})[answer["server_title"]] = None
    return [f"{', '.join(titles)}: {reason}" for reason, titles in servers.items()]
