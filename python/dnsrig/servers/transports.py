"""The transports that a server can offer beside UDP and TCP, by the names that everything else uses."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, get_args

EncryptedTransport = Literal["dot", "doh", "doq"]
"""DNS over TLS (RFC 7858), over HTTPS (RFC 8484, HTTP/2), over dedicated QUIC connections (RFC 9250)."""
ENCRYPTED_TRANSPORTS: tuple[EncryptedTransport, ...] = get_args(EncryptedTransport)
LABELS: Mapping[str, str] = MappingProxyType({"udp": "UDP", "tcp": "TCP", "dot": "DoT", "doh": "DoH", "doq": "DoQ"})
"""How transports are written for readers."""
DOH_PATH = "/dns-query"
"""Path of the DoH resource on every server, the one of RFC 8484's examples (section 4.1.1)."""


def in_order(transports: frozenset[EncryptedTransport]) -> list[EncryptedTransport]:
    """List transports in the order of ENCRYPTED_TRANSPORTS."""
    return [transport for transport in ENCRYPTED_TRANSPORTS if transport in transports]


def listed(transports: frozenset[EncryptedTransport]) -> str:
    """Write transports for readers, such as "DoT, DoH"."""
    return ", ".join(LABELS[transport] for transport in in_order(transports))
