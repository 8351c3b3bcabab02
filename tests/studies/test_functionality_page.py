"""docs/studies/functionality.md is of a run with the items that there are today."""

import re
from pathlib import Path

import pytest
from dnsrig.items.catalogue import items
from dnsrig.studies.functionality.published import published_items
from dnsrig.studies.functionality.summary import ROLE_WORDS
from dnsrig.verification.item import ROLES

PAGE = Path(__file__).parents[2] / "docs" / "studies" / "functionality.md"
ROW = re.compile(r"^\| ([A-Z][\w-]*) \| (.+?) \| (notice|warning|error|critical) \|", re.MULTILINE)


def rows_of(role):
    """Give ids, requirements and severities in the tables of a role, below the headline of all items."""
    every = PAGE.read_text().partition("\n## Every item\n")[2].partition("\n## ")[0]
    sections = {text.partition("\n")[0].lower(): text for text in every.split("\n### ")[1:]}
    return ROW.findall(sections[ROLE_WORDS[role].lower()])


@pytest.mark.parametrize("role", ROLES)
def test_page_has_the_items_of_the_catalogue(role):
    """Where it has not: `dnsrig run functionality`, then `tools/write_study_page.py RUN`."""
    wanted = [(known.item.id, known.item.requirement, str(known.item.severity)) for known in items(role)]
    assert sorted(rows_of(role)) == sorted(wanted)


def test_page_has_the_published_items_as_they_are_asked_today() -> None:
    """Where it has not, `dnsrig report RUN` makes the run's report anew, as long as the items themselves were run."""
    page = PAGE.read_text()
    rows = [f"| {one.id} | {', '.join(one.items)} | {one.requirement} |" for one in published_items()]
    assert [row for row in rows if row not in page] == []


def test_page_is_of_a_whole_run():
    assert re.search(r"^Run \S+, dnsrig \S+, \S+, complete$", PAGE.read_text(), re.MULTILINE)
    assert "quick run" not in PAGE.read_text()


def test_what_is_known_is_said_in_words() -> None:
    told = re.findall(r"Known of this version: (.{20})", PAGE.read_text())
    assert told
    assert [one for one in told if not re.match(r"[A-Za-z]", one) or "Known(" in one] == []
