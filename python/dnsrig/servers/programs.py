"""Find programs, ask for their version, and run a server's helpers."""

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

SBIN = ("/usr/local/sbin", "/usr/sbin", "/sbin")
"""Where distributions put servers, and what is missing from the PATH of users other than root."""
HELPER_TIMEOUT_S = 60.0
SERVICE_MANAGER_VARIABLES = frozenset({"NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "RUNTIME_DIRECTORY"})
"""What systemd hands to a service: a server under test must not report to, or inherit from, dnsrig's own."""


@dataclass(frozen=True, slots=True)
class Installation:
    """An installed server: its program, and its version as the program says, such as "4.6.1"."""

    path: Path
    version: str

    def at_least(self, *wanted: int) -> bool:
        """Say whether the version is `wanted`, such as 3, 4, or a later one."""
        numbers = [int(digits) for digits in re.findall(r"\d+", self.version)[: len(wanted)]]
        return numbers >= list(wanted)


def find_program(name: str) -> Path | None:
    """Look a program up in PATH and in the folders of system programs."""
    path = os.pathsep.join((os.environ.get("PATH", os.defpath), *SBIN))
    found = shutil.which(name, path=path)
    return Path(found) if found else None


def clean_environment() -> dict[str, str]:
    """Give the environment for a server: dnsrig's own, in English, without the service manager's part."""
    kept = {name: value for name, value in os.environ.items() if name not in SERVICE_MANAGER_VARIABLES}
    return kept | {"LC_ALL": "C.UTF-8"}


def run_helper(argv: Sequence[str], folder: Path | None = None, timeout_s: float = HELPER_TIMEOUT_S) -> tuple[int, str]:
    """Run a program to its end; give its exit status and what it wrote to standard output and error.

    Raises:
        subprocess.TimeoutExpired: it did not end in time; it has been killed.

    """
    done = subprocess.run(
        argv,
        cwd=folder,
        env=clean_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=timeout_s,
        check=False,
    )
    return done.returncode, done.stdout.decode(errors="replace")


def installation(program: str, version_argument: str, pattern: re.Pattern[str]) -> Installation | None:
    """Find a program and take its version, the first group of `pattern`, from what it says."""
    path = find_program(program)
    if path is None:
        return None
    try:
        _, said = run_helper([str(path), version_argument])
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = pattern.search(said)
    return Installation(path, match.group(1)) if match else None
