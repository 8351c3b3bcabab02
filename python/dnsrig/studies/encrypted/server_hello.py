"""Reads from a server's first octets what TLS version, cipher suite and group it chose (RFC 8446, RFC 5246)."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

HANDSHAKE_RECORD = 22
SERVER_HELLO, SERVER_KEY_EXCHANGE = 2, 12
SUPPORTED_VERSIONS, KEY_SHARE = 43, 51
NAMED_CURVE = 3
RETRY = bytes.fromhex("cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c")
"""The random value of a ServerHello that is a HelloRetryRequest (RFC 8446 section 4.1.3)."""
VERSIONS = {0x0303: "TLS 1.2", 0x0304: "TLS 1.3"}
SUITES = {
    0x1301: "TLS_AES_128_GCM_SHA256",
    0x1302: "TLS_AES_256_GCM_SHA384",
    0x1303: "TLS_CHACHA20_POLY1305_SHA256",
    0xC02B: "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    0xC02C: "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    0xC02F: "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    0xC030: "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    0xCCA8: "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
    0xCCA9: "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
}
GROUPS = {23: "secp256r1", 24: "secp384r1", 25: "secp521r1", 29: "x25519", 30: "x448", 4588: "X25519MLKEM768"}
"""Names in IANA's registries of TLS parameters."""


@dataclass(frozen=True, slots=True)
class Negotiated:
    """What client and server agreed on, by IANA's names, or as hexadecimal numbers; `group` as far as it was seen."""

    version: str
    cipher_suite: str
    group: str | None


def negotiated(octets: bytes) -> Negotiated | None:
    """Read what a server sent first, cut short anywhere; None without a ServerHello."""
    found: Negotiated | None = None
    try:
        for kind, body in _messages(octets):
            if kind == SERVER_HELLO and body[2:34] != RETRY:
                found = _server_hello(body)
                if found.group is not None:
                    return found
            elif kind == SERVER_KEY_EXCHANGE and found is not None and body[0] == NAMED_CURVE:
                (group,) = struct.unpack_from("!H", body, 1)
                return Negotiated(found.version, found.cipher_suite, _name(GROUPS, group))
    except (struct.error, IndexError):
        return found
    return found


def _messages(octets: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield (type, body) of the whole handshake messages in records that are not encrypted."""
    plain, at = b"", 0
    while at + 5 <= len(octets):
        kind, _, length = struct.unpack_from("!BHH", octets, at)
        if kind == HANDSHAKE_RECORD:
            plain += octets[at + 5 : at + 5 + length]
        at += 5 + length
    at = 0
    while at + 4 <= len(plain):
        length = int.from_bytes(plain[at + 1 : at + 4])
        if at + 4 + length > len(plain):
            return
        yield plain[at], plain[at + 4 : at + 4 + length]
        at += 4 + length


def _server_hello(body: bytes) -> Negotiated:
    version = int.from_bytes(body[:2])
    at = 35 + body[34]
    (suite,) = struct.unpack_from("!H", body, at)
    at += 5
    group = None
    while at + 4 <= len(body):
        kind, length = struct.unpack_from("!HH", body, at)
        if kind == SUPPORTED_VERSIONS:
            (version,) = struct.unpack_from("!H", body, at + 4)
        elif kind == KEY_SHARE:
            (group,) = struct.unpack_from("!H", body, at + 4)
        at += 4 + length
    return Negotiated(_name(VERSIONS, version), _name(SUITES, suite), None if group is None else _name(GROUPS, group))


def _name(names: dict[int, str], number: int) -> str:
    return names.get(number, f"0x{number:04x}")
