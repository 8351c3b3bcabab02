"""Files that the commands of `dnsrig traffic` write: none that is read, and no pipe or link is replaced."""

import os
import subprocess
import sys
import threading

import dns.message
import pytest
from capture_maker import traffic, udp, write_pcap


@pytest.fixture(scope="module")
def capture(tmp_path_factory):
    return write_pcap(tmp_path_factory.mktemp("capture") / "all.pcap", traffic())


@pytest.mark.parametrize(
    "arguments",
    [
        ["stats", "own", "--html", "own"],
        ["filter", "query", "own", "-f", "own"],
        ["sample", "own", "-f", "own", "--clients", "10%"],
        ["mix", "own", "own", "-f", "own", "--augment", "10%"],
        ["warp", "own", "-f", "own", "--loops", "2"],
        ["convert", "own", "-f", "own", "--from", "capture", "--to", "parquet"],
        ["anonymize", "own", "-f", "own"],
        ["fit", "own", "-f", "own"],
        ["synthesize", "own", "own"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_file_that_is_read_is_not_overwritten(dnsrig, tmp_path, capture, arguments):
    (tmp_path / "own").write_bytes(capture.read_bytes())
    done = dnsrig("traffic", *arguments, cwd=tmp_path)
    assert done.code == 2
    assert "is read, too" in " ".join(done.err.split())
    assert (tmp_path / "own").read_bytes() == capture.read_bytes()
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("command", ["html", "parquet"])
def test_pipes_are_written_and_links_stay(dnsrig, tmp_path, capture, command):
    arguments = {
        "html": ("stats", capture, "--html"),
        "parquet": ("convert", capture, "--to", "parquet", "-f"),
    }[command]
    beginning = {"html": b"<!DOCTYPE html>", "parquet": b"PAR1"}[command]
    fifo, link, target = tmp_path / "fifo", tmp_path / "link", tmp_path / "target"
    os.mkfifo(fifo)
    read = []
    reader = threading.Thread(target=lambda: read.append(fifo.read_bytes()), daemon=True)
    if command == "parquet":
        done = dnsrig("traffic", *arguments, fifo)
        assert done.code == 2 and "no regular file" in done.err
    else:
        reader.start()
        done = dnsrig("traffic", *arguments, fifo)
        assert done.code == 0, done.err
        reader.join(10)
        assert read[0].startswith(beginning)
    assert fifo.is_fifo()
    target.write_text("before")
    target.chmod(0o640)
    link.symlink_to("target")
    done = dnsrig("traffic", *arguments, link)
    assert done.code == 0, done.err
    assert link.is_symlink()
    assert target.read_bytes().startswith(beginning)
    assert target.stat().st_mode & 0o777 == 0o640
    assert {file.name for file in tmp_path.iterdir()} == {"fifo", "link", "target"}


@pytest.mark.parametrize(
    "arguments",
    [
        ["filter", "query", "CAPTURE"],
        ["convert", "CAPTURE", "--to", "text"],
        ["convert", "CAPTURE", "--to", "parquet"],
        ["warp", "CAPTURE", "--loops", "2"],
        ["anonymize", "CAPTURE"],
    ],
    ids=lambda arguments: "-".join((arguments[0], arguments[-1])),
)
def test_a_disk_that_is_full_keeps_what_was_there(tmp_path, arguments):
    queries = [udp(("192.0.2.1", 4000), ("192.0.2.53", 53), query(number)) for number in range(5000)]
    capture = write_pcap(tmp_path / "all.pcap", queries)
    folder = tmp_path / "full"
    folder.mkdir()
    (folder / "out").write_text("before")
    named = [str(capture) if argument == "CAPTURE" else argument for argument in arguments]
    # No file of more than 16 KiB can be written, as if there were no room for it.
    command = [
        "bash",
        "-c",
        'ulimit -f 16; exec "$@"',
        "-",
        sys.executable,
        "-m",
        "dnsrig",
        "traffic",
        *named,
        "-f",
        "out",
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 3, done.stderr
    assert "cannot" in done.stderr and "Traceback" not in done.stderr
    assert [file.name for file in folder.iterdir()] == ["out"]
    assert (folder / "out").read_text() == "before"


def query(number):
    return dns.message.make_query(f"host{number * 7919}.example.test", "A").to_wire()
