"""The record of the matrix has every fault: what is not in it has not been seen before a server."""

import json
from collections import defaultdict
from pathlib import Path

import pytest
from dnsrig.items.catalogue import all_items
from dnsrig.verification.item import ROLES

RECORD = Path(__file__).parents[2] / "docs" / "reference" / "matrix.json"


def test_every_item_is_recorded_with_a_server_that_passes_it() -> None:
    cells = map(json.loads, RECORD.read_text(encoding="utf-8").splitlines())
    passed = {item for cell in cells for item in cell["passes"]}
    unseen = sorted({known.item.id for known in all_items()} - passed)
    assert not unseen, f"run the matrix without fault (CONTRIBUTING.md, To add an item): {', '.join(unseen)}"


@pytest.mark.parametrize("role", ROLES)
def test_every_fault_is_recorded_and_failed_an_item_that_names_it(role: str) -> None:
    named = defaultdict(set)
    for known in all_items():
        if known.item.role == role:
            for fault in known.item.faults:
                named[fault].add(known.item.id)
    failed: defaultdict[str, set[str]] = defaultdict(set)
    for line in RECORD.read_text(encoding="utf-8").splitlines():
        cell = json.loads(line)
        if cell["role"] == role:
            failed[cell["fault"]].update(cell["fails"] or ())
    unseen = sorted(fault for fault, ids in named.items() if not ids & failed[fault])
    assert not unseen, f"run the matrix with these (CONTRIBUTING.md, To add an item): {', '.join(unseen)}"
