"""Addresses at which nobody answers, or what answers is no name server, or a very slow one."""

import contextlib
import json
import os
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from functools import partial

import dns.message
import dns.name
import pytest
from dns.flags import Flag
from dns.rdatatype import RdataType
from dnsrig.cli.app import run_command_line
from dnsrig.errors import SubjectFailedError
from dnsrig.items.catalogue import items
from dnsrig.verification import proxy_targets, resolver_targets, targets
from dnsrig.verification.asker import MOST_STRAYS, Asker
from dnsrig.verification.exchange import Endpoint, Exchange
from dnsrig.verification.habits import Habits
from dnsrig.verification.item import KnownItem, Role
from dnsrig.verification.queries import Query
from dnsrig.verification.reach import LIMIT_S, SLOW_LIMIT_S, SLOW_MS, limit_of, other_role
from dnsrig.verification.runner import run_items
from dnsrig.verification.stopping import pause
from dnsrig.verification.transfer import transfer
from dnsrig.verification.verdicts import Outcome, Verdict, passed
from willing_subject import Subject

WAITS_S = (0.2, 0.2)
PATIENCE_S = 60.0
QUERY = Query(name=dns.name.from_text("example."), rtype=RdataType.SOA, payload=None)
GARBAGE: dict[str, Callable[[bytes], list[bytes]]] = {
    "nothing": lambda _: [],
    "another ID": lambda query: [bytes([query[0] ^ 0xFF]) + query[1:2] + b"\x84" + query[3:]],
    "the query": lambda query: [query],
    "empty datagrams": lambda _: [b""],
    "random octets": lambda _: [os.urandom(40) for _ in range(3)],
    "a header only": lambda query: [query[:2] + b"\x84\x00" + b"\xff" * 8],
}


class Responder:
    """Answers datagrams as told, and counts them."""

    def __init__(self, answer: Callable[[bytes], list[bytes]]) -> None:
        self._answer = answer
        self.asked = 0
        self._channel = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._channel.bind(("127.0.0.1", 0))
        self.address, self.port = self._channel.getsockname()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> "Responder":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
            last.sendto(b"end", (self.address, self.port))
        self._thread.join()
        self._channel.close()

    def _serve(self) -> None:
        while (received := self._channel.recvfrom(4096))[0] != b"end":
            self.asked += 1
            for message in self._answer(received[0]):
                self._channel.sendto(message, received[1])


COMMANDS = {
    "authoritative": (targets, ["--zone", "example."]),
    "resolver": (resolver_targets, []),
    "proxy": (proxy_targets, []),
}


@pytest.mark.parametrize("garbage", GARBAGE)
@pytest.mark.parametrize("role", COMMANDS)
def test_that_nobody_answers_is_found_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, role: str, garbage: str
) -> None:
    module, options = COMMANDS[role]
    if role == "resolver":
        monkeypatch.setattr(resolver_targets, "FIRST_WAITS_S", WAITS_S)
    else:
        monkeypatch.setattr(module, "Asker", partial(Asker, udp_waits_s=WAITS_S))
    with Responder(GARBAGE[garbage]) as server:
        assert run_command_line(["verify", role, server.address, "-p", str(server.port), *options, "--json"]) == 1
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert found["items"] == [] and err == f"dnsrig: {found['incomplete']}\n"
    assert err.startswith(f"dnsrig: {server.address}: ") and err.count("\n") == 1
    came = garbage not in {"nothing", "a header only"}
    assert ("though messages came that are no responses" in err) == came
    assert server.asked == (1 if garbage == "a header only" else len(WAITS_S))


def exchange(elapsed_ms: float) -> Exchange:
    response = dns.message.make_response(dns.message.make_query("example.", "SOA")).to_wire()
    return Exchange(Endpoint("192.0.2.1"), "udp", QUERY, b"", response, 1, elapsed_ms)


@pytest.mark.parametrize(
    ("elapsed_ms", "expected"),
    [((1.0,), LIMIT_S), ((SLOW_MS * 3, 1.0), LIMIT_S), ((SLOW_MS * 3, SLOW_MS * 3), SLOW_LIMIT_S)],
    ids=["quick", "slow once", "slow"],
)
def test_slow_servers_get_less_time(elapsed_ms: tuple[float, ...], expected: float) -> None:
    answers = iter([exchange(one) for one in elapsed_ms])
    assert limit_of(lambda: next(answers), "192.0.2.1", "is it there?") == expected
    assert list(answers) == []


@pytest.mark.parametrize(
    ("flags", "role", "said"),
    [
        (Flag.RA, "authoritative", "192.0.2.1#53 looks like a resolver (it sets RA, and not AA)"),
        (Flag.AA | Flag.RA, "authoritative", ""),
        (Flag.AA, "authoritative", ""),
        (Flag.AA, "resolver", "192.0.2.1#53 looks like an authoritative server (it does not set RA)"),
        (Flag.RA, "resolver", ""),
    ],
)
def test_servers_of_another_role_are_known_by_their_flags(flags: Flag, role: Role, said: str) -> None:
    response = dns.message.make_response(dns.message.make_query("example.", "SOA"))
    response.flags |= flags
    found = other_role(Exchange(Endpoint("192.0.2.1"), "udp", QUERY, b"", response.to_wire(), 1, 1.0), role)
    assert found.startswith(said) and bool(found) == bool(said)


def test_silence_is_an_error() -> None:
    silent = Exchange(Endpoint("192.0.2.1"), "udp", QUERY, b"", None, 1, 0.0, "none in 1 s")
    with pytest.raises(SubjectFailedError, match=r"none in 1 s; is it there\?"):
        limit_of(lambda: silent, "192.0.2.1", "is it there?")


def test_what_has_not_ended_in_time_is_inconclusive() -> None:
    def patient(_: Subject) -> Outcome:
        pause(PATIENCE_S)
        return passed("It came.")

    first, second, third = items("authoritative")[:3]
    known = [
        KnownItem(first.item, patient, ""),
        KnownItem(second.item, lambda _: passed("It is quick."), ""),
        KnownItem(third.item, patient, ""),
    ]
    told: list[str] = []
    results = run_items(known, Subject(), lambda result: told.append(result.item.id), limit_s=0.3)
    assert [result.outcome.verdict for result in results] == [
        Verdict.INCONCLUSIVE,
        Verdict.PASS,
        Verdict.INCONCLUSIVE,
    ]
    assert "taken 0.3 s; --limit gives more" in results[0].outcome.reason
    assert sorted(told) == sorted(one.item.id for one in known)


@contextlib.contextmanager
def tcp_server(serve: Callable[[socket.socket], None]) -> Iterator[Endpoint]:
    """Give each connection, one after another, to `serve`."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        ends = threading.Event()

        def accept() -> None:
            while True:
                channel, _ = server.accept()
                with channel, contextlib.suppress(OSError):
                    if ends.is_set():
                        return
                    serve(channel)

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield Endpoint(*server.getsockname())
        ends.set()
        socket.create_connection(server.getsockname()).close()
        thread.join()


def test_a_server_that_never_answers_by_tcp_is_waited_for_in_full_once() -> None:
    with tcp_server(lambda channel: channel.recv(4096) and None) as endpoint:
        asker = Asker(endpoint, habits=Habits())
        assert [asker.tcp(QUERY).tries for _ in range(3)] == [2, 1, 1]
        assert asker.tcp_in_turn([QUERY], 0.0)[0].tries == 1


def test_one_that_has_answered_by_tcp_is_waited_for() -> None:
    habits = Habits()
    habits.note(Exchange(Endpoint("192.0.2.1"), "tcp", QUERY, b"", b"", 1, 0.0))
    with tcp_server(lambda channel: channel.recv(4096) and None) as endpoint:
        asker = Asker(endpoint, habits=habits)
        assert {asker.tcp(QUERY).tries for _ in range(3)} == {2}


def test_endless_messages_by_tcp_are_not_read_for_ever() -> None:
    def flood(channel: socket.socket) -> None:
        message = os.urandom(11)
        while True:
            channel.sendall(struct.pack("!H", len(message)) + message)

    with tcp_server(flood) as endpoint:
        found = Asker(endpoint, tcp_wait_s=PATIENCE_S).tcp(QUERY)
    assert found.response is None and len(found.strays) == MOST_STRAYS
    assert found.silence == f"none among {MOST_STRAYS} messages, and more come"


def test_a_transfer_that_comes_an_octet_at_a_time_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dnsrig.verification.transfer.TRANSFER_WAIT_S", 0.5)

    def trickle(channel: socket.socket) -> None:
        channel.recv(4096)
        while True:
            channel.sendall(b"\x7f")
            channel.settimeout(0.05)
            with contextlib.suppress(TimeoutError):
                if not channel.recv(4096):
                    return

    with tcp_server(trickle) as endpoint:
        found = transfer(Asker(endpoint, tcp_wait_s=PATIENCE_S), QUERY.name)
    assert found.refusal == "timed out" and found.zone is None
