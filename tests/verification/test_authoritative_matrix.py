"""Every fault before every server: exactly the items that name it fail, and without fault none does."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace

import pytest
from dnsrig.items.catalogue import items
from dnsrig.servers.base import ServedZone, ServerSettings
from dnsrig.servers.registry import driver
from dnsrig.verification.deviations import deviating_items, deviations
from dnsrig.verification.exchange import Endpoint
from dnsrig.verification.faults import answers, edns, headers, messages, transport, zone_data
from dnsrig.verification.faults.catalogue import all_faults
from dnsrig.verification.faults.relay import NO_FAULT
from dnsrig.verification.faults.zone_catalogue import zone_faults
from matrix_runs import Cell, Task, processes, protocol_items, run_task
from protocol_zone import ORIGIN, make_zone

TOPICS = (answers, edns, headers, messages, transport, zone_data)
"""What test_dnssec_items.py does not have."""
SERVERS = ("embedded", "bind", "nsd", "knot", "powerdns")
ITEMS = {known.item.id: known.item for known in protocol_items()}
FAULTS = [fault.name for topic in TOPICS for fault in topic.FAULTS if "authoritative" in fault.roles]
NOT_SHOWN_BY_ALL = {"A-cookie", "A-nsid"}
"""Items about what servers may leave out, and do as shipped."""
CANNOT_TELL = {"A-notify"}
"""Inconclusive before a server that is right: BIND acknowledges a NOTIFY to a primary."""


@dataclass(frozen=True)
class Matrix:
    """The cells of every server, and how to see one again with patience."""

    cells: dict[tuple[str, str], Cell]
    tasks: dict[tuple[str, str], Task]
    versions: dict[str, str]

    def deviating(self, server: str) -> set[str]:
        return set(deviating_items(server, self.versions[server]))

    def mistaken(self, server: str, fault: str, cell: Cell) -> set[str]:
        """Give the items whose verdict is wrong."""
        named = {item.id for item in ITEMS.values() if fault in item.faults}
        if fault == NO_FAULT.name:
            return cell.failed ^ self.deviating(server)
        return (cell.failed ^ named) - self.deviating(server)

    def wrong(self, server: str, fault: str) -> str:
        """Say which items are mistaken, also when they are asked with patience: a busy machine loses messages."""
        if not self.mistaken(server, fault, self.cells[server, fault]):
            return ""
        again = run_task(replace(self.tasks[server, fault], is_patient=True))
        mistaken = self.mistaken(server, fault, again)
        return f"{fault} before {server}:\n{again.says(mistaken)}" if mistaken else ""


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Matrix]:
    folder = tmp_path_factory.mktemp("matrix")
    path, landmarks = make_zone(folder)
    tasks, versions = {}, {}
    with ExitStack() as running:
        for name in SERVERS:
            kind = driver(name)
            if kind.find() is None:
                continue
            server = running.enter_context(kind([ServedZone(ORIGIN, path)], ServerSettings(), folder / name))
            versions[name] = server.version
            for fault in (NO_FAULT.name, *FAULTS):
                tasks[name, fault] = Task(name, fault, Endpoint(*server.address), landmarks)
        run = running.enter_context(processes())
        cells = {(cell.server, cell.fault): cell for cell in run(list(tasks.values()))}
        yield Matrix(cells, tasks, versions)


@pytest.fixture(params=SERVERS)
def server(request: pytest.FixtureRequest, matrix: Matrix) -> str:
    kind = driver(request.param)
    if request.param not in matrix.versions:
        pytest.skip(f"{kind.title} is not installed: install the Debian package {kind.package}")
    return str(request.param)


def test_servers_without_fault_fail_no_item(matrix: Matrix, server: str) -> None:
    wrong = matrix.wrong(server, NO_FAULT.name)
    assert not wrong, wrong


def test_every_item_can_be_tried_before_a_server_that_is_right(matrix: Matrix, server: str) -> None:
    cell = matrix.cells[server, NO_FAULT.name]
    assert cell.of_verdict("not_applicable") <= NOT_SHOWN_BY_ALL, cell.says(cell.of_verdict("not_applicable"))
    assert cell.of_verdict("inconclusive") <= CANNOT_TELL, cell.says(cell.of_verdict("inconclusive"))


def test_faults_fail_exactly_the_items_that_name_them(matrix: Matrix, server: str) -> None:
    wrong = [said for fault in FAULTS if (said := matrix.wrong(server, fault))]
    assert not wrong, "\n".join(wrong)


def test_faults_that_items_name_exist_and_each_is_named() -> None:
    named = {fault for item in ITEMS.values() for fault in item.faults}
    assert set(FAULTS) <= named
    assert named <= {fault.name for fault in all_faults()} | {fault.name for fault in zone_faults()}


def test_deviations_are_of_items_and_servers_that_exist() -> None:
    every = {known.item.id for known in items("authoritative")}
    for known in deviations():
        assert known.item in every, known
        driver(known.server)
        assert known.reason.endswith("."), known


def test_items_have_whole_sentences() -> None:
    for item in ITEMS.values():
        for text in (item.requirement, item.consequence, item.procedure):
            assert text.endswith("."), (item.id, text)
            assert text[0].isupper(), (item.id, text)
        assert item.references and item.dig and item.faults, item.id
