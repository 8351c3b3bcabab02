"""The same messages in captures of every form: dnsrig reads from each what dnspython made, and what tshark reads."""

import gzip
import json
import lzma
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

import dns.rdataclass
import dns.rdatatype
import pyarrow
import pyarrow.parquet
import pytest
from captures import SERVERS, Packet, fragments, tcp, transactions, udp, write_pcap
from other_programs import need

SYN, PUSH = 0x02, 0x18
RAW, NULL, LOOP, COOKED, COOKED_2 = 101, 0, 108, 113, 276
DESTINATION_OPTIONS, FRAGMENT, HOP_BY_HOP = 60, 44, 0


@dataclass(frozen=True)
class Row:
    """A query and its answer, as far as captures tell."""

    time_ns: int
    client: str
    client_port: int
    server: str
    id: int
    name: str
    type: int
    class_: int
    answer_ns: int | None
    rcode: int | None


def _with_extension_headers(packet):
    """Put hop-by-hop and destination options before the payload of an IPv6 packet (RFC 8200 section 4)."""
    options = bytes([DESTINATION_OPTIONS, 0, 1, 4, 0, 0, 0, 0]) + bytes([packet[6], 0, 1, 4, 0, 0, 0, 0])
    length = struct.pack(">H", len(packet) - 40 + len(options))
    return packet[:4] + length + bytes([HOP_BY_HOP]) + packet[7:40] + options + packet[40:]


def _fragments_v6(packet, number):
    """Cut an IPv6 packet into two fragments (RFC 8200 section 4.5), the last first."""
    data, cut = packet[40:], 24
    pieces = []
    for start, piece, more in ((0, data[:cut], 1), (cut, data[cut:], 0)):
        header = struct.pack(">BBHI", packet[6], 0, start | more, number)
        length = struct.pack(">H", len(header) + len(piece))
        pieces.append(packet[:4] + length + bytes([FRAGMENT]) + packet[7:40] + header + piece)
    return pieces[::-1]


@pytest.fixture(scope="module")
def known():
    """Give transactions, of which several kinds of packets are made."""
    return list(transactions(300, seed=11))


@pytest.fixture(scope="module")
def packets(known):
    """Give them as packets: every eighth over TCP, others in fragments or with IPv6 extension headers."""
    made = []
    for place, (at_ns, answer_ns, (client, server), query, answer) in enumerate(known):
        if place % 8 == 0:
            asked, replied = (len(part).to_bytes(2, "big") + part for part in (query.to_wire(), answer.to_wire()))
            made.append(Packet(at_ns - 2, tcp(client, server, 100, SYN)))
            made.append(Packet(at_ns - 1, tcp(client, server, 101, PUSH, asked[:7])))
            made.append(Packet(at_ns, tcp(client, server, 108, PUSH, asked[7:])))
            if answer_ns is not None:
                made.append(Packet(answer_ns - 1, tcp(server, client, 500, SYN | 0x10)))
                made.append(Packet(answer_ns, tcp(server, client, 501, PUSH, replied)))
            continue
        both = [(at_ns, udp(client, server, query.to_wire()))]
        if answer_ns is not None:
            both.append((answer_ns, udp(server, client, answer.to_wire())))
        for time_ns, packet in both:
            is_ipv6 = packet[0] >> 4 == 6
            if place % 5 == 0:
                cut = _fragments_v6(packet, place) if is_ipv6 else fragments(packet, 24)
                made += [Packet(time_ns, piece) for piece in cut]
            else:
                made.append(Packet(time_ns, _with_extension_headers(packet) if is_ipv6 and place % 3 == 0 else packet))
    return sorted(made, key=lambda packet: packet.time_ns)


def _pcap(path, packets, *, link, before, order="<", nanoseconds=True):
    magic, unit = (0xA1B23C4D, 1) if nanoseconds else (0xA1B2C3D4, 1000)
    parts = [struct.pack(f"{order}IHHiIII", magic, 2, 4, 0, 0, 65_535, link)]
    for packet in packets:
        octets = before(packet.octets[0] >> 4) + packet.octets
        seconds, fraction = divmod(packet.time_ns, 10**9)
        parts.append(struct.pack(f"{order}IIII", seconds, fraction // unit, len(octets), len(octets)) + octets)
    path.write_bytes(b"".join(parts))


def _ethertype(version):
    return b"\x08\x00" if version == 4 else b"\x86\xdd"


def _family(order):
    # BSD's numbers: loopback has them in the order of the machine, or of the network.
    return lambda version: struct.pack(f"{order}I", 2 if version == 4 else 30)


def _cooked(version):
    return struct.pack(">HHH8s", 0, 1, 6, bytes(8)) + _ethertype(version)


def _cooked_2(version):
    return _ethertype(version) + struct.pack(">HIHBB8s", 0, 7, 1, 0, 6, bytes(8))


def _packed(path, packets, compress):
    plain = path.with_suffix(".plain")
    write_pcap(plain, packets)
    path.write_bytes(compress(plain.read_bytes()))


def _of_editcap(path, packets, form):
    plain = path.with_suffix(".plain")
    write_pcap(plain, packets)
    subprocess.run(["editcap", "-F", form, plain, path], check=True)


FORMS = {
    "ethernet-tagged": write_pcap,
    "raw": lambda path, packets: _pcap(path, packets, link=RAW, before=lambda _: b""),
    "raw-big-endian": lambda path, packets: _pcap(path, packets, link=RAW, before=lambda _: b"", order=">"),
    "microseconds": lambda path, packets: _pcap(path, packets, link=RAW, before=lambda _: b"", nanoseconds=False),
    "loopback": lambda path, packets: _pcap(path, packets, link=NULL, before=_family("<")),
    "loopback-of-another-machine": lambda path, packets: _pcap(
        path, packets, link=NULL, before=_family(">"), order=">"
    ),
    "loop": lambda path, packets: _pcap(path, packets, link=LOOP, before=_family(">")),
    "cooked": lambda path, packets: _pcap(path, packets, link=COOKED, before=_cooked),
    "cooked-2": lambda path, packets: _pcap(path, packets, link=COOKED_2, before=_cooked_2),
    "pcapng": lambda path, packets: _of_editcap(path, packets, "pcapng"),
    "gzip": lambda path, packets: _packed(path, packets, gzip.compress),
    "xz": lambda path, packets: _packed(path, packets, lzma.compress),
}


def _expected(known, unit):
    def cut(time_ns):
        return time_ns // unit * unit

    rows = []
    for at_ns, answer_ns, (client, server), query, answer in known:
        question = query.question[0]
        rcode = None if answer_ns is None else int(answer.rcode())
        rows.append(
            Row(
                cut(at_ns),
                client[0],
                client[1],
                server[0],
                query.id,
                question.name.to_text().lower(),
                int(question.rdtype),
                int(question.rdclass),
                None if answer_ns is None else cut(answer_ns),
                rcode,
            )
        )
    return rows


def _read_by_us(dnsrig, path, folder):
    table = folder / f"{path.name}.parquet"
    done = dnsrig("traffic", "convert", path, "-f", table, "--from", "capture")
    assert done.code == 0, done.err
    read = pyarrow.parquet.read_table(table)
    rows = []
    for name in ("time", "latency"):
        # As numbers: Python's times have no nanoseconds.
        place = read.schema.get_field_index(name)
        read = read.set_column(place, name, read.column(name).cast(pyarrow.int64()))
    for row in read.to_pylist():
        answer_ns = None if row["latency"] is None else row["time"] + row["latency"]
        ends = (row["client"], row["client_port"], row["server"])
        types = (int(dns.rdatatype.from_text(row["type"])), int(dns.rdataclass.from_text(row["class"])))
        rows.append(Row(row["time"], *ends, row["id"], row["name"].lower(), *types, answer_ns, row["rcode"]))
    return rows


def _read_by_tshark(path):
    ends = [f"{layer}.{end}" for layer in ("ip", "ipv6") for end in ("src", "dst")]
    ports = [f"{layer}.{end}" for layer in ("udp", "tcp") for end in ("srcport", "dstport")]
    of_dns = [f"dns.{name}" for name in ("id", "qry.name", "qry.type", "qry.class", "flags.response", "flags.rcode")]
    fields = ["frame.time_epoch", *ends, *ports, *of_dns]
    command = ["tshark", "-r", path, "-Y", "dns", "-T", "fields", "-E", "occurrence=f"]
    command += [part for field in fields for part in ("-e", field)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    queries, answers = [], {}
    for line in done.stdout.splitlines():
        row = dict(zip(fields, line.split("\t"), strict=True))
        seconds, fraction = row["frame.time_epoch"].split(".")
        time_ns = int(seconds) * 10**9 + int(fraction.ljust(9, "0"))
        source, target = (row[f"ip.{end}"] or row[f"ipv6.{end}"] for end in ("src", "dst"))
        from_port, to_port = (int(row[f"udp.{end}"] or row[f"tcp.{end}"]) for end in ("srcport", "dstport"))
        number = int(row["dns.id"], 16)
        question = (row["dns.qry.name"].lower() + ".", int(row["dns.qry.type"]), int(row["dns.qry.class"], 16))
        if row["dns.flags.response"] in ("1", "True"):
            answers[target, to_port, number] = (time_ns, int(row["dns.flags.rcode"]))
        else:
            queries.append(((source, from_port, number), target, time_ns, question))
    return [
        Row(time_ns, client[0], client[1], server, client[2], *question, *answers.get(client, (None, None)))
        for client, server, time_ns, question in queries
    ]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_holds_the_same(dnsrig, known, packets, tmp_path, form):
    need("tshark", "tshark")
    need("editcap", "wireshark-common")
    path: Path = tmp_path / "capture"
    FORMS[form](path, packets)
    expected = _expected(known, 1000 if form == "microseconds" else 1)
    ours = _read_by_us(dnsrig, path, tmp_path)
    assert ours == expected
    theirs = path
    if form == "xz":
        # tshark reads no xz.
        theirs = tmp_path / "capture.plain"
    assert sorted(_read_by_tshark(theirs), key=lambda row: row.time_ns) == expected
    counted = json.loads(dnsrig("traffic", "stats", path, "--json").out)
    assert counted["packets"]["read"] == counted["packets"]["dns"] == len(packets)
    assert counted["requests"] == len(known)
    assert counted["answers"]["answered"] == sum(row.answer_ns is not None for row in expected)
    families = {4: 0, 6: 0}
    for row in expected:
        families[4 if row.server == SERVERS[4] else 6] += 1
    assert counted["families"] == {"ipv4": families[4], "ipv6": families[6]}
