"""Signed zone transfers (TSIG, RFC 8945) at a relay: faults see and change what is signed, and both sides verify it."""

import struct
import time
from typing import Self

import dns.rdataclass
import dns.tsig
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.TSIG import TSIG

from dnsrig.verification.exchange import HEADER_OCTETS
from dnsrig.verification.wire import WireRecord, read_wire

FUDGE_S = 300
"""By how much clocks may differ (RFC 8945 section 10)."""
MAC_BEHIND_OCTETS = 10
"""Of TSIG data between the algorithm's name and the MAC: time, fudge, and the MAC's length (RFC 8945 section 4.2)."""


class SignedTransfer:
    """A query that a client signed by a key which the relay has too, and the messages that answer it.

    The relay is a server to the client and a client to the server: it takes the signature of what comes off, and signs
    what goes on, each message of the transfer.
    """

    def __init__(self, query: bytes, signature: WireRecord, key: dns.tsig.Key) -> None:
        self.query = _unsigned(query, signature)
        self._key = key
        self._mac = _mac_of(signature)
        self._context: dns.tsig.HMACTSig | dns.tsig.GSSTSig | None = None

    @classmethod
    def of(cls, query: bytes, key: dns.tsig.Key | None) -> Self | None:
        """Take a query that is signed by the key; None for any other."""
        signature = None if key is None else _signature_of(query)
        if key is None or signature is None or signature.owner != key.name:
            return None
        return cls(query, signature, key)

    def to_server(self, query: bytes) -> bytes:
        """Sign a query that goes on."""
        return _signed(query, self._key)[0]

    @staticmethod
    def from_server(response: bytes) -> bytes:
        """Take the signature of a message off, if it has one; not each needs one (RFC 8945 section 5.3.1)."""
        signature = _signature_of(response)
        return response if signature is None else _unsigned(response, signature)

    def to_client(self, response: bytes) -> bytes:
        """Sign the next message of the transfer."""
        if len(response) < HEADER_OCTETS:
            return response
        signed, self._context = _signed(response, self._key, self._mac, self._context, is_of_several=True)
        return signed


def _signature_of(message: bytes) -> WireRecord | None:
    """Give the TSIG record of a message, which is its last (RFC 8945 section 5.1)."""
    records = read_wire(message).records
    return records[-1] if records and records[-1].rtype == RdataType.TSIG else None


def _unsigned(message: bytes, signature: WireRecord) -> bytes:
    additional = int.from_bytes(message[10:HEADER_OCTETS]) - 1
    return message[:10] + additional.to_bytes(2) + message[HEADER_OCTETS : signature.begin]


def _mac_of(signature: WireRecord) -> bytes:
    """Give the MAC; the algorithm's name before it is not compressed."""
    at = signature.data.index(0) + 1 + MAC_BEHIND_OCTETS
    return signature.data[at : at + int.from_bytes(signature.data[at - 2 : at])]


def _signed(
    message: bytes,
    key: dns.tsig.Key,
    request_mac: bytes = b"",
    context: dns.tsig.HMACTSig | dns.tsig.GSSTSig | None = None,
    *,
    is_of_several: bool = False,
) -> tuple[bytes, dns.tsig.HMACTSig | dns.tsig.GSSTSig | None]:
    """Put a TSIG record at the end; give what is needed for the next message too, where it is one `is_of_several`.

    dnspython's messages would do it too, but would write the records anew, names in other case and order among them.
    """
    now_s = int(time.time())
    fields = (key.algorithm, now_s, FUDGE_S, b"", int.from_bytes(message[:2]), 0, b"")
    empty = TSIG(dns.rdataclass.ANY, RdataType.TSIG, *fields)  # type: ignore[no-untyped-call]
    data, context = dns.tsig.sign(message, key, empty, now_s, request_mac, context, is_of_several)  # type: ignore[no-untyped-call]
    octets: bytes = data.to_wire()
    head = struct.pack("!HHIH", RdataType.TSIG, dns.rdataclass.ANY, 0, len(octets))
    additional = int.from_bytes(message[10:HEADER_OCTETS]) + 1
    owner = key.name.to_wire() or b""
    return message[:10] + additional.to_bytes(2) + message[HEADER_OCTETS:] + owner + head + octets, context
