"""The tree's table, the resolver items and their faults, with real resolvers in a namespace."""

import shutil
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import dns.rcode
import pytest
from dns.rdatatype import RdataType
from dnsrig.hosts.namespace import Namespace
from dnsrig.hosts.network import users
from dnsrig.hosts.network.topologies import resolver_network
from dnsrig.items.catalogue import chosen, items
from dnsrig.items.resolver._table import ask_row, complaint, status_of
from dnsrig.monitor.counters import cpu_time_s
from dnsrig.servers.resolvers.base import Resolver
from dnsrig.servers.resolvers.registry import found_resolvers, resolver_driver, resolver_drivers
from dnsrig.servers.resolvers.settings import ResolverSettings
from dnsrig.verification.asker import Asker
from dnsrig.verification.deviations import deviating_items, known_deviations, unsteady_items, why_known
from dnsrig.verification.exchange import Endpoint, Exchange
from dnsrig.verification.faults.catalogue import faults_of
from dnsrig.verification.faults.fault import Fault
from dnsrig.verification.faults.relay import NO_FAULT, Relay
from dnsrig.verification.faults.weaknesses import all_weaknesses
from dnsrig.verification.queries import Query
from dnsrig.verification.resolver_targets import TREE_PREFIX
from dnsrig.verification.runner import Result, run_items
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.tree.cases import BOGUS, TableRow
from dnsrig.verification.tree.making import Tree
from dnsrig.verification.tree.serve import TreeServer
from dnsrig.verification.tree.zones_costly import LONG_SALT
from dnsrig.verification.verdicts import Verdict
from matrix_record import keep, keep_right, keep_unable, passed_of
from rate_limits import BY_THE_CLOCK
from trees import Trees
from turns import ALL_SERVERS, TIMEOUT_S, chosen_with, in_turn

pytestmark = pytest.mark.timeout(TIMEOUT_S)

RESOLVER = Endpoint("127.0.0.1")
FAULTY_PREFIX = "127.0.1."
"""Where relays with a fault listen, each at an address of its own."""
RESOLVERS = tuple(resolver_drivers("resolver"))
STEADY = ("unbound", "bind")
"""Those that answer a name of the tree the same way each time it is asked for, whatever is in the cache.

Before the others faults are put where every pair is asked for, with the items that name them: that these fail is
judged, and not whether others do, as one that fails by chance would be laid on the fault.
"""
FORGED = {"F-ancestor-denial", "F-forged-denial", "F-hidden-wildcard"}
"""Items of names that are denied by forgery, which are not asked for with CD.

BIND 9.18 keeps an NXDOMAIN without records of the zone that came for a query with CD, and gives it to all for a while.
"""
ASKED_WITH_CD = {f"accepts-{item.removeprefix('F-')}" for item in FORGED} | {
    "believes-by-tcp",
    "leaks-denials-after-cd",
}
"""Faults that are made by CD, for these names, and one that BIND has itself."""
DOUBTFUL = {"F-bogus-server"}
"""Items that say so where one name of several was not answered well, as happens on a machine that is busy."""
UNTOLD = {"hickory-recursor": {"F-cd-cache", "F-cd-denial", "F-dname", "F-ttl-signed", "F-unproven-denial"}}
"""Items with nothing to look at, as a resolver gives SERVFAIL for their names, which it is known to fail otherwise."""
ONLY_AT_FIRST = {"F-retries"}
"""Items that are not for a resolver that was asked the same before: it knows by then which servers are silent."""
NOT_SHOWN = {
    ("unbound", "clears-tc"): {"F-86", "F-87"},
    **{(server, "ignores-payload-size"): {"F-udp-512"} for server in ("bind", "knot-resolver", "powerdns-recursor")},
    **{("powerdns-recursor", fault): {"F-hidden-wildcard"} for fault in ("accepts-hidden-wildcard", "believes-by-tcp")},
    **{
        ("powerdns-recursor", fault): {"F-missing-proof-name"}
        for fault in ("needs-no-encloser", "needs-no-next-closer")
    },
    ("powerdns-recursor", "accepts-updates"): {"F-opcodes"},
    ("powerdns-recursor", "forgets-opcode"): {"F-opcodes"},
}
"""As it ships, Unbound 1.17 sends 4096 octets by UDP, and the others never more than 1232.

PowerDNS Recursor answers no message of another opcode, which a relay could change, and gives SERVFAIL with CD too where
a wildcard is denied that is there, or an NSEC3 record of a denial is missing.
"""
WAITS_S = (8.0, 8.0)
PATIENT_S, SILENT_S = (2.0, 4.0, 6.0), (1.0, 1.0)
HOSTS_ASKED = 10
SILENT = {"drops-edns"}
"""Faults with which nothing comes, however long one waits."""
AT_ONCE = 24
FAULTS_AT_ONCE = 12
MATRIX_FAULTS = tuple(
    fault for fault in faults_of("resolver") if any(fault.name in known.item.faults for known in items("resolver"))
)


def can_show(server: str, fault: str) -> bool:
    """Say whether a fault shows before a resolver."""
    return server != "bind" or fault not in ASKED_WITH_CD


@dataclass(frozen=True)
class Running:
    """A resolver in a namespace with the tree."""

    host: Namespace
    tree_server: TreeServer
    server: str
    version: str
    spent_s: Callable[[], float]
    """Says how much CPU time it has used, in seconds."""

    @property
    def asker(self) -> Asker:
        """Ask the resolver; slow machines are given time."""
        return Asker(RESOLVER, make_socket=self.host.make_socket, udp_waits_s=WAITS_S)

    def known_items(self) -> set[str]:
        """Give the items that this resolver is known to fail."""
        table = self.tree_server.tree.table
        listed = {row.case.item for row in table if row.known_status(self.server, self.version)}
        run = {known.item.id for known in items("resolver") if not known.item.is_slow}
        return listed | (set(deviating_items("resolver", self.server, self.version)) & run)

    def unsteady_items(self) -> set[str]:
        """Give those of the known items that it does not fail each time."""
        return unsteady_items("resolver", self.server, self.version)

    def faults(self) -> list[Fault]:
        """Give the faults that are put before this resolver."""
        installed = {name: found.version for name, found in found_resolvers("resolver").items()}
        installed = {name: version for name, version in installed.items() if name in STEADY or ALL_SERVERS}
        found = []
        for place, fault in enumerate(MATRIX_FAULTS):
            shown = {name: version for name, version in installed.items() if can_show(name, fault.name)}
            if self.server in in_turn("resolver", "", (place, fault.name), shown):
                found.append(fault)
            if not can_show(self.server, fault.name):
                keep_unable("resolver", fault.name, (self.server, self.version))
        return found

    def verify(
        self, fault: Fault, address: str = f"{FAULTY_PREFIX}1", only: Collection[str] | None = None
    ) -> list[Result]:
        """Run the items, or `only` some, through a relay with a fault; those about cost only where it is about them."""
        chosen = tuple(known for known in items("resolver") if not known.item.is_slow)
        if fault is not NO_FAULT:
            about_cost = [known for known in chosen if known.item.runs_alone and fault.name in known.item.faults]
            others = [one for one in chosen if not one.item.runs_alone and one.item.id not in ONLY_AT_FIRST]
            is_of_cost = about_cost and not any(fault.name in one.item.faults for one in others)
            chosen = tuple(about_cost if is_of_cost else [*chosen_with(fault.name, others), *about_cost])
            if self.server not in STEADY:
                chosen = tuple(known for known in chosen if fault.name in known.item.faults)
        if only is not None:
            chosen = tuple(known for known in chosen if known.item.id in only)
        waits_s = SILENT_S if fault.name in SILENT else PATIENT_S
        with Relay(RESOLVER, fault, address=address, port=53, make_socket=self.host.make_socket) as relay:
            asker = Asker(relay.endpoint, make_socket=self.host.make_socket, udp_waits_s=waits_s)
            subject = ResolverSubject(asker, self.tree_server.tree, self.tree_server.seen, spent_s=self.spent_s)
            together = [known for known in chosen if not known.item.runs_alone]
            alone = [known for known in chosen if known.item.runs_alone]
            # Of those about time it matters most whether other tests took it.
            lateness = self.tree_server.lateness if fault is NO_FAULT else None
            return [*run_items(together, subject), *run_items(alone, subject, lateness=lateness)]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory, trees: Trees) -> Tree:
    if why := users.why_no_namespaces():
        pytest.skip(why)
    if shutil.which("ip") is None:
        pytest.skip("needs ip: install the Debian package iproute2")
    return trees.copy_to(tmp_path_factory.mktemp("tree"), TREE_PREFIX)


@pytest.fixture(scope="module", params=RESOLVERS)
def running(request: pytest.FixtureRequest, tree: Tree, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    kind = resolver_driver(request.param)
    if kind.find() is None:
        pytest.skip(f"{kind.title} is not installed: {kind.how_to_install()}")
    folder = tmp_path_factory.mktemp(request.param)
    anchors = tree.trust_anchor_ds if kind.reads_ds else tree.trust_anchor_dnskey
    settings = ResolverSettings(port=53, root_hints=tree.root_hints, trust_anchors=anchors)
    with (
        resolver_network(tree.addresses) as network,
        TreeServer(tree, network.tree.make_socket) as tree_server,
        kind(settings, folder, network.resolver) as server,
    ):
        spent_s = partial(_spent_s, server)
        yield Running(network.resolver, tree_server, request.param, server.version, spent_s)


def _spent_s(server: Resolver) -> float:
    return cpu_time_s(server.pids())


@pytest.mark.parametrize("running", STEADY, indirect=True)
def test_each_name_of_the_table_gets_what_the_table_says(running: Running) -> None:
    tree = running.tree_server.tree
    subject = ResolverSubject(running.asker, tree, running.tree_server.seen)

    def ask(row: TableRow) -> Exchange:
        return ask_row(subject, row)

    # Unbound hashes the names that cost most for longer than clients wait: what is answered is not what they are about.
    table = [row for row in tree.table if row.zone.salt != LONG_SALT]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        exchanges = list(pool.map(ask, table))
    wrong = []
    for row, exchange in zip(table, exchanges, strict=True):
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


@pytest.mark.parametrize("running", STEADY, indirect=True)
def test_bogus_data_are_what_cd_gives(running: Running) -> None:
    """What is bogus must be so by validation, and not because nothing can be resolved."""
    table = [row for row in running.tree_server.tree.table if row.case.item not in FORGED]
    rows = [row for row in table if row.case.right == BOGUS and not row.case.denied]
    queries = [Query(name=row.name, rtype=row.case.rtype, rd=True, do=True, cd=True) for row in rows]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        exchanges = list(pool.map(running.asker.ask, queries))
    assert [exchange.title for exchange in exchanges if exchange.rcode == dns.rcode.SERVFAIL] == []


def test_right_resolvers_pass_all_items(running: Running) -> None:
    results = running.verify(NO_FAULT)
    # What seems wrong with a cost is tried once more: other tests may have made it another one.
    known = running.known_items()
    costs = [one for one in results if one.item.runs_alone and one.item.id not in ONLY_AT_FIRST]
    again = {one.item.id for one in costs if (one.outcome.verdict == Verdict.FAIL) != (one.item.id in known)}
    if again:
        results = [one for one in results if one.item.id not in again] + running.verify(NO_FAULT, only=again)
    failures = {result.item.id: result.outcome.reason for result in results if result.outcome.verdict == Verdict.FAIL}
    keep_right("resolver", (running.server, running.version), failures, passed_of(results))
    # What costs time cannot be told on a machine that has none.
    untold = {one.item.id for one in results if one.item.runs_alone and one.outcome.verdict == Verdict.INCONCLUSIVE}
    by_chance = running.unsteady_items() | untold
    shown = [(one.item.id, one.outcome) for one in results if one.item.id in set(failures) - known]
    assert set(failures) - by_chance == known - by_chance, shown
    deviations = known_deviations("resolver", running.server, running.version)
    assert {item: said for item, said in failures.items() if why_known(deviations, item, said) is None} == {}
    untold |= DOUBTFUL | UNTOLD.get(running.server, set())
    judged = [one for one in results if one.item.id not in untold]
    assert {result.item.id: result.outcome for result in judged if result.outcome.verdict == Verdict.INCONCLUSIVE} == {}


TRIES_ALONE = 2


@dataclass(frozen=True)
class Found:
    """What failed with a fault, of the items that were run, what others said, and which are not as they should be."""

    failures: dict[str, str]
    others: dict[str, str]
    run: set[str]
    differing: set[str]

    @property
    def wrong(self) -> dict[str, str]:
        """What those said that are not as they should be."""
        return {item: self.failures.get(item) or self.others.get(item, "was not run") for item in self.differing}


def find(running: Running, fault: Fault, address: str, before: Found | None = None) -> Found:
    """Run the items with a fault, or again those that were not `before` as they should be."""
    results = running.verify(fault, address, None if before is None else before.differing)
    failures = {result.item.id: result.outcome.reason for result in results if result.outcome.verdict == Verdict.FAIL}
    others = {
        result.item.id: f"{result.outcome.verdict}: {result.outcome.reason}"
        for result in results
        if result.item.id not in failures
    }
    run = {result.item.id for result in results if result.outcome.verdict != Verdict.NOT_APPLICABLE}
    if before is not None:
        tried = {result.item.id for result in results}
        failures |= {item: reason for item, reason in before.failures.items() if item not in tried}
        run |= before.run - tried
    named = {known.item.id for known in items("resolver") if fault.name in known.item.faults}
    known_otherwise = running.known_items() - named
    keep("resolver", fault.name, (running.server, running.version), set(failures) - known_otherwise)
    expected = (named - NOT_SHOWN.get((running.server, fault.name), set())) | (running.known_items() & run)
    differing = (set(failures) ^ expected) - (running.unsteady_items() - named)
    return Found(failures, others, run, differing)


def test_each_fault_fails_the_items_that_name_it(running: Running) -> None:
    if not running.faults():
        pytest.skip(f"faults are put before {running.server} where more pairs are asked for (turns.py)")
    addresses = [f"{FAULTY_PREFIX}{number}" for number in range(1, len(MATRIX_FAULTS) + 1)]
    with ThreadPoolExecutor(FAULTS_AT_ONCE) as pool:
        found = list(pool.map(lambda fault, address: find(running, fault, address), running.faults(), addresses))
    # Many at once on few processors make some wait beyond a resolver's patience: what seems wrong is tried alone, and
    # once more, as a machine that other tests are busy on makes verdicts inconclusive.
    tried = dict(zip(running.faults(), zip(addresses, found, strict=False), strict=True))
    wrong = {}
    for fault, (address, first) in tried.items():
        last = first
        for _ in range(TRIES_ALONE):
            last = find(running, fault, address, last) if last.differing else last
        if last.differing:
            wrong[fault.name] = last.wrong
    assert wrong == {}


@pytest.mark.parametrize("running", STEADY[:1], indirect=True)
def test_a_limit_of_the_rate_is_no_want_of_room(running: Running) -> None:
    with Relay(RESOLVER, BY_THE_CLOCK, f"{FAULTY_PREFIX}1", 53, running.host.make_socket) as relay:
        asker = Asker(relay.endpoint, make_socket=running.host.make_socket, udp_waits_s=PATIENT_S)
        subject = ResolverSubject(asker, running.tree_server.tree, running.tree_server.seen)
        outcome = run_items(chosen("resolver", ["F-parallel"]), subject)[0].outcome
    # By where seconds of the clock begin, the queries one after the other meet the limit as well.
    met = ("limit its rate", "one after the other")
    assert outcome.verdict == Verdict.INCONCLUSIVE and any(words in outcome.reason for words in met), outcome.reason


def test_items_name_known_faults() -> None:
    named = {fault for known in items("resolver") for fault in known.item.faults}
    assert named == {fault.name for fault in (*MATRIX_FAULTS, *all_weaknesses())}


def test_queries_upstream_are_seen_as_they_were(running: Running) -> None:
    subject = ResolverSubject(running.asker, running.tree_server.tree, running.tree_server.seen)
    # Other tests may have asked for some of the hosts, which are in the cache then.
    names = [subject.fresh_host() for _ in range(HOSTS_ASKED)]
    began = len(running.tree_server.seen)
    for name in names:
        subject.asker.ask(Query(name=name, rtype=RdataType.A, rd=True))
    seen = [one for one in running.tree_server.seen.since(began) if one.name in names]
    assert seen
    assert all(one.source_port != 53 and one.edns == 0 and one.do for one in seen)
