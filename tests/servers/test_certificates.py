"""Certificates that the rig makes are accepted by those who trust them, and their keys are nobody else's."""

import socket
import ssl
import stat
import threading
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from dnsrig.errors import EnvironmentLacksError
from dnsrig.servers.certificates import make_certificate


@pytest.mark.parametrize("kind", ["ecdsa-p256", "rsa-2048"])
def test_key_is_of_its_kind_and_private(kind, tmp_path: Path) -> None:
    made = make_certificate(tmp_path / "new", kind)
    key = x509.load_pem_x509_certificate(made.chain.read_bytes()).public_key()
    if kind == "rsa-2048":
        assert isinstance(key, rsa.RSAPublicKey) and key.key_size == 2048
    else:
        assert isinstance(key, ec.EllipticCurvePublicKey) and key.curve.name == "secp256r1"
    assert stat.S_IMODE(made.key.stat().st_mode) == 0o600
    assert sorted(path.name for path in made.key.parent.iterdir()) == [made.chain.name, made.key.name]


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "::1", "127.0.0.53"])
def test_who_trusts_it_accepts_its_names(name: str, tmp_path: Path) -> None:
    made = make_certificate(tmp_path, addresses=("127.0.0.1", "::1", "127.0.0.53"))
    assert handshake(made, name) is None


def test_other_names_are_refused(tmp_path: Path) -> None:
    assert isinstance(handshake(make_certificate(tmp_path), "127.0.0.2"), ssl.SSLCertVerificationError)


def test_made_again_it_is_another(tmp_path: Path) -> None:
    texts = {make_certificate(tmp_path).key.read_text() for _ in range(2)}
    assert len(texts) == 2


def test_folder_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(EnvironmentLacksError, match=r"cannot be written to .*file"):
        make_certificate(tmp_path / "file" / "below")


def handshake(made, name: str) -> ssl.SSLError | None:
    """Shake hands with a server that shows the certificate, trusting that alone; give what the client objects to."""
    server, client = socket.socketpair()
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(made.chain, made.key)

    def serve() -> None:
        try:
            serving.wrap_socket(server, server_side=True).close()
        except OSError:
            server.close()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        with client:
            ssl.create_default_context(cafile=made.chain).wrap_socket(client, server_hostname=name).close()
    except ssl.SSLError as error:
        return error
    finally:
        thread.join()
    return None
