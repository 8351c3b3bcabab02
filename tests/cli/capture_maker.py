"""Captures made packet by packet: UDP, TCP with several messages in a segment and messages over several, fragments."""

import ipaddress
import struct
from pathlib import Path

import dns.edns
import dns.flags
import dns.message
import dns.rcode
import dns.rrset

START_S = 1_700_000_000
SERVER = ("192.0.2.53", 53)
SERVER6 = ("2001:db8::53", 53)


def ip(source, destination, protocol, payload):
    """Put `payload` into an IP packet without options."""
    a, b = ipaddress.ip_address(source), ipaddress.ip_address(destination)
    if a.version == 6:
        return struct.pack("!IHBB", 6 << 28, len(payload), protocol, 64) + a.packed + b.packed + payload
    return struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(payload), 0, 0, 64, protocol, 0) + a.packed + b.packed + payload


def udp(source, destination, payload):
    """Put `payload` into a datagram between two pairs of address and port."""
    header = struct.pack("!HHHH", source[1], destination[1], 8 + len(payload), 0)
    return ip(source[0], destination[0], 17, header + payload)


def fragments(packet, size):
    """Cut the payload of an IPv4 packet into fragments of `size` octets, a multiple of 8."""
    header, payload = packet[:20], packet[20:]
    cut = []
    for offset in range(0, len(payload), size):
        part = payload[offset : offset + size]
        more = 0x2000 if offset + size < len(payload) else 0
        head = bytearray(header)
        struct.pack_into("!HHH", head, 2, 20 + len(part), 77, more | offset // 8)
        cut.append(bytes(head) + part)
    return cut


def tcp(source, destination, flags, numbers, payload=b""):
    """Make a TCP segment with its sequence and acknowledgement numbers."""
    sequence, acknowledgement = numbers
    header = struct.pack("!HHIIBBHHH", source[1], destination[1], sequence, acknowledgement, 0x50, flags, 65535, 0, 0)
    return ip(source[0], destination[0], 6, header + payload)


def session(client, server, sent, answered, size):
    """Make the packets of a TCP connection in which `sent` and `answered` go over in segments of `size` octets."""
    ack, syn, fin = 0x10, 0x02, 0x01
    packets = [
        tcp(client, server, syn, (100, 0)),
        tcp(server, client, syn | ack, (500, 101)),
        tcp(client, server, ack, (101, 501)),
    ]
    ends = [(client, server, 101, 501, sent), (server, client, 501, 101 + len(framed(sent)), answered)]
    for source, destination, sequence, acknowledgement, messages in ends:
        octets = framed(messages)
        for at in range(0, len(octets), size):
            part = octets[at : at + size]
            packets.append(tcp(source, destination, ack, (sequence + at, acknowledgement), part))
    packets.append(tcp(client, server, fin | ack, (101 + len(framed(sent)), 501 + len(framed(answered)))))
    return packets


def framed(messages):
    """Put each message after its length."""
    return b"".join(struct.pack("!H", len(message)) + message for message in messages)


def write_pcap(path, packets, link_type=1):
    """Write packets, a millisecond apart, as Ethernet frames."""
    file = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262_144, link_type)
    for number, packet in enumerate(packets):
        ethertype = b"\x86\xdd" if packet[0] >> 4 == 6 else b"\x08\x00"
        frame = b"\x02" * 12 + ethertype + packet
        file += struct.pack("<IIII", START_S + number // 1000, number % 1000 * 1000, len(frame), len(frame)) + frame
    Path(path).write_bytes(file)
    return Path(path)


def query(number, name, rdtype, *, rd=True, **edns):
    """Make a query with ID `number`."""
    message = dns.message.make_query(name, rdtype, **edns)
    message.id = number
    if not rd:
        message.flags &= ~dns.flags.RD
    return message


def answer(message, rcode=0, text=None):
    """Make the answer to a query, with TXT strings `text` if given."""
    made = dns.message.make_response(message)
    made.set_rcode(rcode)
    if text is not None:
        made.answer.append(dns.rrset.from_text(message.question[0].name, 60, "IN", "TXT", *text))
    return made.to_wire(max_size=65535)


NAMES = ("www.example.com", "Mail.EXAMPLE.com", "example.com", "notexample.com", "a.b.example.net", "example.org", ".")
TYPES = ("A", "AAAA", "MX", "TXT", "DNSKEY", "HTTPS")


def traffic():
    """Make packets of every kind: their messages are for NAMES, by several clients of both families."""
    packets = []
    for number in range(120):
        is_v6 = number % 5 == 0
        client = (f"2001:db8::{number % 7 + 1:x}" if is_v6 else f"198.51.100.{number % 9 + 1}", 4000 + number)
        server = SERVER6 if is_v6 else SERVER
        edns = {"use_edns": 0, "want_dnssec": number % 4 == 1, "payload": 1232} if number % 2 else {}
        asked = query(number, NAMES[number % len(NAMES)], TYPES[number % len(TYPES)], rd=number % 3 != 0, **edns)
        replied = answer(asked, (0, 3, 2, 5)[number % 4])
        if number % 10 == 3:
            more = query(1000 + number, NAMES[(number + 1) % len(NAMES)], "A")
            packets += session(client, server, [asked.to_wire(), more.to_wire()], [replied, answer(more)], 33)
        elif number % 10 == 6:
            long = answer(asked, 0, ['"' + "x" * 200 + f'{one}"' for one in range(8)])
            packets += [udp(client, server, asked.to_wire()), *fragments(udp(SERVER, client, long), 512)]
        else:
            packets += [udp(client, server, asked.to_wire()), udp(server, client, replied)]
    return packets
