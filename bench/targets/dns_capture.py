"""Write a synthetic capture of queries and answers, with many clients, names and types."""

import bisect
import itertools
import random
import struct
from dataclasses import dataclass
from pathlib import Path

from targets.capture import FIRST_SECOND, IPV4, MAGIC_NS, NANOSECOND_PCAP, NS, RECORD, SERVER, UDP

LINKTYPE_ETHERNET = 1
ETHERNET_IPV4 = bytes(12) + b"\x08\x00"
TYPES = (1, 1, 1, 1, 28, 28, 15, 12, 65, 16)
QUERIES_PER_S = 100_000
LATENCY_NS = 300_000
NAMES = 200_000
CLIENTS = 50_000
EXPONENT = 0.9
"""Of Zipf's law, for names and clients."""
NXDOMAIN_SHARE = 0.2
CHUNK = 20_000
OPT = b"\x00\x00\x29\x04\xd0\x00\x00\x80\x00\x00\x00"
"""EDNS with 1232 octets and DO."""


@dataclass(frozen=True, slots=True)
class DnsCapture:
    """A capture that was written."""

    path: Path
    packets: int
    octets: int


def write_dns_capture(path: Path, *, queries: int, seed: int) -> DnsCapture:
    """Write `queries` UDP queries, each with its answer; the same arguments give the same file."""
    drawn = random.Random(seed)
    names = [_name(drawn, rank) for rank in range(NAMES)]
    by_name, by_client = _weights(NAMES), _weights(CLIENTS)
    waiting: list[tuple[int, bytes]] = []
    with path.open("wb") as file:
        file.write(NANOSECOND_PCAP.pack(MAGIC_NS, 2, 4, 0, 0, 65_535, LINKTYPE_ETHERNET))
        for first in range(0, queries, CHUNK):
            number = min(CHUNK, queries - first)
            asked = drawn.choices(names, cum_weights=by_name, k=number)
            clients = drawn.choices(range(CLIENTS), cum_weights=by_client, k=number)
            packets = []
            for place, (name, client) in enumerate(zip(asked, clients, strict=True)):
                at_ns = (first + place) * NS // QUERIES_PER_S
                query, answer = _transaction(drawn, name, client)
                packets.append((at_ns, query))
                packets.append((at_ns + LATENCY_NS + drawn.randrange(LATENCY_NS), answer))
            waiting = sorted(waiting + packets)
            # Answers may come after the first queries of the next chunk.
            end_ns = (first + number) * NS // QUERIES_PER_S
            is_last = first + number == queries
            number_due = len(waiting) if is_last else bisect.bisect_left(waiting, (end_ns, b""))
            due = waiting[:number_due]
            file.write(b"".join(_record(at_ns, packet) for at_ns, packet in due))
            waiting = waiting[len(due) :]
    return DnsCapture(path, 2 * queries, path.stat().st_size)


def kept_capture(folder: Path, *, queries: int, seed: int) -> DnsCapture:
    """Take the capture of `write_dns_capture` from `folder`; write it first if it is not there."""
    path = folder / f"capture-{queries}-{seed}.pcap"
    if path.exists():
        return DnsCapture(path, 2 * queries, path.stat().st_size)
    folder.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    written = write_dns_capture(partial, queries=queries, seed=seed)
    return DnsCapture(partial.rename(path), written.packets, written.octets)


def _weights(number: int) -> list[float]:
    return list(itertools.accumulate(1 / rank**EXPONENT for rank in range(1, number + 1)))


def _name(drawn: random.Random, rank: int) -> bytes:
    labels = [
        drawn.choice(("www", "mail", "ns1", "api", f"h{rank}")),
        "".join(drawn.choices("abcdefghijklmnopqrstuvwxyz", k=drawn.randrange(5, 15))),
        drawn.choice(("com", "com", "com", "net", "org", "de", "jp", "local")),
    ]
    return b"".join(bytes([len(label)]) + label.encode() for label in labels) + b"\0"


def _transaction(drawn: random.Random, name: bytes, client: int) -> tuple[bytes, bytes]:
    query_id = drawn.randrange(65_536)
    question = name + struct.pack(">HH", drawn.choice(TYPES), 1)
    address = struct.pack(">I", (10 << 24) + 1 + client)
    port = 1024 + drawn.randrange(60_000)
    query = struct.pack(">HHHHHH", query_id, 0x0010, 1, 0, 0, 1) + question + OPT
    if drawn.random() < NXDOMAIN_SHARE:
        answer = struct.pack(">HHHHHH", query_id, 0x8403, 1, 0, 0, 1) + question + OPT
    else:
        record = b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 300, 4) + bytes([192, 0, 2, 1])
        answer = struct.pack(">HHHHHH", query_id, 0x8400, 1, 1, 0, 1) + question + record + OPT
    return _packet(address, port, SERVER, 53, query), _packet(SERVER, 53, address, port, answer)


def _packet(source: bytes, source_port: int, target: bytes, target_port: int, message: bytes) -> bytes:
    length = UDP.size + len(message)
    header = IPV4.pack(0x45, 0, IPV4.size + length, 0, 0, 64, 17, 0, source, target)
    return ETHERNET_IPV4 + header + UDP.pack(source_port, target_port, length, 0) + message


def _record(at_ns: int, packet: bytes) -> bytes:
    return RECORD.pack(FIRST_SECOND + at_ns // NS, at_ns % NS, len(packet), len(packet)) + packet
