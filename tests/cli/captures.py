"""Captures of messages that dnspython made, of every kind of packet."""

import ipaddress
import random
import struct
from dataclasses import dataclass

import dns.edns
import dns.flags
import dns.message
import dns.opcode
import dns.rcode
import dns.rrset

FIRST_SECOND = 1_700_000_000
ETHERNET = 1
SERVERS = {4: "198.51.100.53", 6: "2001:db8::53"}


@dataclass(frozen=True)
class Packet:
    """A packet of raw IP and when it was captured."""

    time_ns: int
    octets: bytes


def ip(source, target, protocol, payload):
    """Put an IPv4 or IPv6 header with its checksum before `payload`."""
    ends = [ipaddress.ip_address(end).packed for end in (source, target)]
    if len(ends[0]) == 16:
        return struct.pack(">IHBB", 0x60000000, len(payload), protocol, 64) + b"".join(ends) + payload
    header = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(payload), 7, 0, 64, protocol, 0) + b"".join(ends)
    return header[:10] + struct.pack(">H", checksum(header)) + header[12:] + payload


def checksum(octets):
    """Compute the Internet checksum (RFC 1071)."""
    octets += b"\0" * (len(octets) % 2)
    total = sum(struct.unpack(f">{len(octets) // 2}H", octets))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def with_checksum(source, target, protocol, payload, place):
    """Fill in the checksum of UDP or TCP at `place`."""
    pseudo = ipaddress.ip_address(source).packed + ipaddress.ip_address(target).packed
    pseudo += struct.pack(">IHBB", len(payload), 0, 0, protocol)
    return payload[:place] + struct.pack(">H", checksum(pseudo + payload) or 0xFFFF) + payload[place + 2 :]


def udp(source, target, message):
    """Make a packet with a UDP datagram; ends are (address, port)."""
    datagram = struct.pack(">HHHH", source[1], target[1], 8 + len(message), 0) + message
    return ip(source[0], target[0], 17, with_checksum(source[0], target[0], 17, datagram, 6))


def tcp(source, target, sequence, flags, data=b""):
    """Make a packet with a TCP segment."""
    segment = struct.pack(">HHIIBBHHH", source[1], target[1], sequence, 1, 0x50, flags, 0xFFFF, 0, 0) + data
    return ip(source[0], target[0], 6, with_checksum(source[0], target[0], 6, segment, 16))


def fragments(packet, size):
    """Cut an IPv4 packet into fragments with `size` octets of data each, the last first."""
    data = packet[20:]
    pieces = []
    for start in range(0, len(data), size):
        piece = data[start : start + size]
        more = 0x2000 if start + size < len(data) else 0
        header = packet[:2] + struct.pack(">HHH", 20 + len(piece), 7, start // 8 | more) + packet[8:10] + b"\0\0"
        header += packet[12:20]
        pieces.append(header[:10] + struct.pack(">H", checksum(header)) + header[12:] + piece)
    return pieces[::-1]


def write_pcap(path, packets):
    """Write packets over Ethernet, some of them with VLAN tags."""
    parts = [struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65_535, ETHERNET)]
    for number, packet in enumerate(packets):
        ethertype = b"\x08\x00" if packet.octets[0] >> 4 == 4 else b"\x86\xdd"
        tags = (b"", b"\x81\x00\x00\x05", b"\x88\xa8\x00\x06\x81\x00\x00\x07")[number % 3]
        frame = b"\2" * 12 + tags + ethertype + packet.octets
        seconds, fraction = divmod(packet.time_ns, 10**9)
        parts.append(struct.pack("<IIII", seconds, fraction, len(frame), len(frame)) + frame)
    path.write_bytes(b"".join(parts))


def transactions(number, seed):
    """Make queries and answers of many kinds; give (time of query, time of answer, ends, query, answer) of each."""
    drawn = random.Random(seed)
    for place in range(number):
        family = drawn.choice((4, 6))
        client = f"192.0.2.{drawn.randrange(1, 40)}" if family == 4 else f"2001:db8:1::{drawn.randrange(1, 40):x}"
        name = drawn.choice(("www", "mail", "MiXeD", f"h{place}")) + drawn.choice(
            (".example.com", ".test", ".Example.ORG")
        )
        qtype = drawn.choice(("A", "AAAA", "MX", "TXT", "PTR", "NS", "SVCB", "TYPE65280"))
        query = dns.message.make_query(name, qtype, "CH" if drawn.random() < 0.05 else "IN", id=drawn.randrange(65_536))
        if drawn.random() < 0.3:
            query.flags &= ~dns.flags.RD
        if drawn.random() < 0.7:
            options = [dns.edns.GenericOption(10, bytes(8))] if drawn.random() < 0.5 else []
            query.use_edns(0, drawn.choice((0, dns.flags.DO)), drawn.choice((512, 1232, 4096)), options=options)
        if drawn.random() < 0.2:
            query.flags |= drawn.choice((dns.flags.AD, dns.flags.CD))
        answer = dns.message.make_response(query)
        answer.set_rcode(drawn.choice((0, 0, 0, 2, 3, 3, 5)))
        answer.flags |= drawn.choice((0, dns.flags.AA))
        if drawn.random() < 0.1:
            answer.flags |= dns.flags.TC
        if answer.rcode() == 0:
            addresses = [f"192.0.2.{host}" for host in range(drawn.randrange(1, 5))]
            answer.answer.append(dns.rrset.from_text_list(query.question[0].name, 300, "IN", "A", addresses))
        at_ns = FIRST_SECOND * 10**9 + place * 30_000_000
        answer_ns = at_ns + drawn.randrange(50_000, 9_000_000) if drawn.random() < 0.9 else None
        ends = ((client, 1024 + place), (SERVERS[family], 53))
        yield at_ns, answer_ns, ends, query, answer
