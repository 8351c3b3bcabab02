"""Inputs of `dnsrig load` that are slow, endless, too large or damaged: refused or said, and Ctrl-C is heeded."""

import os
import shlex
import signal
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import wait_until

DEADLINE_S = 60
LITTLE_MEMORY_KIB = 600_000
"""Of address space: enough to start, not for millions of queries."""


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("option", ["-d", "--replay"])
def test_a_pipe_without_a_writer_can_be_left(tmp_path, option, signal_number):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    command = [sys.executable, "-m", "dnsrig", "load", option, str(pipe)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        wait_until_open(process, pipe)
        process.send_signal(signal_number)
        _, err = process.communicate(timeout=DEADLINE_S)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130, err
    assert err.strip() == "dnsrig: interrupted"


def wait_until_open(process, path):
    """Wait until the process has `path` open."""
    wait_until(lambda: path in open_files(process.pid), process)


def open_files(pid):
    """Give the paths of what a process has open."""
    paths = set()
    for link in Path(f"/proc/{pid}/fd").iterdir():
        try:
            paths.add(link.readlink())
        except FileNotFoundError:
            continue
    return paths


def refused(done, code, *parts):
    """Expect exit `code` and a message with all `parts`, without a traceback."""
    assert done.code == code, done.err
    assert "Traceback" not in done.err
    for part in parts:
        assert part in done.err, done.err


@pytest.mark.parametrize(
    ("arguments", "lower"),
    [
        (["--generate", "{az:40}.{az:40}.com", "--count", "20000000"], "lower --count"),
        (["--generate", "{n}.example.test", "--count", "10", "-q", "10000000", "-c", "400", "-l", "1"], "lower -q"),
    ],
)
def test_want_of_memory_names_the_option_to_lower(served, arguments, lower):
    command = shlex.join([sys.executable, "-m", "dnsrig", "load", "-p", str(served[1]), *arguments])
    limited = f"ulimit -v {LITTLE_MEMORY_KIB}; exec {command}"
    done = subprocess.run(["sh", "-c", limited], capture_output=True, text=True, check=False, timeout=DEADLINE_S)
    assert done.returncode == 3, done.stderr
    assert lower in done.stderr
    assert "Traceback" not in done.stderr


def test_a_message_that_no_datagram_holds(dnsrig, served, tmp_path):
    queries = tmp_path / "queries.txt"
    queries.write_text("# one fits\nexample.test SOA\na.test A padding=65535\n")
    refused(dnsrig("load", "-p", served[1], "-d", queries), 2, "65535 octets", "line 3", "65507")
    assert dnsrig("load", "-p", served[1], "-d", queries, "-m", "tcp").code == 0


def test_input_without_end(dnsrig):
    refused(dnsrig("load", "-d", "/dev/zero"), 2, "/dev/zero: line 1 is longer than 1000000 octets")
    with subprocess.Popen(["yes"], stdout=subprocess.PIPE) as endless:
        command = [sys.executable, "-m", "dnsrig", "load"]
        done = subprocess.run(
            command, stdin=endless.stdout, capture_output=True, text=True, check=False, timeout=DEADLINE_S
        )
        endless.kill()
    assert done.returncode == 2, done.stderr
    assert "100000 bad lines" in done.stderr
    assert "was not read" in done.stderr


def test_a_cut_capture_is_said_with_its_packet(dnsrig, served, tmp_path):
    capture = tmp_path / "cut.pcap"
    capture.write_bytes(pcap([100.0, 100.1, 100.2])[:-7])
    done = dnsrig("load", "-p", served[1], "--replay", capture)
    assert done.code == 0, done.err
    assert "the capture ends inside packet 3" in done.out
    assert "the capture ends inside packet 3" in done.err
    assert "replaying 2 queries of 1 client over 0.100 s" in done.err
    stream = dnsrig("load", "-p", served[1], "--replay", capture, "--json").json["stream"]
    assert (stream["ends_inside_packet"], stream["cut_packet"], stream["queries"]) == (True, 3, 2)


def test_what_of_a_capture_cannot_be_sent_is_said(dnsrig, served, tmp_path):
    capture, whole = tmp_path / "short.pcap", pcap([100.0, 100.1])
    # The first packet is five octets short, as a snapshot length leaves it.
    length = int.from_bytes(whole[32:36], "little")
    first = whole[24:32] + (length - 5).to_bytes(4, "little") + whole[36 : 40 + length - 5]
    capture.write_bytes(whole[:24] + first + whole[40 + length :])
    done = dnsrig("load", "-p", served[1], "--replay", capture)
    assert done.code == 0, done.err
    assert "replaying 1 query" in done.err or "replaying 1 queries" in done.err
    said = "left out packets and messages of the capture that may be queries: 1 cut off by the snapshot length"
    assert said in done.err


def test_a_capture_whose_clock_jumps_is_refused(dnsrig, tmp_path):
    capture = tmp_path / "jump.pcap"
    capture.write_bytes(pcap([4_000_000_000.0, 100.0, 100.1]))
    refused(dnsrig("load", "--replay", capture), 2, "packet 2", "times go back", "46296 days", "editcap")


def test_captures_of_other_ports_are_read_when_these_are_named(dnsrig, served, tmp_path):
    capture = tmp_path / "other.pcap"
    capture.write_bytes(pcap([100.0, 100.1], port=5300) + pcap([100.2], source_port=4001)[PCAP_HEADER_LEN:])
    load = ("load", "-p", served[1], "--json", "--replay")

    def replayed(*options):
        report = dnsrig(*load, capture, *options).json
        return report["sent"], report["generator"]["clients"]

    assert replayed() == (1, 1)
    assert replayed("--capture-port", "5300") == (2, 1)
    both = ("--capture-port", "5300", "--capture-port", "53")
    assert replayed(*both) == (3, 1)
    assert replayed(*both, "--client-by-port") == (3, 2)
    capture.write_bytes(pcap([100.0], port=5300))
    refused(dnsrig(*load, capture), 2, "1 of other ports", "port 53", "--capture-port")
    refused(dnsrig("load", "-d", tmp_path / "q", "--client-by-port"), 2, "--client-by-port", "goes with --replay")


PCAP_HEADER_LEN = 24


def pcap(times_s, port=53, source_port=4000):
    """Give a pcap file with a query over raw IPv4 and UDP at each of `times_s`."""
    query = b"\0\1\1\0\0\1\0\0\0\0\0\0\7example\4test\0\0\6\0\1"
    udp = struct.pack(">HHHH", source_port, port, 8 + len(query), 0) + query
    addresses = bytes([192, 0, 2, 1, 198, 51, 100, 53])
    packet = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0) + addresses + udp
    file = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 101)
    for time_s in times_s:
        seconds = int(time_s)
        microseconds = round((time_s - seconds) * 1e6)
        file += struct.pack("<IIII", seconds, microseconds, len(packet), len(packet)) + packet
    return file
