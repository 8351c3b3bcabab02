"""What the tree is asked is told to another process, in its order and before the response, and so is lateness."""

import itertools
import socket
from pathlib import Path

import dns.name
import pytest
from dns.rdatatype import RdataType
from dnsrig.errors import EnvironmentLacksError
from dnsrig.verification.asker import Asker
from dnsrig.verification.exchange import Endpoint
from dnsrig.verification.faults.fault import Fault, Passage
from dnsrig.verification.faults.relay import Relay
from dnsrig.verification.lateness import SERVER
from dnsrig.verification.queries import Query
from dnsrig.verification.resolver_targets import resolver_target
from dnsrig.verification.subjects.known_names import UNSIGNED
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.tree.making import Tree
from dnsrig.verification.tree.serve import TreeServer
from dnsrig.verification.tree.watching import NAME, WatchedTree
from dnsrig.verification.verdicts import Verdict
from free_ports import free_port
from trees import Trees

PREFIX = "127.53.1"
MANY = 500


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory, trees: Trees) -> Tree:
    return trees.copy_to(tmp_path_factory.mktemp("tree"), PREFIX)


@pytest.fixture
def port() -> int:
    """Find a port that is free on the addresses of the tree, which nobody else uses."""
    return free_port(f"{PREFIX}.1")


def query(number: int) -> Query:
    return Query(name=dns.name.from_text(f"n{number}.secure.nsec."), rtype=RdataType.A, payload=1232, do=True)


def test_all_queries_are_told_as_they_came_and_those_before_are_not(tree: Tree, tmp_path: Path, port: int) -> None:
    with TreeServer(tree, port=port, told_in=tmp_path) as server:
        asker = Asker(Endpoint(tree.addresses[0], port))
        asker.udp(query(0))
        with WatchedTree(tmp_path) as watched, WatchedTree(tmp_path) as other:
            before = len(server.seen)
            assert len(watched.queries) == 0
            for number in range(1, MANY):
                asker.udp(query(number))
                # A slow machine may have had it asked twice.
                assert watched.queries.since(0)[-1].name == query(number).name, "what has its response was told"
            asker.tcp(query(MANY))
            own, told = server.seen.since(before), watched.queries.since(0)
            assert len({one.name for one in own}) == MANY
            assert told[: len(own)] == own
            assert other.queries.since(0)[: len(own)] == own
    assert not (tmp_path / NAME).exists()


def test_that_the_server_was_late_is_told(tree: Tree, tmp_path: Path, port: int) -> None:
    with (
        TreeServer(tree, port=port, told_in=tmp_path) as server,
        WatchedTree(tmp_path) as watched,
    ):
        began_s = watched.lateness.clock()
        for late_s in (90.0, 60.0):
            server.lateness.note(SERVER, late_s)
        late = watched.lateness.since(began_s)
        assert late is not None
        assert late.sentence == "The rig's own server answered 90.0 s late: the machine is busy."
        assert {round(one.late_s) for one in watched.lateness.all_since(began_s)} >= {60, 90}


def test_a_server_that_ends_is_an_error_and_no_verdict(tree: Tree, tmp_path: Path, port: int) -> None:
    server = TreeServer(tree, port=port, told_in=tmp_path)
    with server:
        watched = WatchedTree(tmp_path)
    with watched:
        with pytest.raises(EnvironmentLacksError, match="is not served any more"):
            len(watched.queries)
        # What was found before is kept: the runner asks this in its own thread.
        late = watched.lateness.since(watched.lateness.clock())
        assert late is not None
        assert late.who == "The process that serves the tree"


def test_queries_of_others_are_left_aside(tree: Tree, tmp_path: Path, port: int) -> None:
    with TreeServer(tree, port=port, told_in=tmp_path), WatchedTree(tmp_path) as watched:
        watched.queries.keep_to(frozenset({"127.53.1.99"}))
        Asker(Endpoint(tree.addresses[0], port)).udp(query(1))
        assert len(watched.queries) == 0
        watched.queries.keep_to(frozenset())
        Asker(Endpoint(tree.addresses[0], port)).udp(query(2))
        assert [one.name for one in watched.queries.since(0)][-1:] == [query(2).name]


def test_a_folder_that_cannot_have_a_socket_is_said_and_served_all_the_same(
    tree: Tree, tmp_path: Path, port: int
) -> None:
    (tmp_path / NAME).write_text("somebody's")
    with TreeServer(tree, port=port, told_in=tmp_path) as server:
        assert "is no socket" in server.told_to_nobody
        assert Asker(Endpoint(tree.addresses[0], port)).udp(query(1)).response is not None
    assert (tmp_path / NAME).read_text() == "somebody's"


def test_a_deep_folder_and_a_socket_that_was_left_behind_are_no_hindrance(
    tree: Tree, tmp_path: Path, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / ("d" * 100) / ("e" * 100)
    folder.mkdir(parents=True)
    with socket.socket(socket.AF_UNIX) as left:
        monkeypatch.chdir(folder)
        left.bind(NAME)
    with TreeServer(tree, port=port, told_in=folder), WatchedTree(folder) as watched:
        assert len(watched.queries) == 0


def test_where_another_machine_serves_the_tree_items_say_what_they_lack(tree: Tree, tmp_path: Path, port: int) -> None:
    folder = tree.folder.parent
    # The server of the name that shows whether a resolver resolves from the tree stands for one.
    zone = max(
        (one for one in tree.zones if UNSIGNED.is_subdomain(one.plan.origin)), key=lambda one: len(one.plan.origin)
    )
    address = tree.addresses[next(iter(zone.plan.servers))]
    with TreeServer(tree, port=port), resolver_target(address, port, folder, tmp_path) as found:
        assert "only on the machine where dnsrig verify serve-tree" in (found.subject.lacks("seen") or "")
    with (
        TreeServer(tree, port=port, told_in=folder),
        resolver_target(address, port, folder, tmp_path) as found,
    ):
        assert found.subject.lacks("seen") is None
        assert found.subject.plain_control.message is not None
        assert len(found.subject.seen_of(UNSIGNED)) == 1


@pytest.mark.parametrize(("answered", "verdict"), [(set(), Verdict.FAIL), ({7}, Verdict.INCONCLUSIVE)])
def test_silence_is_a_failure_only_where_no_try_is_answered(
    tree: Tree, port: int, answered: set[int], verdict: Verdict
) -> None:
    numbers = itertools.count()

    def drop(passage: Passage) -> bytes | None:
        is_txt = passage.transport == "udp" and passage.asked.question[0].rdtype == RdataType.TXT
        return None if is_txt and next(numbers) not in answered else passage.query

    fault = Fault(name="drops-txt", does="drops queries for TXT", roles=("resolver",), on_query=drop)
    with TreeServer(tree, port=port), Relay(Endpoint(tree.addresses[0], port), fault) as relay:
        subject = ResolverSubject(Asker(relay.endpoint, udp_waits_s=(0.3, 0.3)))
        exchange = subject.asker.udp(Query(name=dns.name.root, rtype=RdataType.TXT, payload=None))
        assert exchange.response is None
        assert subject.unanswered(exchange).verdict is verdict
