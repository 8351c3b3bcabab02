"""Keys of the tree's zones: made here, so that records can also be signed one by one, and wrongly."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, cast

import dns.dnssec
import dns.exception
import dns.name
import dns.rdata
import dns.rrset
from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed448, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from dns.dnssecalgs import get_algorithm_cls_from_dnskey
from dns.dnssectypes import Algorithm, DSDigest
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.DNSKEY import DNSKEY
from dns.rdtypes.ANY.RRSIG import RRSIG

PrivateKey = (
    rsa.RSAPrivateKey
    | ec.EllipticCurvePrivateKey
    | ed25519.Ed25519PrivateKey
    | ed448.Ed448PrivateKey
    | dsa.DSAPrivateKey
)
ZONE_FLAG = 0x0100
SEP_FLAG = 0x0001
RSA_BITS = 2048
DSA_BITS = 1024
UNKNOWN_SIGNATURE = bytes(range(64))
BIND_NAMES = {
    Algorithm.RSASHA1: "RSASHA1",
    Algorithm.RSASHA1NSEC3SHA1: "NSEC3RSASHA1",
    Algorithm.RSASHA256: "RSASHA256",
    Algorithm.RSASHA512: "RSASHA512",
    Algorithm.ECDSAP256SHA256: "ECDSAP256SHA256",
    Algorithm.ECDSAP384SHA384: "ECDSAP384SHA384",
    Algorithm.ED25519: "ED25519",
}
"""Algorithms that dnsrig's signer has, as BIND's key files name them."""

VALIDATED = {*BIND_NAMES, Algorithm.DSA, Algorithm.RSAMD5, Algorithm.ED448}
"""Algorithms by which keys can be made; under other numbers stand keys that nobody can use."""


Data = TypeVar("Data", bound=dns.rdata.Rdata)


def replaced(data: Data, **fields: object) -> Data:
    """Give a record's data with other fields."""
    return cast("Data", data.replace(**fields))


@dataclass(frozen=True, slots=True)
class ZoneKey:
    """A key with its DNSKEY record's data."""

    private: PrivateKey
    """Of `cryptography`."""
    dnskey: DNSKEY

    @property
    def tag(self) -> int:
        """The key tag (RFC 4034 appendix B)."""
        return int(dns.dnssec.key_id(self.dnskey))

    def with_flags(self, flags: int) -> "ZoneKey":
        """Give the same key with other flags, so with another tag."""
        return ZoneKey(self.private, replaced(self.dnskey, flags=flags))

    def signature(self, octets: bytes) -> bytes:
        """Sign as the algorithm says; for an algorithm that nobody knows, give octets that nobody can verify."""
        try:
            private = get_algorithm_cls_from_dnskey(self.dnskey)(self.private)
        except dns.exception.UnsupportedAlgorithm:
            return UNKNOWN_SIGNATURE
        return bytes(private.sign(octets, deterministic=False, verify=False))


@dataclass(frozen=True, slots=True)
class ZoneKeys:
    """A zone's key-signing and zone-signing key."""

    ksk: ZoneKey
    zsk: ZoneKey

    def write(self, folder: Path, origin: dns.name.Name) -> list[Path]:
        """Write both as pairs of BIND key files; give the paths without suffix."""
        return [_write(key, folder, origin) for key in (self.ksk, self.zsk)]

    def ds(self, origin: dns.name.Name, digests: Sequence[int] = (2,)) -> list[str]:
        """Give the data of DS records of the key-signing key as text."""
        policy = dns.dnssec.allow_all_policy
        return [
            str(dns.dnssec.make_ds(origin, self.ksk.dnskey, DSDigest.make(digest), policy=policy)) for digest in digests
        ]


def new_key(algorithm: Algorithm, flags: int) -> ZoneKey:
    """Make a key."""
    private = _new_private(algorithm)
    known = algorithm if algorithm in VALIDATED else Algorithm.RSASHA256
    # dnspython's types leave DSA out, though it has it.
    public = cast("rsa.RSAPublicKey", private.public_key())
    dnskey = dns.dnssec.make_dnskey(public, known, flags)
    return ZoneKey(private, replaced(dnskey, algorithm=algorithm))


def new_keys(algorithm: Algorithm) -> ZoneKeys:
    """Make the keys of a zone, with different tags."""
    ksk = new_key(algorithm, ZONE_FLAG | SEP_FLAG)
    while (zsk := new_key(algorithm, ZONE_FLAG)).tag == ksk.tag:
        pass
    return ZoneKeys(ksk, zsk)


def _new_private(algorithm: Algorithm) -> PrivateKey:
    match algorithm:
        case Algorithm.ECDSAP256SHA256:
            return ec.generate_private_key(ec.SECP256R1())
        case Algorithm.ECDSAP384SHA384:
            return ec.generate_private_key(ec.SECP384R1())
        case Algorithm.ED25519:
            return ed25519.Ed25519PrivateKey.generate()
        case Algorithm.ED448:
            return ed448.Ed448PrivateKey.generate()
        case Algorithm.DSA:
            return dsa.generate_private_key(DSA_BITS)
        case _:
            return rsa.generate_private_key(65_537, RSA_BITS)


def _write(key: ZoneKey, folder: Path, origin: dns.name.Name) -> Path:
    number = int(key.dnskey.algorithm)
    stem = folder / f"K{origin.to_text()}+{number:03d}+{key.tag:05d}"
    stem.with_name(f"{stem.name}.key").write_text(f"{origin} 300 IN DNSKEY {key.dnskey}\n", encoding="ascii")
    lines = ["Private-key-format: v1.3", f"Algorithm: {number} ({BIND_NAMES[Algorithm.make(number)]})"]
    lines += [f"{word}: {base64.b64encode(octets).decode()}" for word, octets in _private_parts(key.private)]
    path = stem.with_name(f"{stem.name}.private")
    path.touch(mode=0o600)
    path.write_text("\n".join(lines) + "\n", encoding="ascii")
    return stem


def _private_parts(private: PrivateKey) -> list[tuple[str, bytes]]:
    """Give the fields of a private key as BIND's files have them."""
    if isinstance(private, rsa.RSAPrivateKey):
        values = private.private_numbers()
        public = values.public_numbers
        fields = (
            ("Modulus", public.n),
            ("PublicExponent", public.e),
            ("PrivateExponent", values.d),
            ("Prime1", values.p),
            ("Prime2", values.q),
            ("Exponent1", values.dmp1),
            ("Exponent2", values.dmq1),
            ("Coefficient", values.iqmp),
        )
        return [(word, value.to_bytes((value.bit_length() + 7) // 8)) for word, value in fields]
    if isinstance(private, ec.EllipticCurvePrivateKey):
        secret = private.private_numbers().private_value
        return [("PrivateKey", secret.to_bytes((private.key_size + 7) // 8))]
    if isinstance(private, dsa.DSAPrivateKey):
        raise TypeError("BIND's key files have no DSA keys any more")
    return [("PrivateKey", private.private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption()))]


def sign_rrset(
    rrset: dns.rrset.RRset,
    key: ZoneKey,
    *,
    signer: dns.name.Name,
    times_s: tuple[int, int],
    labels: int | None = None,
    tag: int | None = None,
) -> RRSIG:
    """Sign an RRset (RFC 4034 section 3.1.8.1), also with fields that are wrong.

    `times_s` are inception and expiration in seconds since 1970. The signature is right for the data with these fields.
    """
    wildcard = rrset.name.labels[0] == b"*"
    count = len(rrset.name.labels) - 1 - wildcard
    fields = {
        "type_covered": rrset.rdtype,
        "algorithm": key.dnskey.algorithm,
        "labels": count if labels is None else labels,
        "original_ttl": rrset.ttl,
        "expiration": times_s[1],
        "inception": times_s[0],
        "key_tag": key.tag if tag is None else tag,
        "signer": signer,
    }
    unsigned = RRSIG(rrset.rdclass, RdataType.RRSIG, **fields, signature=b"")  # type: ignore[no-untyped-call]
    head = rrset.name.to_digestable() + rrset.rdtype.to_bytes(2) + rrset.rdclass.to_bytes(2) + rrset.ttl.to_bytes(4)
    octets = unsigned.to_digestable() or b""
    for data in sorted(rdata.to_digestable() for rdata in rrset):
        octets += head + len(data).to_bytes(2) + data
    return replaced(unsigned, signature=key.signature(octets))
