"""Arguments of `dnsrig traffic` that cannot be meant, and what is said of them."""

import contextlib
import os
import subprocess
import sys

import pytest
from capture_maker import traffic, write_pcap

ODD = os.fsdecode(b"a\xff\xfe")
only_linux = pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")


@pytest.fixture
def odd(tmp_path):
    """Give a capture whose name is not UTF-8."""
    return write_pcap(tmp_path / f"{ODD}.pcap", traffic())


@only_linux
@pytest.mark.parametrize(
    "arguments",
    [
        ["profiles", ODD],
        ["synthesize", ODD, "out"],
        ["synthesize", "resolver-2022", "out", "--start", ODD],
        ["fit", "IN", "-f", "out", "--name", ODD],
        ["filter", f"name {ODD}", "IN", "-f", "out"],
        ["partition", "IN", "-f", "out", "-o", ODD, "--by-label-range", "a-z"],
        ["partition", "IN", "-f", "out", "-o", "example.com", "--by-label-range", ODD],
        ["partition", "IN", "-f", "out", "--by-manifest", "IN"],
        ["anonymize", "IN", "-f", "out", "--names", "pseudonyms", "--keep", ODD],
        ["convert", "IN", "-f", "out", "--server", ODD],
    ],
    ids=lambda arguments: arguments[0],
)
def test_arguments_that_are_not_utf_8_are_refused(dnsrig, odd, arguments):
    done = dnsrig("traffic", *(odd if one == "IN" else one for one in arguments), cwd=odd.parent)
    assert done.code == 2, done.err
    assert "udcff" in done.err and "column" not in done.err
    assert list(odd.parent.iterdir()) == [odd]


@pytest.mark.parametrize("server", ["foo", "1.2.3.4.5", "fe80::1%lo", ""])
def test_a_server_is_an_address(dnsrig, tmp_path, server):
    (tmp_path / "in.txt").write_text("www.example.com A\n")
    done = dnsrig("traffic", "convert", "in.txt", "-f", "out.pcap", "--server", server, cwd=tmp_path)
    assert done.code == 2
    assert "--server" in done.err and repr(server) in done.err


@pytest.mark.parametrize("form", ["capture", "text"])
def test_captures_are_not_written_to_a_terminal(tmp_path, form):
    capture = write_pcap(tmp_path / "in.pcap", traffic())
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "dnsrig", "traffic", "convert", capture, "--to", form]
    with subprocess.Popen(command, stdout=theirs, stderr=subprocess.PIPE, text=True) as running:
        os.close(theirs)
        read = b""
        # A terminal whose other end has gone fails to be read.
        with contextlib.suppress(OSError):
            while octets := os.read(ours, 1 << 16):
                read += octets
        said = running.stderr.read()
    os.close(ours)
    if form == "text":
        assert running.returncode == 0, said
        assert b"www.example.com" in read
    else:
        assert running.returncode == 2
        assert read == b"" and "not for a terminal" in " ".join(said.split())


def test_a_core_of_other_sources_is_named():
    program = "from dnsrig import _core; del _core.traffic_profiles; from dnsrig.cli import main; main()"
    command = [sys.executable, "-c", program, "traffic", "profiles"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 3
    assert "make setup" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["stats", "-", "-"], "standard input"),
        (["mix", "-", "-", "-f", "out", "--augment", "1"], "standard input"),
        (["filter", "query", "-", "-", "-f", "out"], "standard input"),
        (["stats", "--merge", "IN", "--port", "5300"], "--port"),
        (["stats", "--merge", "IN", "--names", "5"], "--names"),
        (["stats", "--merge", "IN", "--count", "queries"], "--count"),
        (["stats", "IN", "--port", ""], "--port"),
        (["warp", "IN", "-f", "out", "--same-names"], "--loops"),
    ],
)
def test_what_cannot_be_meant_is_refused(dnsrig, tmp_path, arguments, words):
    write_pcap(tmp_path / "in.pcap", traffic())
    done = dnsrig("traffic", *("in.pcap" if one == "IN" else one for one in arguments), cwd=tmp_path)
    assert done.code == 2, done.err
    assert words in " ".join(done.err.split()), done.err
    assert not (tmp_path / "out").exists()
