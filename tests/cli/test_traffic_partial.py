"""What a user is told of captures that hold a part only: cut packets, a pipe that Ctrl-C ended, no answers."""

import json
import os
import signal
import struct
import subprocess
import sys

import dns.message
import pytest
from captures import ETHERNET, Packet, udp, write_pcap

START_NS = 1_700_000_000 * 10**9
ENDS = ("192.0.2.1", 4000), ("198.51.100.53", 53)
SNAPPED_AT = 80
WLAN = 105
ENOUGH_S = 60


def packets(number, *, answers=True):
    """Make queries with EDNS and their answers."""
    for place in range(number):
        query = dns.message.make_query(f"host{place}.example.com", "A", use_edns=0, id=place)
        yield Packet(START_NS + place * 10**7, udp(*ENDS, query.to_wire()))
        if answers:
            response = dns.message.make_response(query)
            yield Packet(START_NS + place * 10**7 + 1000, udp(*reversed(ENDS), response.to_wire()))


@pytest.fixture
def whole(tmp_path):
    path = tmp_path / "whole.pcap"
    write_pcap(path, list(packets(20)))
    return path


@pytest.fixture
def snapped(whole):
    """Write the same as `tcpdump -s 80` leaves it."""
    octets, at = whole.read_bytes(), 24
    parts = [octets[:at]]
    while at < len(octets):
        seconds, fraction, length, _ = struct.unpack("<IIII", octets[at : at + 16])
        frame = octets[at + 16 : at + 16 + length]
        parts.append(struct.pack("<IIII", seconds, fraction, len(frame[:SNAPPED_AT]), length) + frame[:SNAPPED_AT])
        at += 16 + length
    path = whole.parent / "snapped.pcap"
    path.write_bytes(b"".join(parts))
    return path


def warning_of(path, number):
    return f"{path} holds the beginnings only of {number} of 40 packets, {SNAPPED_AT} octets at most (snapshot length)"


def test_cut_packets_are_said_by_all_that_read_them(dnsrig, whole, snapped, tmp_path):
    said = warning_of(snapped, 40)
    done = dnsrig("traffic", "stats", snapped, "--json", "--html", tmp_path / "page.html")
    [file] = done.json["files"]
    assert (file["cut_packets"], file["cut_at"]) == (40, SNAPPED_AT)
    assert said in done.err and said in (tmp_path / "page.html").read_text()
    stored = tmp_path / "stored.json"
    stored.write_text(done.out)
    for arguments in (
        ("stats", "--merge", stored, stored),
        ("stats", "--compare", stored, whole),
        ("stats", "--compare", whole, snapped),
        ("filter", "query", snapped, "-f", tmp_path / "out.pcap"),
        ("fit", snapped, "-f", tmp_path / "fitted.toml"),
    ):
        assert said in dnsrig("traffic", *arguments).err, arguments
    done = dnsrig("traffic", "stats", whole, "--json", "--html", tmp_path / "page.html")
    assert "beginnings" not in done.err + (tmp_path / "page.html").read_text()
    assert done.json["files"][0]["cut_packets"] == 0


def test_a_file_that_is_cut_off_is_said_where_its_figures_are_added_up(dnsrig, whole, tmp_path):
    whole.write_bytes(whole.read_bytes()[:-5])
    page, stored = tmp_path / "page.html", tmp_path / "stored.json"
    stored.write_text(dnsrig("traffic", "stats", whole, "--json").out)
    done = dnsrig("traffic", "stats", "--merge", stored, stored, "--html", page)
    assert done.err.count("is cut off after packet 39") == 2
    # Files of several machines may have the same name.
    assert "is given" not in done.err
    assert page.read_text().count("is cut off after packet 39") == 2


def test_what_a_capture_of_queries_does_not_have_is_no_zero(dnsrig, whole, tmp_path):
    queries = tmp_path / "queries.pcap"
    write_pcap(queries, list(packets(20, answers=False)))
    figures = dnsrig("traffic", "stats", "--compare", whole, queries, "--json").json["figures"]
    found = {figure["name"]: (figure["first"], figure["second"]) for figure in figures}
    assert found["failed"] == (0, None) and found["unanswered"] == (0, None)
    assert found["rcode NOERROR"] == (1, None)
    assert found["type A"] == (1, 1)


def test_a_link_type_that_is_not_read_is_named(dnsrig, whole):
    octets = bytearray(whole.read_bytes())
    octets[20:24] = struct.pack("<I", WLAN)
    whole.write_bytes(octets)
    done = dnsrig("traffic", "stats", whole)
    assert done.code == 2 and f"not link type {WLAN}" in done.err and "snapshot length" not in done.err
    assert ETHERNET != WLAN


def test_names_that_promise_another_form_are_refused(dnsrig, whole, tmp_path):
    for name, said in (
        ("out.pcap.gz", "give out.pcap, and compress that by gzip"),
        ("out.txt.zst", "give out.txt, and compress that by zstd"),
        ("out.pcap.xz", "give out.pcap, and compress that by xz"),
        ("out.pcapng", "not pcapng: name it .pcap"),
    ):
        for command in (("convert",), ("filter", "query")):
            done = dnsrig("traffic", *command, whole, "-f", tmp_path / name)
            assert done.code == 2 and said in " ".join(done.err.split()), done.err
            assert not (tmp_path / name).exists()


def test_a_sample_that_is_not_what_was_asked_for_says_so(dnsrig, whole, tmp_path):
    done = dnsrig("traffic", "sample", whole, "-f", tmp_path / "some.pcap", "--target-qps", 100_000)
    assert "warning: --target-qps 100000 was not reached" in done.err
    done = dnsrig("traffic", "sample", whole, "-f", tmp_path / "some.pcap", "--clients", "0%")
    assert "warning: none of the clients was chosen" in done.err
    assert "warning" not in dnsrig("traffic", "sample", whole, "-f", tmp_path / "some.pcap", "--clients", "100%").err


@pytest.fixture
def reading():
    """Start statistics of standard input, and give the process once it has read what is written to it."""
    command = [sys.executable, "-m", "dnsrig", "traffic", "stats", "-", "--json"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as started:
        yield started
        started.kill()


def fill(started, octets):
    """Write more than the pipe holds, so that it has been opened and is being read when that returns."""
    started.stdin.write(octets)
    started.stdin.flush()


def test_ctrl_c_in_a_pipe_gives_the_figures_of_what_was_written(reading, tmp_path):
    path = tmp_path / "much.pcap"
    write_pcap(path, list(packets(2000)))
    octets = path.read_bytes()
    fill(reading, octets)
    reading.send_signal(signal.SIGINT)
    said = os.read(reading.stderr.fileno(), 500).decode()
    assert "interrupted: what still comes from standard input is read" in said
    # What the other program had still to write.
    out, _ = reading.communicate(octets[24:], timeout=ENOUGH_S)
    assert reading.returncode == 0
    assert json.loads(out)["requests"] == 4000


def test_a_second_ctrl_c_ends_reading(reading, tmp_path):
    path = tmp_path / "much.pcap"
    write_pcap(path, list(packets(2000)))
    fill(reading, path.read_bytes())
    reading.send_signal(signal.SIGINT)
    assert b"interrupted" in os.read(reading.stderr.fileno(), 500)
    reading.send_signal(signal.SIGINT)
    assert reading.wait(ENOUGH_S) == 130
    assert reading.stdout.read() == b""
