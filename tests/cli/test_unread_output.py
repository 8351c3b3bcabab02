"""Output that nobody reads, that takes no more, or whose folder or temporary folder is missing."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest
from full_output import TARGETS, run_into

DNSRIG = [sys.executable, "-m", "dnsrig"]
PRINTING = {
    "help": ["--help"],
    "help of a command": ["zone", "stats", "--help"],
    "version": ["--version"],
    "stats": ["zone", "stats", "ZONE"],
    "check": ["zone", "check", "ZONE"],
    "compare": ["zone", "compare", "ZONE", "ZONE"],
    "items": ["verify", "authoritative", "--list"],
    "item": ["verify", "authoritative", "--explain", "A-85"],
}
WRITING = {
    "sort": (["zone", "sort", "-f", "OUT", "ZONE"], "OUT is complete"),
    "sort, JSON": (["zone", "sort", "--json", "-f", "OUT", "ZONE"], "OUT is complete"),
    "split": (["zone", "split", "-n", "2", "-f", "OUT", "ZONE"], "OUT.pieces and its pieces are complete"),
    "join": (["zone", "join", "-f", "OUT", "ZONE"], "OUT is complete"),
    "generate": (["zone", "generate", "OUT", "--seed", "1"], "OUT is complete"),
    "sign": (["sign", "-a", "ED25519", "--no-state", "-f", "OUT", "ZONE"], "OUT is complete"),
}


def filled(words, zone, folder):
    names = {"ZONE": str(zone), "OUT": f"{folder}/out"}
    for word, name in names.items():
        words = [text.replace(word, name) for text in words]
    return words


@pytest.mark.parametrize("what", [*PRINTING, *WRITING])
def test_a_reader_that_has_gone(small_zone, tmp_path, what):
    command = PRINTING[what] if what in PRINTING else WRITING[what][0]
    done = run_into(None, [*DNSRIG, *filled(command, small_zone, tmp_path)])
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_the_end_of_a_long_text_is_not_dropped(tmp_path, unbuffered):
    command = [*DNSRIG, "internet", "profile", "internet-2022"]
    environment = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    # Files may have 4,096 octets: one system call takes that much of the text, the next one fails.
    limited = ["sh", "-c", 'ulimit -f 8; trap "" XFSZ; exec "$@"', "sh", *command]
    with (tmp_path / "profile").open("w") as output:
        done = subprocess.run(limited, stdout=output, stderr=subprocess.PIPE, check=False, env=environment, timeout=60)
    assert done.returncode == 3, done.stderr
    # The pipe takes a part, and its reader goes.
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    with subprocess.Popen(command, stdout=writer, env=environment) as process:
        os.close(writer)
        os.read(reader, 1)
        os.close(reader)
        assert process.wait(60) == 141


@pytest.mark.parametrize("redirection", [">/dev/full", ">&-"])
@pytest.mark.parametrize("what", WRITING)
def test_a_report_that_cannot_be_printed_is_all_that_is_missing(small_zone, tmp_path, what, redirection):
    command, said = (filled(words, small_zone, tmp_path) for words in (WRITING[what][0], [WRITING[what][1]]))
    shell = f'exec "$@" {redirection}'
    done = subprocess.run(
        ["sh", "-c", shell, "sh", *DNSRIG, *command], stderr=subprocess.PIPE, text=True, check=False, timeout=60
    )
    assert done.returncode == 3
    assert done.stderr.startswith(f"dnsrig: {said[0]}") and done.stderr.count("\n") == 1
    assert list(tmp_path.glob("out*"))


@pytest.mark.parametrize(("target", "code"), [*TARGETS, ("closed", 3)])
def test_a_key_whose_name_nobody_learns_is_not_kept(tmp_path, target, code):
    command = [*DNSRIG, "keygen", "-K", str(tmp_path), "-a", "ED25519", "example.test"]
    if target == "closed":
        target, command = "/dev/null", ["sh", "-c", 'exec "$@" >&-', "sh", *command]
    done = run_into(target, command)
    assert done.returncode == code and "Traceback" not in done.stderr, done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("what", ["sort", "split", "join", "generate", "sign"])
def test_a_folder_of_the_output_that_is_missing(dnsrig, small_zone, tmp_path, what):
    (tmp_path / "file").write_text("")
    for folder, said in (("nowhere", "is missing: make it"), ("file", "is not a folder")):
        done = dnsrig(*filled(WRITING[what][0], small_zone, tmp_path / folder))
        assert done.code == 2 and f"{tmp_path}/{folder} {said}" in done.err
        assert ".dnsrig-" not in done.err


@pytest.mark.parametrize("output", ["-", "/dev/null"])
@pytest.mark.parametrize("command", [["zone", "sort"], ["zone", "join"], ["sign", "-a", "ED25519", "--no-state"]])
def test_a_temporary_folder_that_is_missing(small_zone, tmp_path, command, output):
    missing = tmp_path / "nowhere"
    done = subprocess.run(
        [*DNSRIG, *command, "-f", output, small_zone],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=os.environ | {"TMPDIR": str(missing)},
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith(f"dnsrig: {missing}: ") and "(TMPDIR)" in done.stderr
    assert ".dnsrig-" not in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize("output", ["-", "/dev/null"])
def test_a_temporary_folder_that_is_full(small_zone, tmp_path, output):
    # Files of this process may have 4,096 octets, as on a disk without room for more.
    limited = ["sh", "-c", 'ulimit -f 8; trap "" XFSZ; exec "$@"', "sh"]
    done = subprocess.run(
        [*limited, *DNSRIG, "zone", "sort", "-f", output, str(small_zone.absolute())],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"TMPDIR": str(tmp_path)},
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith(f"dnsrig: {tmp_path}: ") and "(TMPDIR)" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_one_stream_is_not_compared_with_itself(small_zone, tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)

    def compare(a, b):
        command = [*DNSRIG, "zone", "compare", str(a), str(b)]
        return subprocess.run(
            command, input=small_zone.read_text(), capture_output=True, text=True, check=False, timeout=60
        )

    for a, b in ((fifo, fifo), ("-", "-"), ("-", "/dev/stdin"), (fifo, Path(os.path.relpath(fifo)))):
        done = compare(a, b)
        assert done.returncode == 2 and "cannot be read twice" in done.stderr
    assert compare("-", small_zone).returncode == 0
    assert compare(small_zone, small_zone).returncode == 0
