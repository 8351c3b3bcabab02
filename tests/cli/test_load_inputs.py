"""Inputs of `dnsrig load` that are slow, endless, too large or damaged: each is refused or said, and Ctrl-C is heeded."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

DEADLINE_S = 60


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
    assert err == "dnsrig: interrupted\n"


def wait_until_open(process, path):
    """Wait until the process has `path` open."""
    deadline = time.monotonic() + DEADLINE_S
    while path not in open_files(process.pid):
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline, f"{path} was never opened"
        time.sleep(0.02)


def open_files(pid):
    """Give the paths of what a process has open."""
    paths = set()
    for link in Path(f"/proc/{pid}/fd").iterdir():
        try:
            paths.add(link.readlink())
        except FileNotFoundError:
            continue
    return paths
