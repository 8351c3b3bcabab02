"""`dnsrig traffic anonymize` against an implementation of Crypto-PAn of our own, dnspython and tshark."""

import ipaddress
import json
import socket
import stat
import struct
import subprocess
import sys

import dns.edns
import dns.flags
import dns.message
import dns.name
import dns.rdatatype
import dns.reversename
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from other_programs import need

KEY = bytes(range(32))
CLIENTS = ["192.0.2.1", "192.0.2.77", "198.51.100.9", "2001:db8::1", "2001:db8:0:1::99"]
SERVERS = {4: "203.0.113.53", 6: "2001:db8:ffff::53"}
ETHERNET = bytes.fromhex("02aa03bb04cc") + bytes.fromhex("02dd05ee06ff")


def crypto_pan(key, address):
    """Map an address as the paper has it, bit by bit."""
    aes = Cipher(algorithms.AES(key[:16]), modes.ECB()).encryptor()
    padding = int.from_bytes(aes.update(key[16:]))
    address = ipaddress.ip_address(address)
    width = address.max_prefixlen
    aligned = int(address) << (128 - width)
    flips = 0
    for position in range(width):
        rest = (1 << (128 - position)) - 1
        block = (aligned & ~rest | padding & rest).to_bytes(16)
        flips = flips << 1 | aes.update(block)[0] >> 7
    return ipaddress.ip_address((int(address) ^ flips).to_bytes(width // 8))


def checksum(octets):
    octets += bytes(len(octets) % 2)
    total = sum(struct.unpack(f">{len(octets) // 2}H", octets))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ip_packet(source, destination, protocol, transport):
    """Put an IP header before what begins with ports; IPv4 headers have an option."""
    source, destination = map(ipaddress.ip_address, (source, destination))
    if source.version == 6:
        return (
            struct.pack(">IHBB", 6 << 28 | 0xABCDE, len(transport), protocol, 57)
            + source.packed
            + destination.packed
            + transport
        )
    header = struct.pack(">BBHHHBBH", 0x46, 0, 24 + len(transport), 0xBEEF, 0, 57, protocol, 0)
    header += source.packed + destination.packed + b"\x94\x04\0\0"
    return header[:10] + struct.pack(">H", checksum(header)) + header[12:] + transport


def datagram(source, source_port, destination, destination_port, payload):
    return ip_packet(
        source, destination, 17, struct.pack(">HHHH", source_port, destination_port, 8 + len(payload), 0) + payload
    )


def segment(way, numbers, flags, payload=b""):
    """Give a TCP segment with a time stamp of the sender's clock."""
    source, source_port, destination, destination_port = way
    options = b"\x01\x01\x08\x0a\x12\x34\x56\x78\x9a\xbc\xde\xf0"
    header = struct.pack(">HHIIBBHHH", source_port, destination_port, *numbers, 0x80, flags, 1000, 0, 0)
    return ip_packet(source, destination, 6, header + options + payload)


def pcap(path, packets):
    """Write packets as Ethernet frames with a VLAN tag, one each microsecond."""
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 1))
        for number, packet in enumerate(packets):
            kind = 0x0800 if packet[0] >> 4 == 4 else 0x86DD
            frame = ETHERNET + struct.pack(">HHH", 0x8100, 7, kind) + packet
            file.write(struct.pack("<IIII", 1_700_000_000, number, len(frame), len(frame)) + frame)


def read_pcap(path):
    """Give (time in ns, packet) of a little-endian pcap file with nanoseconds and raw IP."""
    octets = path.read_bytes()
    magic, *_, link = struct.unpack("<IHHiIII", octets[:24])
    assert (magic, link) == (0xA1B23C4D, 101)
    at = 24
    while at < len(octets):
        seconds, ns, length, original = struct.unpack("<IIII", octets[at : at + 16])
        assert length == original
        yield seconds * 10**9 + ns, octets[at + 16 : at + 16 + length]
        at += 16 + length


def datagrams_of(path):
    """Give (source, destination, message) of every datagram."""
    for _, packet in read_pcap(path):
        if packet[0] >> 4 == 4:
            source, destination, transport = packet[12:16], packet[16:20], packet[20:]
        else:
            source, destination, transport = packet[8:24], packet[24:40], packet[40:]
        yield ipaddress.ip_address(source), ipaddress.ip_address(destination), dns.message.from_wire(transport[8:])


def query(name, rdtype="A", client="192.0.2.1"):
    network = ipaddress.ip_network(f"{client}/{24 if ':' not in client else 56}", strict=False)
    options = [
        dns.edns.ECSOption(str(network.network_address), network.prefixlen),
        dns.edns.CookieOption(b"cookie!?", b""),
    ]
    return dns.message.make_query(name, rdtype, use_edns=0, options=options, want_dnssec=True)


def transactions():
    """Give queries and answers of all clients."""
    for number, client in enumerate(CLIENTS):
        version = ipaddress.ip_address(client).version
        server = SERVERS[version]
        asked = query("www.example-shop.co.uk", "A", client)
        answer = dns.message.make_response(asked)
        answer.answer.append(dns.rrset.from_text("www.example-shop.co.uk.", 300, "IN", "A", "192.0.2.80", "192.0.2.81"))
        answer.additional.append(
            dns.rrset.from_text("www.example-shop.co.uk.", 300, "IN", "TXT", f'"your address is {client}"')
        )
        reverse = query(dns.reversename.from_address(client), "PTR", client)
        for message in (asked, reverse):
            yield datagram(client, 4000 + number, server, 53, message.to_wire())
        yield datagram(server, 53, client, 4000 + number, answer.to_wire())


@pytest.fixture
def capture(tmp_path):
    path = tmp_path / "in.pcap"
    pcap(path, transactions())
    return path


@pytest.fixture
def key(tmp_path):
    path = tmp_path / "key"
    path.write_bytes(KEY)
    path.chmod(0o600)
    return path


def anonymized(dnsrig, capture, key, *options):
    output = capture.with_name("out.pcap")
    done = dnsrig("traffic", "anonymize", "-k", key, capture, "-f", output, "--json", *options)
    assert done.code == 0, done.err
    return output, done.json


def test_addresses_are_those_of_the_paper_and_messages_stay(dnsrig, capture, key):
    output, result = anonymized(dnsrig, capture, key)
    assert result["messages"]["written"] == 3 * len(CLIENTS)
    found = list(datagrams_of(output))
    for number, client in enumerate(CLIENTS):
        server = SERVERS[ipaddress.ip_address(client).version]
        asked, reverse, answer = found[3 * number : 3 * number + 3]
        assert asked[:2] == (crypto_pan(KEY, client), crypto_pan(KEY, server))
        assert answer[:2] == (crypto_pan(KEY, server), crypto_pan(KEY, client))
        assert asked[2].question[0].name == dns.name.from_text("www.example-shop.co.uk")
        subnet, cookie = asked[2].options
        length = 24 if ":" not in client else 56
        network = ipaddress.ip_network(f"{client}/{length}", strict=False)
        mapped = ipaddress.ip_network(f"{crypto_pan(KEY, network.network_address)}/{length}", strict=False)
        assert ipaddress.ip_address(subnet.address) == mapped.network_address
        assert subnet.srclen == length
        assert len(cookie.client) == 8
        assert cookie.client != b"cookie!?"
        assert answer[2].find_rrset(answer[2].answer, "www.example-shop.co.uk.", "IN", "A").ttl == 300
        (text,) = answer[2].additional[0]
        assert text.strings == (b"x" * len(f"your address is {client}"),)
        asked_address = dns.reversename.to_address(reverse[2].question[0].name)
        assert asked_address not in (client, str(crypto_pan(KEY, client)))


def test_times_stay_and_everything_around_messages_is_made_anew(dnsrig, capture, key):
    output, _ = anonymized(dnsrig, capture, key)
    packets = list(read_pcap(output))
    assert [time for time, _ in packets] == [1_700_000_000 * 10**9 + 1000 * number for number in range(len(packets))]
    for _, packet in packets:
        if packet[0] >> 4 == 4:
            assert packet[0] == 0x45
            assert packet[4:9] == b"\0\0\x40\0\x40"
            assert checksum(packet[:20]) == 0
        else:
            assert packet[:4] == b"\x60\0\0\0"
    octets = output.read_bytes()
    for original in (ETHERNET[:6], ETHERNET[6:], b"cookie!?", socket.inet_pton(socket.AF_INET6, "2001:db8::1")):
        assert original not in octets


def test_names_get_pseudonyms_of_their_lengths(dnsrig, capture, key):
    output, _ = anonymized(dnsrig, capture, key, "--names", "pseudonyms")
    names = {message.question[0].name for *_, message in datagrams_of(output)}
    shown = sorted(str(name) for name in names if not name.is_subdomain(dns.name.from_text("arpa")))
    assert len(shown) == 1
    host, domain, *suffix = shown[0].split(".")
    assert (len(host), len(domain), suffix) == (3, len("example-shop"), ["co", "uk", ""])
    assert (host, domain) != ("www", "example-shop")
    output, _ = anonymized(dnsrig, capture, key, "--names", "pseudonyms", "--keep", "example-shop.co.uk")
    assert any(".example-shop.co.uk." in str(message.question[0].name) for *_, message in datagrams_of(output))


def test_the_same_key_gives_the_same_file_with_any_number_of_threads(dnsrig, capture, key):
    one, _ = anonymized(dnsrig, capture, key, "--threads", "1")
    first = one.read_bytes()
    two, _ = anonymized(dnsrig, capture, key, "--threads", "3")
    assert two.read_bytes() == first
    key.write_bytes(KEY[::-1])
    other, _ = anonymized(dnsrig, capture, key)
    assert other.read_bytes() != first


def tcp_connection(client, server):
    """Give the packets of a connection with two queries, the second of which is in two segments, and answers."""
    first, second = query("a.example").to_wire(), query("b.example").to_wire()
    answer = dns.message.make_response(dns.message.from_wire(first)).to_wire()
    sent = b"".join(struct.pack(">H", len(message)) + message for message in (first, second))
    answered = struct.pack(">H", len(answer)) + answer
    there, back = (client, 5000, server, 53), (server, 53, client, 5000)
    cut = len(first) + 10
    yield segment(there, (1000, 0), 2)
    yield segment(back, (7000, 1001), 0x12)
    yield segment(there, (1001, 7001), 0x18, sent[:cut])
    yield segment(there, (1001 + cut, 7001), 0x18, sent[cut:])
    yield segment(back, (7001, 1001 + len(sent)), 0x18, answered)
    yield segment(there, (1001 + len(sent), 7001 + len(answered)), 0x11)
    yield segment(back, (7001 + len(answered), 1002 + len(sent)), 0x11)


def test_tshark_finds_whole_connections_and_right_checksums(dnsrig, tmp_path, key):
    need("tshark", "tshark")
    capture = tmp_path / "in.pcap"
    connections = [
        packet
        for client in ("192.0.2.1", "2001:db8::1")
        for packet in tcp_connection(client, SERVERS[6 if ":" in client else 4])
    ]
    pcap(capture, [*transactions(), *connections])
    output, result = anonymized(dnsrig, capture, key)
    assert result["messages"]["written"] == 3 * len(CLIENTS) + 6
    columns = [
        "tcp.flags",
        "tcp.seq",
        "tcp.ack",
        "tcp.options",
        "dns.id",
        "_ws.malformed",
        "tcp.checksum.status",
        "udp.checksum.status",
    ]
    done = subprocess.run(
        [
            "tshark",
            "-r",
            output,
            "-T",
            "json",
            "-o",
            "tcp.check_checksum:TRUE",
            "-o",
            "udp.check_checksum:TRUE",
            "-o",
            "ip.check_checksum:TRUE",
        ]
        + [part for column in [*columns, "ip.checksum.status", "_ws.expert"] for part in ("-e", column)],
        capture_output=True,
        text=True,
        check=True,
    )
    packets = [packet["_source"]["layers"] for packet in json.loads(done.stdout)]
    assert len(packets) == 3 * len(CLIENTS) + 14
    for packet in packets:
        assert "_ws.malformed" not in packet
        assert "_ws.expert" not in packet or "Connection" in str(packet["_ws.expert"])
        for status in ("tcp.checksum.status", "udp.checksum.status", "ip.checksum.status"):
            assert packet.get(status, ["1"]) == ["1"], packet
    segments = [packet for packet in packets if "tcp.flags" in packet]
    assert all("tcp.options" not in packet for packet in segments)
    assert sum(len(packet.get("dns.id", [])) for packet in segments) == 6
    assert [packet["tcp.flags"] for packet in segments[:2]] == [["0x0002"], ["0x0012"]]


def test_a_key_is_made_once_and_others_refused(dnsrig, capture, tmp_path):
    key, output = tmp_path / "new.key", tmp_path / "out.pcap"
    missing = dnsrig("traffic", "anonymize", "-k", key, capture, "-f", output)
    assert missing.code == 2
    assert "cannot read the key" in missing.err
    made = dnsrig("traffic", "anonymize", "-k", key, "--make-key", capture, "-f", output)
    assert made.code == 0, made.err
    assert "a new key" in made.out
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    first = output.read_bytes()
    again = dnsrig("traffic", "anonymize", "-k", key, "--make-key", capture, "-f", output)
    assert again.code == 0, again.err
    assert "a new key" not in again.out
    assert output.read_bytes() == first
    key.chmod(0o644)
    shared = dnsrig("traffic", "anonymize", "-k", key, capture, "-f", output)
    assert shared.code == 2
    assert "chmod 600" in shared.err


def test_a_key_is_never_overwritten(dnsrig, capture, tmp_path, key):
    before = key.read_bytes()
    link = tmp_path / "link"
    link.hardlink_to(key)
    for output in (key, link):
        refused = dnsrig("traffic", "anonymize", "-k", key, capture, "-f", output)
        assert refused.code == 2 and "overwritten" in refused.err
        assert key.read_bytes() == before
    new = tmp_path / "new"
    refused = dnsrig("traffic", "anonymize", "-k", new, "--make-key", capture, "-f", new)
    assert refused.code == 2 and "overwritten" in refused.err
    assert not new.exists()


def test_an_original_in_a_name_is_refused_and_nothing_is_left(dnsrig, tmp_path, key):
    capture, output = tmp_path / "in.pcap", tmp_path / "out.pcap"
    name = dns.name.Name([b"ip6=2001:db8::1", b"example", b""])
    pcap(capture, [datagram("2001:db8::1", 4000, SERVERS[6], 53, dns.message.make_query(name, "A").to_wire())])
    before = set(tmp_path.iterdir())
    done = dnsrig("traffic", "anonymize", "-k", key, capture, "-f", output)
    assert done.code == 2
    assert "2001:db8::1" in done.err
    assert "--names pseudonyms" in done.err
    assert set(tmp_path.iterdir()) == before
    assert dnsrig("traffic", "anonymize", "-k", key, "--names", "pseudonyms", capture, "-f", output).code == 0


def test_the_command_line_is_checked(dnsrig, capture, key):
    for arguments, words in (
        (["--make-key"], "-k"),
        (["--keep", "example.org"], "--names pseudonyms"),
        (["--json"], "-f"),
        (["-f", capture], "would be overwritten"),
        (["-f", "x.pcap", "--names", "pseudonyms", "--keep", "a..b"], "no domain name"),
    ):
        done = dnsrig("traffic", "anonymize", *arguments, capture, cwd=capture.parent)
        assert done.code == 2, done.err
        assert words in done.err
        assert not (capture.parent / "x.pcap").exists()


def test_standard_output_gets_the_capture_alone(dnsrig, capture, key, tmp_path):
    output, _ = anonymized(dnsrig, capture, key)
    with (tmp_path / "piped.pcap").open("wb") as file:
        command = [sys.executable, "-m", "dnsrig", "traffic", "anonymize", "-k", key, capture]
        done = subprocess.run(command, stdout=file, stderr=subprocess.PIPE, text=True, check=True)
    assert (tmp_path / "piped.pcap").read_bytes() == output.read_bytes()
    assert "searched:" in done.stderr
