"""Captures that are odd: names and times beyond what formats hold, files that are damaged."""

import gzip
import lzma
import os
import struct
import sys

import dns.message
import pytest
from capture_maker import START_S, session, traffic, udp, write_pcap

ODD = os.fsdecode(b"a\xff\xfe")
CLIENT, SERVER = ("198.51.100.7", 4000), ("192.0.2.53", 53)
RAW = 101

only_linux = pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")


@pytest.fixture
def odd(tmp_path):
    """Give a capture whose name is not UTF-8."""
    return write_pcap(tmp_path / f"{ODD}.pcap", traffic())


@only_linux
@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize(
    "arguments",
    [
        ["stats", "IN"],
        ["stats", "IN", "--html", "OUT"],
        ["filter", "type A", "IN", "-f", "OUT"],
        ["anonymize", "IN", "-f", "OUT"],
        ["convert", "IN", "-f", "OUT"],
        ["convert", "IN", "--to", "text", "-f", "OUT"],
        ["convert", "IN", "--to", "parquet", "-f", "OUT"],
        ["fit", "IN", "-f", "OUT"],
        ["partition", "IN", "-f", "OUT", "--by-client", "2"],
        ["mix", "IN", "IN", "-f", "OUT", "--augment", "10%"],
        ["warp", "IN", "-f", "OUT"],
        ["sample", "IN", "-f", "OUT", "--clients", "50%"],
        ["synthesize", "resolver-2022", "OUT", "-n", "100"],
    ],
    ids=lambda arguments: "-".join(arguments[:3:2]),
)
def test_names_of_files_that_are_not_utf_8(dnsrig, odd, arguments, as_json):
    files = {"IN": odd, "OUT": odd.parent / os.fsdecode(b"out\xff")}
    done = dnsrig("traffic", *(files.get(one, one) for one in arguments), *(["--json"] if as_json else []))
    assert done.code == 0, done.err
    assert "Traceback" not in done.err
    if "OUT" in arguments:
        assert [path for path in odd.parent.iterdir() if path.name.startswith("out\udcff")]


def pcapng(path, packets):
    """Write packets of raw IP with times in seconds before or after 1970."""
    offset = min(time_s for time_s, _ in packets)

    def block(kind, body):
        body += bytes(-len(body) % 4)
        return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)

    # if_tsoffset (14) puts the times where they are to be.
    options = struct.pack("<HHq", 14, 8, offset) + bytes(4)
    file = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)) + block(
        1, struct.pack("<HHI", RAW, 0, 0) + options
    )
    for time_s, packet in packets:
        ticks = (time_s - offset) * 1_000_000
        length = len(packet)
        file += block(6, struct.pack("<IIIII", 0, ticks >> 32, ticks & 0xFFFFFFFF, length, length) + packet)
    path.write_bytes(file)
    return path


YEAR_2110_S = 4_420_000_000


@pytest.mark.parametrize("time_s", [-150_000_000, YEAR_2110_S])
@pytest.mark.parametrize("command", ["convert", "filter", "partition", "sample", "anonymize", "mix", "tcp"])
def test_what_has_a_time_that_pcap_cannot_hold_is_left_out_and_counted(dnsrig, tmp_path, time_s, command):
    query = dns.message.make_query("www.example.com", "A").to_wire()
    packets = session(CLIENT, SERVER, [query], [], 1000) if command == "tcp" else [udp(CLIENT, SERVER, query)]
    whole = [*((time_s, packet) for packet in packets), (START_S, udp(CLIENT, SERVER, query))]
    odd = pcapng(tmp_path / "in.pcapng", whole)
    arguments = {
        "convert": ["convert", odd],
        "filter": ["filter", "query", odd],
        "partition": ["partition", odd, "--by-client", "1"],
        "sample": ["sample", odd, "--clients", "100%"],
        "anonymize": ["anonymize", odd],
        "mix": ["mix", odd, odd, "--substitute", "100%"],
        "tcp": ["filter", "query", odd],
    }[command]
    done = dnsrig("traffic", *arguments, "-f", tmp_path / "out", "--json")
    assert done.code == 0, done.err
    counts = done.json
    if command in ("anonymize", "mix"):
        left_out = counts["messages"] if command == "anonymize" else counts["messages_left_out"]
        assert left_out["time"] == 1
    else:
        assert counts["not_written_time"] == 1
    said = dnsrig("traffic", *arguments, "-f", tmp_path / "out")
    assert "1 time" in said.out or "from 1970 to 2106 only: 1 packets" in said.out
    written = tmp_path / ("out.1.pcap" if command == "partition" else "out")
    seen = dnsrig("traffic", "stats", written, "--json").json
    assert seen["packets"]["dns"] == 1
    assert seen["start_unix_ns"] == START_S * 10**9


def test_warp_brings_times_to_where_pcap_can_hold_them(dnsrig, tmp_path):
    query = dns.message.make_query("www.example.com", "A").to_wire()
    packets = [(YEAR_2110_S + second, udp(CLIENT, SERVER, query)) for second in range(3)]
    odd = pcapng(tmp_path / "in.pcapng", packets)
    refused = dnsrig("traffic", "warp", odd, "-f", tmp_path / "out")
    assert refused.code == 2 and str(YEAR_2110_S) in refused.err
    done = dnsrig("traffic", "warp", odd, "-f", tmp_path / "out", "--start", START_S)
    assert done.code == 0, done.err
    assert dnsrig("traffic", "stats", tmp_path / "out", "--json").json["seconds"] == 2


def test_a_query_file_with_such_a_time_is_left_out(dnsrig, tmp_path):
    (tmp_path / "in.txt").write_text(f"www.example.com A time={YEAR_2110_S}\nwww.example.com A time=5\n")
    done = dnsrig("traffic", "convert", tmp_path / "in.txt", "-f", tmp_path / "out.pcap", "--json")
    assert done.code == 0, done.err
    assert done.json["messages_left_out"]["time"] == 1


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress], ids=["gzip", "xz"])
def test_what_stands_before_other_octets_at_the_end_is_read(dnsrig, tmp_path, compress):
    whole = write_pcap(tmp_path / "whole.pcap", traffic())
    (tmp_path / "odd").write_bytes(compress(whole.read_bytes()) + b"x" * 64)
    expected = dnsrig("traffic", "stats", whole, "--json").json
    done = dnsrig("traffic", "stats", tmp_path / "odd", "--json")
    assert done.code == 0, done.err
    assert done.json["packets"]["read"] == expected["packets"]["read"]
    assert "is damaged after packet" in done.err


@pytest.mark.parametrize(
    "command",
    [
        ["stats", "IN"],
        ["filter", "query", "IN", "-f", "out"],
        ["convert", "IN", "--to", "text", "-f", "out"],
        ["convert", "IN", "--to", "parquet", "-f", "out"],
        ["anonymize", "IN", "-f", "out"],
        ["fit", "IN", "-f", "out"],
    ],
    ids=lambda command: command[-3] if len(command) == 6 else command[0],
)
def test_files_that_are_not_whole_are_named_where_nothing_is_found(dnsrig, tmp_path, command):
    whole = write_pcap(tmp_path / "whole.pcap", traffic()).read_bytes()
    cut, damaged, headers = tmp_path / "cut", tmp_path / "damaged", tmp_path / "headers"
    cut.write_bytes(gzip.compress(whole)[:-20])
    damaged.write_bytes(whole + struct.pack("<IIII", 0, 0, 2**31, 2**31))
    headers.write_bytes(whole[:30])
    for file, words in (
        (cut, ("of other ports", "cut is cut off after packet", "give the whole file", "--port")),
        (damaged, ("of other ports", "damaged is damaged after packet")),
        (headers, ("0 packets; ", "headers is cut off after packet 0; give the whole file")),
    ):
        done = dnsrig("traffic", *(file if one == "IN" else one for one in command), "--port", "5300", cwd=tmp_path)
        assert done.code == 2
        assert all(word in done.err for word in words), done.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["stats", "text"], "convert --from text"),
        (["stats", "twice"], "compressed twice"),
        (["stats", "version"], "version 99.4"),
        (["stats", "damaged"], "give another copy"),
        (["anonymize", "IN", "-f", "out", "-k", "zeros"], "guess"),
    ],
)
def test_files_that_cannot_be_meant_are_refused(dnsrig, tmp_path, arguments, words):
    whole = write_pcap(tmp_path / "in.pcap", traffic()).read_bytes()
    (tmp_path / "text").write_text("www.example.com A\n")
    (tmp_path / "twice").write_bytes(gzip.compress(lzma.compress(whole)))
    (tmp_path / "version").write_bytes(whole[:4] + struct.pack("<H", 99) + whole[6:])
    (tmp_path / "damaged").write_bytes(whole[:24] + struct.pack("<IIII", 0, 0, 2**31, 2**31))
    (tmp_path / "zeros").write_text("0" * 64 + "\n")
    (tmp_path / "zeros").chmod(0o600)
    done = dnsrig("traffic", *("in.pcap" if one == "IN" else one for one in arguments), cwd=tmp_path)
    assert done.code == 2, done.err
    assert words in " ".join(done.err.split()), done.err
    assert not (tmp_path / "out").exists()


def test_a_key_that_cannot_be_written_is_the_machines_fault(dnsrig, tmp_path):
    capture = write_pcap(tmp_path / "in.pcap", traffic())
    for key, code in (("/sys/key", 3), (tmp_path / "none" / "key", 2)):
        done = dnsrig("traffic", "anonymize", capture, "-f", tmp_path / "out", "--make-key", "-k", key)
        assert done.code == code and "key" in done.err, done.err
