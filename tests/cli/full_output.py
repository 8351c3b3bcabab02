"""Standard outputs that take no more."""

import os
import subprocess

TARGETS = [("/dev/full", 3), (None, 141)]
"""A full device, and a pipe that nobody reads (None), with the exit code that each gets."""


def run_into(target, command):
    """Run a command with such a standard output."""
    if target is None:
        reader, writer = os.pipe()
        os.close(reader)
    else:
        writer = os.open(target, os.O_WRONLY)
    try:
        return subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False, timeout=60)
    finally:
        os.close(writer)
