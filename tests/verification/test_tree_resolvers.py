"""The tree's table, the resolver items and their faults, with real resolvers in a namespace."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import dns.rcode
import pytest
from dns.rdatatype import RdataType
from dnsrig.items.catalogue import items
from dnsrig.items.resolver._table import complaint, status_of
from dnsrig.verification.asker import Asker
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.faults.fault import Fault
from dnsrig.verification.faults.messages import FAULTS as MESSAGE_FAULTS
from dnsrig.verification.faults.relay import NO_FAULT, Relay
from dnsrig.verification.faults.resolvers import resolver_faults
from dnsrig.verification.queries import Query
from dnsrig.verification.runner import Result, run_items
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.tree.cases import BOGUS, TableRow
from dnsrig.verification.tree.making import make_tree
from dnsrig.verification.tree.serve import TreeServer
from dnsrig.verification.verdicts import Verdict
from resolver_bed import RESOLVER, Bed, namespace, resolver

FAULTY_ADDRESS = "127.0.0.2"
AT_ONCE = 8
MATRIX_FAULTS = (
    *resolver_faults(),
    *(
        fault
        for fault in MESSAGE_FAULTS
        if fault.name in {"strips-opt", "ignores-edns", "clears-do", "cuts-without-tc"}
    ),
)


@dataclass(frozen=True)
class Running:
    """A resolver in a namespace with the tree."""

    bed: Bed
    tree_server: TreeServer
    server: str
    version: str

    def known_items(self) -> set[str]:
        """Give the items that this resolver is known to fail."""
        return {row.case.item for row in self.tree_server.tree.table if row.known_status(self.server, self.version)}

    def verify(self, fault: Fault) -> list[Result]:
        """Run the items through a relay with a fault; those about cost only where the fault is about them."""
        chosen = [
            known
            for known in items("resolver")
            if not known.item.runs_alone or fault is NO_FAULT or fault.name in known.item.faults
        ]
        with Relay(RESOLVER, fault, address=FAULTY_ADDRESS, port=53, make_socket=self.bed.make_socket) as relay:
            asker = Asker(relay.endpoint, make_socket=self.bed.make_socket, udp_waits_s=(5.0, 5.0, 5.0))
            return run_items(chosen, ResolverSubject(asker, self.tree_server.tree, self.tree_server.seen))


@pytest.fixture(scope="module", params=["unbound", "bind"])
def running(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("tree")
    tree = make_tree(folder)
    with (
        namespace() as bed,
        TreeServer(tree, bed.make_socket) as tree_server,
        resolver(bed, request.param, tree, folder / "resolver") as version,
    ):
        yield Running(bed, tree_server, request.param, version)


def test_each_name_of_the_table_gets_what_the_table_says(running: Running) -> None:
    tree = running.tree_server.tree
    subject = ResolverSubject(running.bed.asker, tree, running.tree_server.seen)

    def ask(row: TableRow) -> Exchange:
        return running.bed.asker.ask(Query(name=row.name, rtype=row.case.rtype, rd=True, do=True))

    with ThreadPoolExecutor(AT_ONCE) as pool:
        exchanges = list(pool.map(ask, tree.table))
    wrong = []
    for row, exchange in zip(tree.table, exchanges, strict=True):
        known = row.known_status(running.server, running.version)
        if known is not None:
            # Strict: a deviation that is gone is to be taken off the table.
            if status_of(exchange) != known.gives:
                wrong.append(f"{row.name} is {status_of(exchange)}, no longer {known.gives}")
        elif exchange.message is None:
            # Not answering in time is no way to accept bogus data.
            wrong += [exchange.trouble] if row.case.right != BOGUS else []
        elif said := complaint(subject, row, exchange):
            wrong.append(said)
    assert wrong == []


def test_bogus_data_are_what_cd_gives(running: Running) -> None:
    """What is bogus must be so by validation, and not because nothing can be resolved."""
    rows = [row for row in running.tree_server.tree.table if row.case.right == BOGUS and not row.case.denied]
    queries = [Query(name=row.name, rtype=row.case.rtype, rd=True, do=True, cd=True) for row in rows]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        exchanges = list(pool.map(running.bed.asker.ask, queries))
    assert [exchange.title for exchange in exchanges if exchange.rcode == dns.rcode.SERVFAIL] == []


def test_right_resolvers_pass_all_items(running: Running) -> None:
    results = running.verify(NO_FAULT)
    failures = {result.item.id: result.outcome.reason for result in results if result.outcome.verdict == Verdict.FAIL}
    assert set(failures) == running.known_items(), failures
    others = {result.item.id: result.outcome for result in results if result.outcome.verdict == Verdict.INCONCLUSIVE}
    assert others == {}


@pytest.mark.parametrize("fault", MATRIX_FAULTS, ids=lambda fault: fault.name)
def test_each_fault_fails_the_items_that_name_it(running: Running, fault: Fault) -> None:
    if running.server != "unbound" and fault.name.startswith(("accepts-", "fails-")):
        pytest.skip("what the table says is tried with one resolver")
    results = running.verify(fault)
    failures = {result.item.id: result.outcome.reason for result in results if result.outcome.verdict == Verdict.FAIL}
    named = {known.item.id for known in items("resolver") if fault.name in known.item.faults}
    assert named, f"no item names {fault.name}"
    applicable = {result.item.id for result in results if result.outcome.verdict != Verdict.NOT_APPLICABLE}
    assert set(failures) == named | (running.known_items() & applicable), failures


def test_queries_upstream_are_seen_as_they_were(running: Running) -> None:
    subject = ResolverSubject(running.bed.asker, running.tree_server.tree, running.tree_server.seen)
    name = subject.fresh_host()
    began = len(running.tree_server.seen)
    subject.asker.ask(Query(name=name, rtype=RdataType.A, rd=True))
    seen = [one for one in running.tree_server.seen.since(began) if one.name == name]
    assert seen
    assert all(one.source == "127.0.0.1" and one.source_port != 53 and one.edns == 0 and one.do for one in seen)
