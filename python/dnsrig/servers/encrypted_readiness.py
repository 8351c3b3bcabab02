"""Ask a server over its encrypted transports whether it serves."""

import socket
import ssl
import struct

import dns.message
import h2.config
import h2.connection
import h2.events
import h2.exceptions

from dnsrig.servers.readiness import ANSWER_TIMEOUT_S, SoaAnswer, exchange_soa
from dnsrig.servers.transports import DOH_PATH

DNS_MESSAGE = "application/dns-message"
READ_BYTES = 65536
FORCED_NEGOTIATION = 0x1A2A3A4A
"""A QUIC version that no server has, of those reserved to force version negotiation (RFC 9000 section 15)."""
SMALLEST_INITIAL_BYTES = 1200
"""UDP payload below which a server need not answer an unknown version (RFC 9000 sections 5.2.2 and 14.1)."""
CONNECTION_ID_BYTES = 8


def ask_soa_dot(address: str, port: int, origin: str) -> SoaAnswer:
    """Ask once for a zone's SOA record over TLS (RFC 7858), in a new session; the certificate is not verified."""
    return exchange_soa(origin, lambda query: ask_dot(address, port, query))


def ask_soa_doh(address: str, port: int, origin: str) -> SoaAnswer:
    """Ask once for a zone's SOA record by POST (RFC 8484), in a new HTTP/2 session; no certificate is verified."""
    return exchange_soa(origin, lambda query: ask_doh(address, port, query))


def ask_dot(address: str, port: int, query: dns.message.Message) -> dns.message.Message:
    """Ask once over TLS, in a new session. Raises OSError, EOFError, or dnspython's errors for a bad message."""
    with _tls(address, port, "dot") as session:
        session.sendall(query.to_wire(prepend_length=True))
        with session.makefile("rb") as stream:
            (length,) = struct.unpack("!H", _exactly(stream.read(2), 2))
            return dns.message.from_wire(_exactly(stream.read(length), length))


def ask_doh(address: str, port: int, query: dns.message.Message) -> dns.message.Message:
    """Ask once by POST, in a new HTTP/2 session. Raises OSError, EOFError, or dnspython's errors for a bad message."""
    with _tls(address, port, "h2") as session:
        if session.selected_alpn_protocol() != "h2":
            raise OSError("the server does not offer HTTP/2 (ALPN h2)")
        try:
            return dns.message.from_wire(_post(session, f"{_host(address)}:{port}", query.to_wire()))
        except h2.exceptions.H2Error as error:
            raise OSError(f"an HTTP/2 error ({error or type(error).__name__})") from error


def quic_answers(address: str, port: int) -> bool:
    """Say whether something speaks QUIC on a UDP port: it answers an unknown version (RFC 9000 section 6.1)."""
    connection_id = bytes(range(CONNECTION_ID_BYTES))
    header = struct.pack("!BI", 0xC0, FORCED_NEGOTIATION) + 2 * (bytes([CONNECTION_ID_BYTES]) + connection_id)
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        sock.settimeout(ANSWER_TIMEOUT_S)
        try:
            sock.connect((address, port))
            sock.send(header.ljust(SMALLEST_INITIAL_BYTES, b"\0"))
            answer = sock.recv(READ_BYTES)
        except OSError:
            return False
    long_header = len(answer) > 5 and bool(answer[0] & 0x80)
    return long_header and answer[1:5] == bytes(4) and answer[6 : 6 + CONNECTION_ID_BYTES] == connection_id


def _tls(address: str, port: int, alpn: str) -> ssl.SSLSocket:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols([alpn])
    plain = socket.create_connection((address, port), ANSWER_TIMEOUT_S)
    try:
        return context.wrap_socket(plain, server_hostname=address)
    except BaseException:
        plain.close()
        raise


def _post(session: ssl.SSLSocket, authority: str, body: bytes) -> bytes:
    """Make one POST request and give the answer's body; any status but 200 is an OSError."""
    connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True))
    connection.initiate_connection()
    connection.send_headers(
        1,
        [
            (":method", "POST"),
            (":scheme", "https"),
            (":authority", authority),
            (":path", DOH_PATH),
            ("content-type", DNS_MESSAGE),
            ("accept", DNS_MESSAGE),
            ("content-length", str(len(body))),
        ],
    )
    connection.send_data(1, body, end_stream=True)
    answer = bytearray()
    while True:
        session.sendall(connection.data_to_send())
        received = session.recv(READ_BYTES)
        if not received:
            raise EOFError
        for event in connection.receive_data(received):
            match event:
                case h2.events.ResponseReceived(headers=headers):
                    _check_status(dict(headers or ()))
                case h2.events.DataReceived(data=data):
                    answer += data or b""
                case h2.events.StreamEnded():
                    return bytes(answer)
                case h2.events.StreamReset() | h2.events.ConnectionTerminated():
                    raise EOFError


def _check_status(headers: dict[bytes, bytes]) -> None:
    status = headers.get(b":status", b"none")
    if status != b"200":
        raise OSError(f"HTTP status {status.decode(errors='replace')}")


def _host(address: str) -> str:
    return f"[{address}]" if ":" in address else address


def _exactly(data: bytes, length: int) -> bytes:
    if len(data) != length:
        raise EOFError
    return data
