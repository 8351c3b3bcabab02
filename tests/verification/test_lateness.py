"""What fails while the rig itself is late is asked again, and then no verdict on the target."""

import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import dns.name
import pytest
from dns.rdatatype import RdataType
from dnsrig.hosts.network import users
from dnsrig.items.catalogue import chosen, items
from dnsrig.servers.resolvers.registry import resolver_driver
from dnsrig.verification import lateness as lateness_module
from dnsrig.verification import runner
from dnsrig.verification.asker import Asker
from dnsrig.verification.exchange import Endpoint
from dnsrig.verification.item import KnownItem
from dnsrig.verification.lateness import LATE_S, MACHINE, SERVER, ArrivalSocket, Lateness
from dnsrig.verification.queries import Query
from dnsrig.verification.resolver_targets import TREE_PREFIX, resolver_target
from dnsrig.verification.runner import Result, run_items
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.tree.making import Tree
from dnsrig.verification.tree.serve import TreeServer
from dnsrig.verification.upstream.questions import plain_query
from dnsrig.verification.upstream.server import Upstream
from dnsrig.verification.verdicts import Outcome, Verdict, failed, inconclusive, not_applicable, passed
from trees import Trees

SOME, OTHER = items("resolver")[:2]
LATE_BY_S = 1.2


@dataclass
class Clock:
    """Goes on when it is told, and a little whenever it is read."""

    now_s: float = 100.0

    def __call__(self) -> float:
        self.now_s += 0.001
        return self.now_s


@dataclass
class Subject:
    """Finds one outcome after the other, and the rig late or not at each."""

    lateness: Lateness
    outcomes: list[Outcome]
    late_s: list[float]
    renewals: list[None] = field(default_factory=list)

    def lacks(self, need: str) -> str | None:
        return None

    def silence(self) -> str:
        return ""

    def renewed(self) -> "Subject":
        self.renewals.append(None)
        return self

    def check(self) -> Outcome:
        self.lateness.note(SERVER, self.late_s.pop(0))
        return self.outcomes.pop(0)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Give a clock by which calm comes at once."""
    clock = Clock()

    def pause(seconds: float) -> None:
        clock.now_s += seconds

    monkeypatch.setattr(runner, "pause", pause)
    return clock


def verdict_of(clock: Clock, outcomes: list[Outcome], late_s: list[float]) -> tuple[Result, Subject, list[Result]]:
    watched = Lateness(clock)
    subject = Subject(watched, outcomes, late_s)
    told: list[Result] = []
    known = KnownItem(SOME.item, lambda one: one.check(), "")
    (result,) = run_items([known], subject, told.append, lateness=watched)
    assert told == [result]
    return result, subject, told


WRONG, RIGHT = failed("It is wrong."), passed("It is right.")


@pytest.mark.parametrize(
    ("outcomes", "late_s", "verdict"),
    [
        ([WRONG, RIGHT], [LATE_BY_S, 0.0], Verdict.PASS),
        ([WRONG, WRONG, RIGHT], [LATE_BY_S, LATE_BY_S, 0.0], Verdict.PASS),
        ([WRONG, WRONG], [LATE_BY_S, 0.0], Verdict.FAIL),
        ([WRONG, WRONG, WRONG], [LATE_BY_S, LATE_BY_S, 0.0], Verdict.FAIL),
        ([WRONG], [0.0], Verdict.FAIL),
        ([WRONG], [LATE_S / 2], Verdict.FAIL),
        ([RIGHT], [LATE_BY_S], Verdict.PASS),
        ([not_applicable("It does not resolve."), RIGHT], [LATE_BY_S, 0.0], Verdict.PASS),
        ([inconclusive("It is silent."), RIGHT], [LATE_BY_S, 0.0], Verdict.PASS),
        ([not_applicable("It has none."), not_applicable("It has none.")], [LATE_BY_S] * 2, Verdict.NOT_APPLICABLE),
    ],
)
def test_failures_are_believed_where_the_rig_is_in_time(
    clock: Clock, outcomes: list[Outcome], late_s: list[float], verdict: Verdict
) -> None:
    result, subject, _ = verdict_of(clock, list(outcomes), late_s)
    assert result.outcome.verdict == verdict
    assert result.outcome.reason == outcomes[-1].reason
    assert not subject.outcomes, "it was asked again as often as that"
    assert len(subject.renewals) == len(outcomes) - 1, "nothing from a time when the rig was late is taken for true"


def test_where_the_rig_is_always_late_there_is_no_verdict(clock: Clock) -> None:
    tries = 1 + runner.RETRIES
    result, subject, _ = verdict_of(clock, [WRONG] * tries, [LATE_BY_S] * tries)
    assert result.outcome.verdict is Verdict.INCONCLUSIVE
    assert result.outcome.reason.startswith(
        "The rig's own server answered 1.2 s late: the machine is busy. So this may"
    )
    assert result.outcome.reason.endswith("may not be the target's fault: It is wrong.")
    assert not subject.outcomes


ABSENT, SILENT = not_applicable("It does not resolve."), inconclusive("It is silent.")


@pytest.mark.parametrize(
    "outcomes",
    [[WRONG, ABSENT, WRONG], [WRONG, ABSENT, ABSENT], [WRONG, SILENT, SILENT], [ABSENT, WRONG, ABSENT]],
)
def test_what_failed_once_while_the_rig_was_late_is_doubted_to_the_end(clock: Clock, outcomes: list[Outcome]) -> None:
    result, subject, _ = verdict_of(clock, list(outcomes), [LATE_BY_S] * len(outcomes))
    assert result.outcome.verdict is Verdict.INCONCLUSIVE
    assert result.outcome.reason.startswith("The rig's own server answered 1.2 s late")
    assert result.outcome.reason.endswith("may not be the target's fault: It is wrong.")
    assert not subject.outcomes, "it was asked again as often as that"


@pytest.mark.parametrize("outcomes", [[WRONG, ABSENT, RIGHT], [WRONG, SILENT, ABSENT], [WRONG, ABSENT, WRONG]])
def test_what_is_found_in_time_in_the_end_stands(clock: Clock, outcomes: list[Outcome]) -> None:
    result, _, _ = verdict_of(clock, list(outcomes), [LATE_BY_S, LATE_BY_S, 0.0])
    assert result.outcome == outcomes[-1]


def test_what_an_item_took_from_another_is_doubted_with_it(clock: Clock) -> None:
    """An item that fails in time may rest on what was found when the rig was late."""
    watched = Lateness(clock)
    found: list[bool] = []

    def first(_: Subject) -> Outcome:
        watched.note(SERVER, LATE_BY_S)
        return RIGHT

    def second(_: Subject) -> Outcome:
        found.append(True)
        return RIGHT if len(found) > 1 else WRONG

    alone = next(one for one in items("resolver") if one.item.runs_alone)
    subject = Subject(watched, [], [])
    known = [KnownItem(OTHER.item, first, ""), KnownItem(alone.item, second, "")]
    results = run_items(known, subject, lateness=watched)
    assert [result.outcome.verdict for result in results] == [Verdict.PASS, Verdict.PASS]


def test_a_limit_ends_asking_again(clock: Clock) -> None:
    watched = Lateness(clock)
    subject = Subject(watched, [WRONG], [LATE_BY_S])

    def check(one: Subject) -> Outcome:
        if not one.outcomes:
            threading.Event().wait(0.3)
            runner.check_stopped()
        return one.check()

    (result,) = run_items([KnownItem(SOME.item, check, "")], subject, limit_s=0.1, lateness=watched)
    assert result.outcome.verdict is Verdict.INCONCLUSIVE


def test_a_failure_that_comes_as_the_limit_ends_is_doubted_where_the_rig_was_late(clock: Clock) -> None:
    watched = Lateness(clock)
    subject = Subject(watched, [WRONG], [LATE_BY_S])

    def check(one: Subject) -> Outcome:
        # It does not look whether it is to stop.
        threading.Event().wait(0.4)
        return one.check()

    (result,) = run_items([KnownItem(SOME.item, check, "")], subject, limit_s=0.1, lateness=watched)
    assert result.outcome.verdict is Verdict.INCONCLUSIVE
    assert result.outcome.reason.endswith("may not be the target's fault: It is wrong.")
    assert not subject.renewals


def test_the_sentence_says_what_was_late() -> None:
    watched = Lateness(Clock())
    assert watched.since(0.0) is None
    watched.note(MACHINE, 0.5)
    assert watched.since(0.0).sentence == "The rig itself was 0.5 s late: the machine is busy."
    watched.note(SERVER, 0.0, lost=3)
    began_s = watched.clock()
    watched.note(SERVER, 0.0, lost=1)
    assert watched.since(began_s).sentence == "The rig's own server lost 1 query: the machine is busy."
    assert watched.since(watched.clock()) is None


def asked(server: Endpoint, query: Query) -> bool:
    return Asker(server).udp(query).message is not None


def test_servers_see_that_they_are_late(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    query = Query(name=dns.name.root, rtype=RdataType.SOA)
    with Upstream() as upstream, TreeServer(Tree(tmp_path, "127.53.9", (), 0), port=0) as tree:
        tree_endpoint = Endpoint(*tree._datagrams[0].get_extra_info("sockname"))
        asking: list[tuple[Lateness, Callable[[], bool]]] = [
            (upstream.lateness, lambda: asked(upstream.endpoint, plain_query())),
            (tree.lateness, lambda: asked(tree_endpoint, query)),
        ]
        for watched, ask in asking:
            assert ask()
            began_s = time.monotonic()
            with monkeypatch.context() as later:
                later.setattr(lateness_module, "time", LaterTime)
                # It notes that when the first is on its way to who asks; the second comes after.
                assert ask()
                assert ask()
            late = watched.since(began_s)
            assert late is not None and late.late_s >= LATE_BY_S and late.who == SERVER


class LaterTime:
    """The time, a little later than it is: as if what asks had been held up."""

    monotonic = time.monotonic

    @staticmethod
    def time() -> float:
        return time.time() + LATE_BY_S


def test_a_loop_that_is_held_up_says_so() -> None:
    with Upstream() as upstream:
        began_s = time.monotonic()
        held = threading.Event()
        # Nothing sets it: the loop stands as long as that takes.
        upstream._loop.call_soon_threadsafe(held.wait, 2 * LATE_S + 0.2)
        assert asked(upstream.endpoint, plain_query())
        late = upstream.lateness.since(began_s)
    assert late is not None and late.late_s >= LATE_S


def test_what_had_no_room_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lateness_module, "QUEUE_OCTETS", 4096)
    watched = Lateness()
    channel = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    channel.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    channel.bind(("127.0.0.1", 0))
    with ArrivalSocket(channel, watched) as reading, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sending:
        for _ in range(200):
            sending.sendto(bytes(1000), reading.getsockname())
        taken = 0
        for _ in range(2):
            with pytest.raises(BlockingIOError):
                while True:
                    reading.recvfrom(2000)
                    taken += 1
            # The kernel tells of it with the next datagram that has room.
            sending.sendto(b"last", reading.getsockname())
        reading.recvfrom(2000)
    late = watched.since(0.0)
    assert late is not None and late.lost == 200 - (taken - 1)


def test_a_right_proxy_is_not_accused_by_a_late_server() -> None:
    """The server is held up for longer than the client asks, as on a machine with far too much to do."""
    with Upstream() as upstream:
        subject = ProxySubject(Asker(upstream.endpoint, udp_waits_s=(0.2, 0.2)), upstream)
        held = threading.Event()
        upstream._loop.call_soon_threadsafe(held.wait, 1.5)
        known = chosen("proxy", ["P-1", "P-case"])
        results = run_items(known, subject, lateness=upstream.lateness)
    assert {result.item.id: str(result.outcome.verdict) for result in results} == dict.fromkeys(
        ["P-1", "P-case"], "pass"
    )


def test_a_resolver_of_the_rig_forgets_what_it_keeps(tmp_path: Path, trees: Trees) -> None:
    """What it took for a failure while the rig was late would be asked for again in vain."""
    if why := users.why_no_namespaces():
        pytest.skip(why)
    kind = resolver_driver("unbound")
    if kind.find() is None:
        pytest.skip(f"{kind.title} is not installed: install the Debian package {kind.package}")
    trees.copy_to(tmp_path, TREE_PREFIX)
    with resolver_target("unbound", 53, None, tmp_path) as target:
        subject = target.subjects[0]
        name = subject.fresh_host()
        query = Query(name=name, rtype=RdataType.A, rd=True)

        def times_asked(one: ResolverSubject) -> int:
            assert one.asker.ask(query).message is not None
            return sum(seen.rtype == RdataType.A for seen in one.seen_of(name))

        first = times_asked(subject)
        assert first and times_asked(subject) == first
        assert times_asked(subject.renewed()) > first
