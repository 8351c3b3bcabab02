"""What a server chose, read from what Python's TLS sends and from what no server sends."""

import contextlib
import socket
import ssl
import threading

import pytest
from dnsrig.servers.certificates import make_certificate
from dnsrig.studies.encrypted.relay import Relay
from dnsrig.studies.encrypted.server_hello import GROUPS, Negotiated, negotiated
from hypothesis import given
from hypothesis import strategies as st


def hello_of(folder, version):
    """Make a handshake in memory; give the server's octets and the client's own view."""
    made = make_certificate(folder)
    server_context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_context.load_cert_chain(made.chain, made.key)
    client_context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client_context.check_hostname = False
    client_context.verify_mode = ssl.CERT_NONE
    client_context.maximum_version = version
    to_server, from_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO(), ssl.MemoryBIO()
    server = server_context.wrap_bio(to_server, from_server, server_side=True)
    client = client_context.wrap_bio(to_client, to_server, server_hostname="localhost")
    sent = b""
    for _ in range(6):
        for end in (client, server):
            with contextlib.suppress(ssl.SSLWantReadError):
                end.do_handshake()
            octets = from_server.read()
            sent += octets
            to_client.write(octets)
    return sent, (client.version(), client.cipher()[0])


@pytest.mark.parametrize(
    ("version", "expected"),
    [(ssl.TLSVersion.TLSv1_3, ("TLS 1.3", "TLS_")), (ssl.TLSVersion.TLSv1_2, ("TLS 1.2", "TLS_ECDHE_ECDSA_"))],
)
def test_what_a_server_chose_is_read(tmp_path, version, expected):
    sent, (client_version, client_suite) = hello_of(tmp_path, version)
    found = negotiated(sent)
    assert (found.version, found.cipher_suite[: len(expected[1])]) == expected
    assert found.version.replace(" ", "v") == client_version
    assert expected[0] != "TLS 1.3" or found.cipher_suite == client_suite
    assert found.group in GROUPS.values()
    for end in range(len(sent)):
        assert negotiated(sent[:end]) in {None, found, Negotiated(found.version, found.cipher_suite, None)}


@given(
    st.binary(max_size=400), st.sampled_from([b"", b"\x16\x03\x03\x00\x60", b"\x16\x03\x03\x00\x60\x02\x00\x00\x5c"])
)
def test_no_octets_are_too_strange(octets, prefix):
    found = negotiated(prefix + octets)
    assert found is None or found.version


def test_the_relay_passes_on_both_ways_and_keeps_what_the_server_said():
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            peer, _ = server.accept()
            with peer:
                peer.sendall(peer.recv(100)[::-1])

        thread = threading.Thread(target=serve)
        thread.start()
        address = server.getsockname()
        with Relay(address) as relay, socket.create_connection((address[0], relay.port), 10) as client:
            client.sendall(b"abc")
            assert client.recv(100) == b"cba"
        thread.join()
    assert relay.from_server == b"cba"
