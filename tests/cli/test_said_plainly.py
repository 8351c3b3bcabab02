"""Messages that quote what was given: sequences for terminals stand as text in them."""

import os
import subprocess
import sys

import pytest
from capture_maker import traffic, write_pcap


def test_control_characters_of_a_file_are_said_as_text(dnsrig, tmp_path):
    (tmp_path / "odd.txt").write_bytes(b"www.example.com A\nwww.example.com \x1b]0;pwn\x07A\n")
    for arguments in (
        ["traffic", "convert", "odd.txt", "-f", "out.pcap"],
        ["load", "-s", "127.0.0.1", "-d", "odd.txt", "-l", "1"],
    ):
        done = dnsrig(*arguments, cwd=tmp_path)
        assert done.code == 2 and "\\x1b]0;pwn\\x07" in done.err, done.err
        assert all(character.isprintable() or character == "\n" for character in done.err), done.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["traffic", "filter", "type \x1b]0;pwn\x07", "IN"],
        ["traffic", "stats", "no\x1b]0;pwn\x07.pcap"],
        ["zone", "check", "no\x1b]0;pwn\x07.zone"],
        ["zone", "sort", "no\u202eturned\u2066.zone"],
        ["traffic", "no\x1b]0;pwn\x07"],
    ],
    ids=lambda arguments: "-".join(arguments[:2]),
)
def test_control_characters_of_the_command_line_are_said_as_text(dnsrig, tmp_path, arguments):
    (tmp_path / "IN").write_bytes(b"")
    done = dnsrig(*arguments, cwd=tmp_path)
    assert done.code == 2, done.err
    assert all(character.isprintable() or character == "\n" for character in done.err), done.err


def test_of_a_long_line_the_ends_are_said(dnsrig, tmp_path):
    (tmp_path / "long.toml").write_text(f'x = "{"a" * 100_000}\n')
    done = dnsrig("internet", "profile", "long.toml", cwd=tmp_path)
    assert done.code == 2 and "long.toml cannot be understood" in done.err, done.err[:500]
    assert " characters left out) ... aaaa" in done.err
    assert max(map(len, done.err.splitlines())) < 3000


LONG = "n" * 300


@pytest.mark.parametrize(
    "arguments",
    [
        ["filter", "query", "IN", "-f", LONG],
        ["fit", "IN", "-f", LONG],
        ["partition", "IN", "-f", LONG, "--by-client", "2"],
        ["convert", "IN", "-f", LONG],
        ["convert", "IN", "-f", f"{LONG}.parquet"],
        ["stats", "IN", "--html", LONG],
        ["stats", LONG],
        ["anonymize", "IN", "-f", "OUT", "-k", LONG],
        ["synthesize", LONG, "OUT", "-n", "10"],
        ["filter", "query", "IN", "-f", ""],
        ["filter", "query", "IN", "-f", "."],
    ],
    ids=lambda arguments: "-".join(arguments)[:24],
)
def test_names_that_no_file_has_are_an_error_of_input(dnsrig, tmp_path, arguments):
    write_pcap(tmp_path / "IN", traffic())
    done = dnsrig("traffic", *arguments, cwd=tmp_path)
    assert done.code == 2 and "Traceback" not in done.err, done.err
    assert "name too long" in done.err or "folder" in done.err or "directory" in done.err, done.err
    assert [file.name for file in tmp_path.iterdir()] == ["IN"]


def test_a_file_that_is_given_twice_is_said(dnsrig, tmp_path):
    file = write_pcap(tmp_path / "a.pcap", traffic())
    for arguments in (["stats"], ["convert", "-f", tmp_path / "out.pcap"], ["fit", "-f", tmp_path / "out.toml"]):
        done = dnsrig("traffic", *arguments, file, file)
        assert done.code == 0 and "a.pcap is given 2 times" in done.err.replace("\n", " "), done.err


def on_terminal(*arguments):
    """Give what a command writes to a terminal as its standard error."""
    leader, follower = os.openpty()
    command = [sys.executable, "-m", "dnsrig", "traffic", *map(str, arguments)]
    with os.fdopen(leader, "rb", buffering=0) as shown, os.fdopen(follower, "wb") as terminal:
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=terminal, check=False, timeout=60)
        terminal.write(b"END")
        terminal.flush()
        octets = b""
        while not octets.endswith(b"END"):
            octets += shown.read(1 << 16)
    return octets


def test_what_is_drawn_on_a_terminal_is_no_text(tmp_path):
    drawn = on_terminal("stats", write_pcap(tmp_path / "a.pcap", traffic()))
    assert b"\x1b[2K" in drawn and b"\\x1b" not in drawn, drawn
    said = on_terminal("filter", "type \x1b]0;pwn\x07", tmp_path / "a.pcap")
    assert b"\\x1b]0;pwn\\x07" in said and b"\x1b]0;" not in said, said
