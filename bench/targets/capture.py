"""Write a synthetic capture: queries of many clients at random times of one mean rate."""

import random
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

NANOSECOND_PCAP = struct.Struct("<IHHiIII")
RECORD = struct.Struct("<IIII")
MAGIC_NS = 0xA1B23C4D
"""Classic pcap with times in nanoseconds (draft-ietf-opsawg-pcap)."""
LINKTYPE_RAW = 101
"""Packets begin with the IP header."""
IPV4 = struct.Struct(">BBHHHBBH4s4s")
UDP = struct.Struct(">HHHH")
SERVER = bytes([192, 0, 2, 53])
FIRST_SECOND = 1_700_000_000
NS = 1_000_000_000
CHUNK = 50_000


@dataclass(frozen=True, slots=True)
class Capture:
    """A capture that was written."""

    path: Path
    queries: int
    clients: int
    per_second: Sequence[int]
    """Queries in each second, counted from the first query."""


def write_capture(path: Path, *, rate_qps: int, seconds: int, clients: int, seed: int) -> Capture:
    """Write UDP queries over IPv4 to port 53: a Poisson process (RFC 2330 section 11.1.1) of `rate_qps`.

    The same arguments give the same file. Every client, an address of its own in 10.0.0.0/8, asks at least once if
    there are enough queries.
    """
    drawn = random.Random(seed)
    packets = [_packet(client, f"host{client % 2000}") for client in range(clients)]
    per_second = [0] * seconds
    at_ns = queries = 0
    with path.open("wb") as file:
        file.write(NANOSECOND_PCAP.pack(MAGIC_NS, 2, 4, 0, 0, 65_535, LINKTYPE_RAW))
        parts: list[bytes] = []
        while at_ns < seconds * NS:
            per_second[at_ns // NS] += 1
            packet = packets[queries if queries < clients else drawn.randrange(clients)]
            parts.append(RECORD.pack(FIRST_SECOND + at_ns // NS, at_ns % NS, len(packet), len(packet)))
            parts.append(packet)
            queries += 1
            if len(parts) >= 2 * CHUNK:
                file.write(b"".join(parts))
                parts.clear()
            at_ns += round(drawn.expovariate(rate_qps) * NS)
        file.write(b"".join(parts))
    return Capture(path, queries, min(clients, queries), per_second)


def _packet(client: int, label: str) -> bytes:
    name = bytes([len(label)]) + label.encode() + b"\7example\0"
    message = struct.pack(">HHHHHH", client & 0xFFFF, 0x0100, 1, 0, 0, 0) + name + struct.pack(">HH", 1, 1)
    length = UDP.size + len(message)
    source = struct.pack(">I", (10 << 24) + 1 + client)
    header = IPV4.pack(0x45, 0, IPV4.size + length, 0, 0, 64, 17, 0, source, SERVER)
    checked = header[:10] + struct.pack(">H", _checksum(header)) + header[12:]
    return checked + UDP.pack(1024 + client % 60_000, 53, length, 0) + message


def _checksum(header: bytes) -> int:
    """Compute the Internet checksum (RFC 1071)."""
    total: int = sum(word for (word,) in struct.iter_unpack(">H", header))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
