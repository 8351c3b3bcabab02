"""Files that the commands of `dnsrig traffic` write: none that is read, and no pipe or link is replaced."""

import os
import threading

import pytest
from capture_maker import traffic, write_pcap


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
