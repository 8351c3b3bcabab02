"""What counts as serving over an encrypted transport, against peers that do it wrongly."""

import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import dns.flags
import dns.message
import dns.rrset
import h2.config
import h2.connection
import h2.events
import pytest
from dnsrig.servers.certificates import make_certificate
from dnsrig.servers.encrypted_readiness import ask_soa_doh, ask_soa_dot, quic_answers

SOA = dns.rrset.from_text("example.", 60, "IN", "SOA", "ns1.example. host.example. 7 1 1 1 1")
DEADLINE_S = 30.0


def response_to(wire: bytes) -> bytes:
    response = dns.message.make_response(dns.message.from_wire(wire))
    response.flags |= dns.flags.AA
    response.answer.append(SOA)
    return response.to_wire()


@contextmanager
def listening(serve: Callable[[socket.socket], None]) -> Iterator[int]:
    """Have `serve` deal with one connection; what a client that gives up does to it is no matter."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(DEADLINE_S)

        def accept() -> None:
            connection, _ = listener.accept()
            connection.settimeout(DEADLINE_S)
            with connection, suppress(OSError):
                serve(connection)

        thread = threading.Thread(target=accept)
        thread.start()
        yield listener.getsockname()[1]
        thread.join()


@contextmanager
def speaking_tls(folder: Path, alpn: list[str], serve: Callable[[ssl.SSLSocket], None]) -> Iterator[int]:
    made = make_certificate(folder)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made.chain, made.key)
    if alpn:
        context.set_alpn_protocols(alpn)

    def wrap(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) as session:
            serve(session)

    with listening(wrap) as port:
        yield port


def read_query(session: ssl.SSLSocket) -> bytes:
    with session.makefile("rb") as stream:
        return stream.read(*struct.unpack("!H", stream.read(2)))


@pytest.mark.parametrize(
    ("change", "serial", "said"),
    [
        (lambda wire: struct.pack("!H", len(wire)) + wire, 7, "serial 7"),
        (lambda wire: struct.pack("!H", len(wire)) + wire[:-1], None, "connection closed"),
        (lambda wire: b"\0", None, "connection closed"),
        (lambda wire: b"", None, "connection closed"),
        (lambda wire: struct.pack("!H", 3) + wire[:3], None, "cannot be read"),
    ],
)
def test_dot(change, serial: int | None, said: str, tmp_path: Path) -> None:
    with speaking_tls(tmp_path, [], lambda session: session.sendall(change(response_to(read_query(session))))) as port:
        answer = ask_soa_dot("127.0.0.1", port, "example")
    assert (answer.serial, said in answer.said) == (serial, True), answer


@pytest.mark.parametrize("ask", [ask_soa_dot, ask_soa_doh])
def test_peer_without_tls(ask) -> None:
    with listening(lambda connection: connection.sendall(b"220 this is no TLS\r\n")) as port:
        assert ask("127.0.0.1", port, "example").serial is None


def serve_doh(session: ssl.SSLSocket, status: str, change: Callable[[bytes], bytes]) -> None:
    connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
    connection.initiate_connection()
    body, headers = bytearray(), {}
    while True:
        session.sendall(connection.data_to_send())
        for event in connection.receive_data(session.recv(65536)):
            match event:
                case h2.events.RequestReceived():
                    headers = dict(event.headers)
                case h2.events.DataReceived():
                    body += event.data
                case h2.events.StreamEnded():
                    assert headers[b":path"] == b"/dns-query"
                    assert headers[b"content-type"] == b"application/dns-message"
                    connection.send_headers(1, [(":status", status)])
                    connection.send_data(1, change(response_to(bytes(body))), end_stream=True)
                    send_last(session, connection.data_to_send())
                    return


def send_last(session: ssl.SSLSocket, data: bytes) -> None:
    """Send, and let the client close: what it sends until then, left unread, would reset the connection."""
    session.sendall(data)
    while session.recv(65536):
        pass


@pytest.mark.parametrize(
    ("status", "change", "serial", "said"),
    [
        ("200", lambda wire: wire, 7, "serial 7"),
        ("415", lambda wire: wire, None, "HTTP status 415"),
        ("200", lambda wire: wire[:5], None, "cannot be read"),
    ],
)
def test_doh(status: str, change, serial: int | None, said: str, tmp_path: Path) -> None:
    with speaking_tls(tmp_path, ["h2"], lambda session: serve_doh(session, status, change)) as port:
        answer = ask_soa_doh("127.0.0.1", port, "example")
    assert (answer.serial, said in answer.said) == (serial, True), answer


def test_doh_without_http2(tmp_path: Path) -> None:
    with speaking_tls(tmp_path, ["http/1.1"], lambda session: None) as port:
        assert ask_soa_doh("127.0.0.1", port, "example").serial is None
    broken_settings = b"\0\0\1" + b"\4" + bytes(5) + b"\0"
    with speaking_tls(tmp_path, ["h2"], lambda session: send_last(session, broken_settings)) as port:
        assert "HTTP/2 error" in ask_soa_doh("127.0.0.1", port, "example").said


def negotiation(packet: bytes) -> bytes:
    """A Version Negotiation packet (RFC 9000 section 17.2.1): the client's connection ids, exchanged, and a version."""
    destination, source = packet[6:14], packet[15:23]
    return b"\x80" + bytes(4) + b"\x08" + source + b"\x08" + destination + b"\0\0\0\x01"


@pytest.mark.parametrize(
    ("change", "spoken"),
    [(negotiation, True), (lambda packet: packet, False), (lambda packet: b"\x80", False), (lambda packet: b"", False)],
)
def test_quic(change, spoken: bool) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        sock.settimeout(DEADLINE_S)

        def answer() -> None:
            packet, client = sock.recvfrom(65536)
            assert len(packet) >= 1200
            sock.sendto(change(packet), client)

        thread = threading.Thread(target=answer)
        thread.start()
        assert quic_answers("127.0.0.1", sock.getsockname()[1]) == spoken
        thread.join()


def test_nobody_listens() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        assert "refused" in ask_soa_dot("127.0.0.1", port, "example").said
        assert "refused" in ask_soa_doh("127.0.0.1", port, "example").said
        assert not quic_answers("127.0.0.1", port)
