"""Self-signed certificates for servers under test."""

import datetime
import ipaddress
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from dnsrig.errors import EnvironmentLacksError

CertificateKey = Literal["ecdsa-p256", "rsa-2048"]
LABELS: dict[str, str] = {"ecdsa-p256": "ECDSA P-256", "rsa-2048": "RSA 2048"}
LOOPBACK = ("127.0.0.1", "::1")
VALID_FOR = datetime.timedelta(days=30)
VALID_BEFORE_NOW = datetime.timedelta(days=1)
"""Clocks of client and server may differ."""
COMMON_NAME = "localhost"


@dataclass(frozen=True, slots=True)
class Certificate:
    """A server's certificate and private key, as PEM files (RFC 7468); the paths are made absolute."""

    chain: Path
    """The certificate, followed by those that it depends on, if there are any."""
    key: Path
    kind: CertificateKey

    def __post_init__(self) -> None:
        object.__setattr__(self, "chain", Path(self.chain).absolute())
        object.__setattr__(self, "key", Path(self.key).absolute())

    @property
    def label(self) -> str:
        """The key's kind for readers, such as "ECDSA P-256"."""
        return LABELS[self.kind]


def make_certificate(
    folder: Path, kind: CertificateKey = "ecdsa-p256", addresses: Iterable[str] = LOOPBACK
) -> Certificate:
    """Write a new key and a self-signed certificate for it into `folder`, which is made if need be.

    The certificate (RFC 5280) names localhost and the IP addresses `addresses`, is valid for 30 days, and can be
    trusted as it is, as its own CA. Files of that kind from an earlier call are replaced. The key can be read by its
    owner only.

    Raises:
        EnvironmentLacksError: the files cannot be written.

    """
    key = ec.generate_private_key(ec.SECP256R1()) if kind == "ecdsa-p256" else rsa.generate_private_key(65537, 2048)
    signed = _certificate(key, addresses)
    made = Certificate(folder / f"certificate-{kind}.pem", folder / f"key-{kind}.pem", kind)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _replace(
            made.key,
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            ),
            mode=0o600,
        )
        _replace(made.chain, signed.public_bytes(serialization.Encoding.PEM), mode=0o644)
    except OSError as error:
        raise EnvironmentLacksError(f"a certificate cannot be written to {folder}: {error.strerror}") from error
    return made


def _certificate(key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey, addresses: Iterable[str]) -> x509.Certificate:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, COMMON_NAME)])
    now = datetime.datetime.now(datetime.UTC)
    names = [x509.DNSName(COMMON_NAME), *(x509.IPAddress(ipaddress.ip_address(text)) for text in addresses)]
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - VALID_BEFORE_NOW)
        .not_valid_after(now + VALID_FOR)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(key, hashes.SHA256())
    )


def _replace(path: Path, content: bytes, *, mode: int) -> None:
    """Write a file beside its name, with its permissions from the first byte on, and rename it."""
    beside = path.with_suffix(".new")
    beside.unlink(missing_ok=True)
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(content)
    beside.replace(path)
