"""Runs that are interrupted end at once, whatever their items wait for."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import FrameType
from xml.etree import ElementTree as ET

import dns.name
import pytest
from dns.rdatatype import RdataType
from dnsrig.items.catalogue import items
from dnsrig.verification import runner
from dnsrig.verification.asker import Asker
from dnsrig.verification.exchange import Endpoint
from dnsrig.verification.item import Check, KnownItem
from dnsrig.verification.queries import Query
from dnsrig.verification.runner import Result, RunInterruptedError, run_items
from dnsrig.verification.stopping import StoppedError, pause, thread_pool
from dnsrig.verification.verdicts import Outcome, passed
from free_ports import free_port
from willing_subject import Subject

PATIENCE_S = 60.0
"""So long everything would wait."""
PROMPT_S = 20.0
"""Far less, and more than any machine needs to stop."""
ASKED_FIRST = 5
"""Questions before the items: whether anybody is there, the keys, with CD too, a name that does not exist, and the
version."""
QUERY = Query(name=dns.name.from_text("example."), rtype=RdataType.SOA, payload=None)
SOME = items("authoritative")[0]
MANY = 1000
ROUNDS = 40
"""A run that may leave locks taken does so in some of them, and never ends."""
LEAST_S, MOST_S = 1e-3, 0.03
"""After so much CPU time of a round, in seconds, it is interrupted."""


@pytest.fixture
def silent() -> Iterator[Endpoint]:
    """Take messages by UDP and connections by TCP, and answer nothing."""
    address = ("127.0.0.1", free_port())
    with socket.create_server(address) as tcp, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.bind(address)
        yield Endpoint(*tcp.getsockname())


def waiting(asker: Asker, how: str) -> Callable[[], object]:
    def in_a_pool() -> None:
        with thread_pool(2, "inner") as pool:
            list(pool.map(asker.udp, [QUERY, QUERY]))

    ways: dict[str, Callable[[], object]] = {
        "by UDP": lambda: asker.udp(QUERY),
        "from anywhere": lambda: asker.udp_from_anywhere(QUERY),
        "by TCP": lambda: asker.tcp(QUERY),
        "by turns": lambda: asker.tcp_in_turn([QUERY], 0.0),
        "a pause": lambda: pause(PATIENCE_S),
        "in a pool": in_a_pool,
    }
    return ways[how]


@pytest.mark.parametrize("how", ["by UDP", "from anywhere", "by TCP", "by turns", "a pause", "in a pool"])
def test_what_items_wait_for_is_given_up(silent: Endpoint, how: str) -> None:
    asker = Asker(silent, udp_waits_s=(PATIENCE_S,), tcp_wait_s=PATIENCE_S)
    begun, ended = threading.Event(), threading.Event()

    def patient(_: Subject) -> Outcome:
        begun.set()
        try:
            waiting(asker, how)()
        except StoppedError:
            ended.set()
            raise
        return passed("It came.")

    def quick(_: Subject) -> Outcome:
        begun.wait(PATIENCE_S)
        return passed("It is quick.")

    def interrupt(_: Result) -> None:
        raise KeyboardInterrupt

    began = time.monotonic()
    one, other = items("authoritative")[:2]
    with pytest.raises(RunInterruptedError) as raised:
        run_items([KnownItem(one.item, patient, ""), KnownItem(other.item, quick, "")], Subject(), interrupt)
    assert time.monotonic() - began < PROMPT_S
    assert raised.value.unended == 1
    assert [result.outcome.reason for result in raised.value.results[0]] == [
        "It had not ended when the run was interrupted.",
        "It is quick.",
    ]
    assert ended.is_set()


def test_an_item_is_run_on_all_subjects_before_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "AT_ONCE", 1)

    def meeting() -> Check:
        """Pass where the item is run on both subjects at the same time."""
        both = threading.Barrier(2)

        def check(_: Subject) -> Outcome:
            both.wait(PROMPT_S)
            return passed("Both are there.")

        return check

    known = [KnownItem(one.item, meeting(), "") for one in items("authoritative")[:3]]
    found = runner.run_on_each(known, [Subject(), Subject()])
    assert {result.outcome.reason for results in found for result in results} == {"Both are there."}


def test_what_is_the_servers_is_found_out_with_one_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "AT_ONCE", 1)
    monkeypatch.setattr(runner, "MOST_AT_ONCE", 1)
    asked: list[tuple[str, Subject]] = []

    def noting(known: KnownItem, *, is_of_server: bool) -> KnownItem:
        item = replace(known.item, is_of_server=is_of_server)

        def check(subject: Subject) -> Outcome:
            asked.append((item.id, subject))
            return passed(f"This was said {len(asked)}.")

        return KnownItem(item, check, "")

    one, other = items("authoritative")[:2]
    known = [noting(one, is_of_server=False), noting(other, is_of_server=True)]
    first, second = Subject(), Subject()
    found = runner.run_on_each(known, [first, second])
    assert asked == [(other.item.id, first), (one.item.id, first), (one.item.id, second)]
    assert [[result.outcome.reason for result in results] for results in found] == [
        ["This was said 2.", "This was said 1."],
        ["This was said 3.", "This was said 1."],
    ]
    assert runner.count_runs(known, 2) == 3


def test_other_runs_go_on(silent: Endpoint) -> None:
    """Each run is stopped for itself."""

    def short(_: Subject) -> Outcome:
        pause(0.0)
        return passed("It is quick.")

    def interrupt(_: Result) -> None:
        raise KeyboardInterrupt

    def other(_: Subject) -> Outcome:
        with pytest.raises(KeyboardInterrupt):
            run_items([KnownItem(SOME.item, short, "")], Subject(), interrupt)
        pause(0.0)
        return passed("It went on.")

    assert [one.outcome.reason for one in run_items([KnownItem(SOME.item, other, "")], Subject())] == ["It went on."]


def test_a_refused_connection_is_told(silent: Endpoint) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as closed:
        closed.bind(("127.0.0.1", 0))
        assert Asker(Endpoint(*closed.getsockname())).tcp(QUERY).silence == "connection refused"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_ends_at_once_and_leaves_nothing(tmp_path: Path, number: signal.Signals) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as resolver:
        resolver.bind(("127.0.0.1", 0))
        resolver.settimeout(PATIENCE_S)
        address, port = resolver.getsockname()
        command = [sys.executable, "-m", "dnsrig", "verify", "resolver", address, "-p", str(port), "--trust-anchor"]
        anchor = tmp_path / "root.ds"
        anchor.write_text(". IN DS 1 13 2 " + "00" * 32 + "\n")
        folder = tmp_path / "scratch"
        folder.mkdir()
        files = {"--junit": tmp_path / "junit.xml", "--html": tmp_path / "page.html"}
        wanted = [str(anchor), "--json", *(str(word) for pair in files.items() for word in pair)]
        with subprocess.Popen(
            [*command, *wanted],
            env=os.environ | {"TMPDIR": str(folder)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as started:
            # To each question of the beginning the answer is that there is nothing; then it falls silent.
            for _ in range(ASKED_FIRST):
                query, client = resolver.recvfrom(4096)
                resolver.sendto(
                    query[:2] + b"\x81\x80" + query[4:6] + bytes(6) + query[12:][: _question(query)], client
                )
            resolver.recvfrom(4096)
            began = time.monotonic()
            started.send_signal(number)
            printed, said = started.communicate(timeout=PATIENCE_S)
    assert (started.returncode, said) == (130, "dnsrig: interrupted\n")
    assert time.monotonic() - began < PROMPT_S
    assert list(folder.iterdir()) == []
    found = json.loads(printed)
    assert found["incomplete"].startswith("interrupted when ")
    assert "It had not ended when the run was interrupted." in {item["reason"] for item in found["items"]}
    assert [item["id"] for item in found["items"]] == [one.item.id for one in items("resolver") if not one.item.is_slow]
    assert ET.fromstring(files["--junit"].read_text())[0].get("errors") == "1"
    assert "Incomplete: interrupted when " in files["--html"].read_text()
    assert {path.name for path in tmp_path.iterdir()} == {"junit.xml", "page.html", "root.ds", "scratch"}


def _question(query: bytes) -> int:
    """Give the length of the question section."""
    return query.index(b"\0", 12) - 12 + 5


def test_a_run_of_items_ends_whenever_it_is_interrupted() -> None:
    """The signal is sent when so much CPU time was used: at any place in the code of the main thread."""
    drawn = random.Random(1)
    interrupted = 0

    def send(_number: int, _frame: FrameType | None) -> None:
        signal.raise_signal(signal.SIGINT)

    def check(_: object) -> Outcome:
        return passed("Yes.")

    known = [KnownItem(one.item, check, "") for one in items("authoritative")[:100]] * (MANY // 100)
    before = signal.signal(signal.SIGVTALRM, send)
    try:
        for _ in range(ROUNDS):
            signal.setitimer(signal.ITIMER_VIRTUAL, drawn.uniform(LEAST_S, MOST_S))
            try:
                run_items(known, Subject())
                signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
            except KeyboardInterrupt:
                interrupted += 1
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)
    assert interrupted > ROUNDS // 4
