"""Askers against a server of the test's own that does what it is told."""

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import dns.flags
import dns.message
import dns.name
import dns.opcode
import pytest
from dns.rdatatype import RdataType
from dnsrig.verification import asker
from dnsrig.verification.asker import Asker
from dnsrig.verification.exchange import Endpoint
from dnsrig.verification.faults.relay import is_to
from dnsrig.verification.queries import CraftedMessage, Query

NAME = dns.name.from_text("example.")
SOA = Query(name=NAME, rtype=RdataType.SOA, payload=None)
NS = Query(name=NAME, rtype=RdataType.NS, payload=None)
Conversation = Callable[[socket.socket], None]


def response_to(query: bytes) -> bytes:
    return dns.message.make_response(dns.message.from_wire(query)).to_wire()


def read_framed(channel: socket.socket) -> bytes:
    def exactly(octets: int) -> bytes:
        found = b""
        while len(found) < octets:
            part = channel.recv(octets - len(found))
            if not part:
                raise EOFError
            found += part
        return found

    return exactly(struct.unpack("!H", exactly(2))[0])


def framed(message: bytes) -> bytes:
    return struct.pack("!H", len(message)) + message


@contextmanager
def tcp_server(converse: Conversation) -> Iterator[Endpoint]:
    """Serve each connection by `converse`, one after another."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                try:
                    channel, _ = listener.accept()
                except OSError:
                    return
                with channel:
                    try:
                        converse(channel)
                    except (OSError, EOFError):
                        continue

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield Endpoint(*listener.getsockname()[:2])
        listener.shutdown(socket.SHUT_RDWR)
    thread.join()


def test_pipelined_responses_are_matched_in_any_order() -> None:
    def backwards(channel: socket.socket) -> None:
        queries = [read_framed(channel), read_framed(channel)]
        channel.sendall(b"".join(framed(response_to(query)) for query in reversed(queries)))

    with tcp_server(backwards) as endpoint:
        exchanges = Asker(endpoint).tcp_pipelined([SOA, NS])
    assert [exchange.message.question[0].rdtype for exchange in exchanges if exchange.message] == [
        RdataType.SOA,
        RdataType.NS,
    ]


def test_each_response_by_a_connection_is_waited_for_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that takes queries one by one needs the more time the more there are."""
    wait_s, now_s = 1.0, 0.0
    receive = asker._receive_framed

    def late(channel: socket.socket, deadline: float) -> bytes:
        nonlocal now_s
        now_s += 0.9 * wait_s
        if now_s > deadline:
            raise TimeoutError
        return receive(channel, now_s + 30)

    def answer_both(channel: socket.socket) -> None:
        for query in (read_framed(channel), read_framed(channel)):
            channel.sendall(framed(response_to(query)))

    monkeypatch.setattr(asker, "_receive_framed", late)
    monkeypatch.setattr(asker, "time", SimpleNamespace(monotonic=lambda: now_s))
    with tcp_server(answer_both) as endpoint:
        exchanges = Asker(endpoint, tcp_wait_s=wait_s).tcp_pipelined([SOA, NS])
    assert [exchange.tries for exchange in exchanges if exchange.response is not None] == [1, 1]


def test_queries_in_turn_share_a_connection() -> None:
    connections = []

    def answer_all(channel: socket.socket) -> None:
        connections.append(channel.getpeername())
        while True:
            channel.sendall(framed(response_to(read_framed(channel))))

    with tcp_server(answer_all) as endpoint:
        first, second = Asker(endpoint).tcp_in_turn([SOA, NS], 0.0)
    assert first.message is not None and second.message is not None
    assert len(connections) == 1


def test_parts_that_this_machine_sends_late_are_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    was_closed = threading.Event()
    server_waits_s, gap_s = 0.3, 0.01
    assert server_waits_s > 2 * gap_s + asker.LATE_PARTS_S

    def impatient(channel: socket.socket) -> None:
        channel.settimeout(server_waits_s)
        try:
            channel.sendall(framed(response_to(read_framed(channel))))
        except TimeoutError:
            channel.close()
            was_closed.set()

    def stalls_once(seconds: float) -> None:
        assert seconds == gap_s
        assert was_closed.wait(30)

    monkeypatch.setattr(asker, "pause", stalls_once)
    with tcp_server(impatient) as endpoint:
        exchange = Asker(endpoint).tcp_in_parts(SOA, gap_s)
    assert exchange.response is not None
    assert was_closed.is_set()


def test_a_connection_closed_after_one_response_is_told() -> None:
    def answer_one(channel: socket.socket) -> None:
        channel.sendall(framed(response_to(read_framed(channel))))

    with tcp_server(answer_one) as endpoint:
        first, second = Asker(endpoint).tcp_in_turn([SOA, NS], 0.0)
    assert first.message is not None
    assert second.response is None
    assert second.query is NS
    assert second.silence


def test_a_response_from_elsewhere_is_taken_and_named() -> None:
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other,
    ):
        asked.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))

        def answer() -> None:
            query, client = asked.recvfrom(4096)
            other.sendto(response_to(query), client)

        thread = threading.Thread(target=answer)
        thread.start()
        exchange, sender = Asker(Endpoint(*asked.getsockname())).udp_from_anywhere(SOA)
        thread.join()
        assert exchange.message is not None
        assert sender == Endpoint(*other.getsockname())


def test_crafted_messages_are_sent_as_they_are() -> None:
    crafted = CraftedMessage(name=NAME, rtype=RdataType.SOA, after_id=b"\x00\x00\x00\x02rest")
    assert crafted.wire(0x1234) == b"\x12\x34\x00\x00\x00\x02rest"
    assert "+qr" in crafted.dig_options()


def test_queries_can_have_flags_of_responses() -> None:
    sent = Query(name=NAME, rtype=RdataType.SOA, opcode=dns.opcode.NOTIFY, qr=True, aa=True, payload=None)
    message = dns.message.from_wire(sent.wire(1))
    assert message.flags & dns.flags.QR and message.flags & dns.flags.AA
    assert "+aaflag" in sent.dig_options()
    assert "+opcode=notify" in sent.dig_options()


@pytest.mark.parametrize(
    "name", [dns.name.root, dns.name.Name([b"a\0b", b"Www", b"example", b""])], ids=["root", "odd"]
)
def test_a_relay_tells_responses_to_other_questions(name: dns.name.Name) -> None:
    query = dns.message.make_query(name, "A", want_dnssec=True)
    of_others = [dns.message.make_query(name, "AAAA"), dns.message.make_query(dns.name.from_text("other.", name), "A")]
    sent, right = query.to_wire(), dns.message.make_response(query).to_wire()
    lower = dns.message.make_response(dns.message.make_query(name.canonicalize(), "A")).to_wire()
    without = right[:4] + bytes(2) + right[6:12]
    assert [is_to(sent, came) for came in (right, lower, without, right[:20])] == [True] * 4
    assert [is_to(sent, other.to_wire()) for other in of_others] == [False, False]
