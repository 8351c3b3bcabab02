"""Fixtures for all tests: the command line as users call it, and a server to load."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from dnsrig import _core
from dnsrig.servers.base import ServedZone, ServerSettings
from dnsrig.servers.embedded import Embedded
from hypothesis import settings

# Machines are shared and noisy: how long an example takes says nothing.
settings.register_profile("dnsrig", deadline=None)
settings.load_profile("dnsrig")

COMMAND_DEADLINE_S = 120

# A test run that was started in the background of a shell, or by nohup, inherits SIGINT or SIGHUP as ignored, and would
# pass that on to the programs that tests interrupt. Handlers are not passed on.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, lambda *_: None)


@dataclass(frozen=True)
class Finished:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture(scope="session")
def dnsrig() -> Callable[..., Finished]:
    """Run the `dnsrig` command in a process of its own."""

    def run(*arguments: object, cwd: Path | None = None, stdin: str = "") -> Finished:
        done = subprocess.run(
            [sys.executable, "-m", "dnsrig", *map(str, arguments)],
            capture_output=True,
            text=True,
            cwd=cwd,
            input=stdin,
            timeout=COMMAND_DEADLINE_S,
            check=False,
        )
        return Finished(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture(scope="session")
def small_zone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A synthetic zone, example.test., unsigned."""
    path = tmp_path_factory.mktemp("zone") / "example.db"
    _core.Zone.generate("example.test.", 244, 1).write(path)
    return path


@pytest.fixture
def served(small_zone: Path, tmp_path: Path) -> Iterator[tuple[str, int]]:
    """Address and port of an embedded server that serves `small_zone`."""
    zone = ServedZone("example.test.", small_zone)
    with Embedded([zone], ServerSettings(), tmp_path / "server") as server:
        yield server.address
