"""The record of the matrix has every fault: what is not in it has not been seen before a server."""

from collections import defaultdict

import pytest
from dnsrig.items.catalogue import all_items
from dnsrig.verification.item import ROLES
from matrix_record import cells


def test_every_item_is_recorded_with_a_server_that_passes_it() -> None:
    passed = {item for cell in cells() for item in cell["passes"]}
    unseen = sorted({known.item.id for known in all_items()} - passed)
    assert not unseen, f"run the matrix without fault (CONTRIBUTING.md, To add an item): {', '.join(unseen)}"


def test_no_pair_of_fault_and_server_is_untried() -> None:
    servers, faults, tried = defaultdict(set), defaultdict(set), set()
    for cell in cells():
        part = cell["role"], cell["part"]
        servers[part].add(cell["server"])
        faults[part].add(cell["fault"])
        tried.add((part, cell["server"], cell["fault"]))
    untried = {
        (*part, server, fault)
        for part in servers
        for server in servers[part]
        for fault in faults[part]
        if (part, server, fault) not in tried
    }
    assert not untried, f"run the tests with DNSRIG_NEW_PAIRS (CONTRIBUTING.md, To add an item): {sorted(untried)}"


@pytest.mark.parametrize("role", ROLES)
def test_every_fault_is_recorded_and_failed_an_item_that_names_it(role: str) -> None:
    named = defaultdict(set)
    for known in all_items():
        if known.item.role == role:
            for fault in known.item.faults:
                named[fault].add(known.item.id)
    failed: defaultdict[str, set[str]] = defaultdict(set)
    for cell in cells():
        if cell["role"] == role:
            failed[cell["fault"]].update(cell["fails"] or ())
    unseen = sorted(fault for fault, ids in named.items() if not ids & failed[fault])
    assert not unseen, f"run the matrix with these (CONTRIBUTING.md, To add an item): {', '.join(unseen)}"
