"""`dnsrig traffic` on captures whose every octet dpkt made, and dpkt on those that `dnsrig traffic` made."""

import socket
from dataclasses import dataclass

import dpkt
import pyarrow.parquet
import pytest

START_S = 1_700_000_000
STEP_S = 1 / 1024
"""Floats, as dpkt takes times, have it exactly, and microseconds do not: each writer rounds it to its unit."""
NS = 10**9
SERVERS = {4: "192.0.2.53", 6: "2001:db8::53"}
NAMES = ("www.example.test", "MAIL.example.test", "nowhere.example.test")
TYPES = {"A": 1, "AAAA": 28, "TXT": 16, "SVCB": 64}
NXDOMAIN = 3
MORE_FRAGMENTS = 1


@dataclass(frozen=True)
class Asked:
    """A query, and the RCODE of its answer."""

    client: str
    port: int
    number: int
    name: str
    type: str
    rcode: int


def _packed(address):
    return socket.inet_pton(socket.AF_INET6 if ":" in address else socket.AF_INET, address)


def _ip(source, target, payload, kind):
    """Put UDP or TCP into a packet of IP, or of several fragments."""
    protocol = dpkt.ip.IP_PROTO_UDP if isinstance(payload, dpkt.udp.UDP) else dpkt.ip.IP_PROTO_TCP
    ends = {"src": _packed(source), "dst": _packed(target)}
    if ":" in source:
        packet = dpkt.ip6.IP6(**ends, nxt=protocol, hlim=64, plen=len(payload), data=payload)
        if kind == "extended":
            padded = b"\x01\x04" + bytes(4)
            hop = dpkt.ip6.IP6HopOptsHeader(nxt=dpkt.ip.IP_PROTO_DSTOPTS, len=0, data=padded)
            options = dpkt.ip6.IP6DstOptsHeader(nxt=protocol, len=0, data=padded)
            packet.nxt, packet.plen = dpkt.ip.IP_PROTO_HOPOPTS, len(payload) + 16
            packet.data = bytes(hop) + bytes(options) + bytes(payload)
        elif kind == "fragments":
            # A fragment that is the whole packet (RFC 6946).
            header = dpkt.ip6.IP6FragmentHeader(nxt=protocol, id=payload.sport)
            packet.nxt, packet.plen = dpkt.ip.IP_PROTO_FRAGMENT, len(payload) + 8
            packet.data = bytes(header) + bytes(payload)
        return [packet]
    if kind == "fragments":
        octets = bytes(payload)
        head = dpkt.ip.IP(**ends, p=protocol, id=payload.sport, data=octets[:16])
        head.mf = MORE_FRAGMENTS
        tail = dpkt.ip.IP(**ends, p=protocol, id=payload.sport, data=octets[16:])
        tail.offset = 16 // 8
        return [tail, head]
    packet = dpkt.ip.IP(**ends, p=protocol, data=payload)
    if kind == "extended":
        # Record Route with room for one address, and the end of the list (RFC 791 section 3.1).
        packet.opts, packet.hl = b"\x07\x07\x04" + bytes(5), 7
    return [packet]


def _messages(asked):
    question = dpkt.dns.DNS.Q(name=asked.name, type=TYPES[asked.type])
    query = dpkt.dns.DNS(id=asked.number, op=dpkt.dns.DNS_RD, qd=[question])
    answer = dpkt.dns.DNS(id=asked.number, op=dpkt.dns.DNS_RD | dpkt.dns.DNS_AA, qd=[question])
    answer.qr, answer.rcode = 1, asked.rcode
    return bytes(query), bytes(answer)


def _tcp(ends, ports, number, flags, data):
    # Maximum segment size and window scale, or timestamps, with what fills them up (RFC 9293 section 3.1, RFC 7323).
    options = b"\x02\x04\x05\xb4\x01\x03\x03\x07" if flags & dpkt.tcp.TH_SYN else b"\x01\x01\x08\x0a" + bytes(8)
    segment = dpkt.tcp.TCP(sport=ports[0], dport=ports[1], seq=number, flags=flags, opts=options, data=data)
    segment.off = 5 + len(options) // 4
    return _ip(*ends, segment, "plain")


def _packets(asked, server, kind):
    """Give the packets of a query and its answer."""
    query, answer = _messages(asked)
    there, back = (asked.client, server), (server, asked.client)
    ports = (asked.port, 53)
    if kind != "tcp":
        for ends, (source, target), message in ((there, ports, query), (back, ports[::-1], answer)):
            yield from _ip(*ends, dpkt.udp.UDP(sport=source, dport=target, ulen=8 + len(message), data=message), kind)
        return
    syn, ack, push, fin = dpkt.tcp.TH_SYN, dpkt.tcp.TH_ACK, dpkt.tcp.TH_PUSH, dpkt.tcp.TH_FIN
    framed = [len(message).to_bytes(2, "big") + message for message in (query, answer)]
    for ends, way, number, flags, data in (
        (there, ports, 99, syn, b""),
        (back, ports[::-1], 499, syn | ack, b""),
        (there, ports, 100, ack | push, framed[0][:1]),
        (there, ports, 101, ack | push, framed[0][1:]),
        (back, ports[::-1], 500, ack | push, framed[1]),
        (there, ports, 100 + len(framed[0]), ack | fin, b""),
    ):
        yield from _tcp(ends, way, number, flags, data)


@pytest.fixture(scope="module")
def made():
    """Give what was asked, and the packets of it in kinds by turns."""
    asked, packets = [], []
    for number in range(120):
        kind = ("plain", "extended", "fragments", "tcp")[number % 4]
        version = (4, 6)[number // 4 % 2]
        client = f"192.0.2.{number % 9 + 1}" if version == 4 else f"2001:db8::{number % 9 + 1}"
        qtype = list(TYPES)[number // 3 % len(TYPES)]
        one = Asked(client, 3000 + number, 7 * number, NAMES[number % 3], qtype, NXDOMAIN if number % 3 == 2 else 0)
        asked.append(one)
        packets += _packets(one, SERVERS[version], kind)
    return asked, packets


def _ethertype(packet):
    is_ipv6 = isinstance(packet, dpkt.ip6.IP6)
    return dpkt.ethernet.ETH_TYPE_IP6 if is_ipv6 else dpkt.ethernet.ETH_TYPE_IP


def _ethernet(packet):
    return dpkt.ethernet.Ethernet(type=_ethertype(packet), data=packet)


def _tagged(packet):
    tag = dpkt.ethernet.VLANtag8021Q(id=7, type=_ethertype(packet))
    return bytes(12) + dpkt.ethernet.ETH_TYPE_8021Q.to_bytes(2, "big") + bytes(tag) + bytes(packet)


def _cooked(packet):
    return dpkt.sll.SLL(ethtype=_ethertype(packet), data=packet)


def _pcap(link, nano):
    return lambda file: dpkt.pcap.Writer(file, linktype=link, nano=nano, snaplen=65535)


FORMS = {
    "pcap": (_pcap(dpkt.pcap.DLT_EN10MB, False), _ethernet, 1000),
    "pcap-ns": (_pcap(dpkt.pcap.DLT_EN10MB, True), _tagged, 1),
    "cooked": (_pcap(dpkt.pcap.DLT_LINUX_SLL, True), _cooked, 1),
    "raw": (_pcap(dpkt.pcap.DLT_RAW, True), lambda packet: packet, 1),
    "pcapng": (lambda file: dpkt.pcapng.Writer(file, snaplen=65535), _ethernet, 1000),
}


@pytest.mark.parametrize("form", FORMS)
def test_what_dpkt_made_is_read(dnsrig, made, tmp_path, form):
    asked, packets = made
    writer_of, framed, unit_ns = FORMS[form]
    path, table = tmp_path / "made", tmp_path / "rows.parquet"
    with path.open("wb") as file:
        writer = writer_of(file)
        for number, packet in enumerate(packets):
            writer.writepkt(bytes(framed(packet)), START_S + number * STEP_S)
    done = dnsrig("traffic", "convert", path, "-f", table)
    assert done.code == 0, done.err
    rows = pyarrow.parquet.read_table(table, columns=["client", "client_port", "id", "name", "type", "rcode"])
    assert [Asked(*row.values()) for row in rows.to_pylist()] == [
        Asked(one.client, one.port, one.number, f"{one.name}.", one.type, one.rcode) for one in asked
    ]
    found = dnsrig("traffic", "stats", path, "--json").json
    assert found["packets"]["read"] == found["packets"]["dns"] == len(packets)
    assert not any(found["packets"]["malformed"].values())
    assert found["tcp"]["sessions"] == found["tcp"]["closed"] == 30
    assert found["start_unix_ns"] == START_S * NS
    last_ns = round((len(packets) - 1) * STEP_S * NS / unit_ns) * unit_ns
    assert found["seconds"] == pytest.approx(last_ns / NS, abs=1e-9)


def test_dpkt_reads_what_is_written(dnsrig, made, tmp_path):
    asked, packets = made
    path, out = tmp_path / "made", tmp_path / "out.pcap"
    with path.open("wb") as file:
        writer = dpkt.pcap.Writer(file, nano=True, snaplen=65535)
        for number, packet in enumerate(packets):
            writer.writepkt(bytes(_ethernet(packet)), START_S + number * STEP_S)
    # A term about what messages say: those of TCP are written as segments of their own.
    done = dnsrig("traffic", "filter", "query or answer", path, "-f", out)
    assert done.code == 0, done.err
    found = []
    with out.open("rb") as file:
        for _, octets in dpkt.pcap.Reader(file):
            packet = dpkt.ethernet.Ethernet(octets).data
            payload = bytes(packet.data.data)
            if isinstance(packet.data, dpkt.tcp.TCP) and payload:
                assert int.from_bytes(payload[:2]) == len(payload) - 2
                payload = payload[2:]
            if payload:
                found.append(payload)
    assert found == [message for one in asked for message in _messages(one)]
