"""Fixtures for all tests: the command line as users call it, and a server to load; in which order files are run."""

import compileall
import gc
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dnsrig
import pytest
from dnsrig import _core
from dnsrig.report.build import PICTURES
from dnsrig.servers.base import ServedZone, ServerSettings
from dnsrig.servers.embedded import Embedded
from hypothesis import HealthCheck, settings

# Machines are shared and noisy: how long an example takes says nothing.
settings.register_profile("dnsrig", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("dnsrig")

COMMAND_DEADLINE_S = 120
TESTS = Path(__file__).parent
LONGEST_FIRST = (
    "studies/test_resolver_studies.py",
    "verification/test_tree_resolvers.py",
    "studies/test_runs.py",
    "verification/test_path_items.py",
    "verification/test_authoritative_zones.py",
    "verification/test_proxy_items.py",
    "verification/test_weak_resolvers.py",
    "studies/test_resolver_faults.py",
    "verification/test_dnssec_items.py",
    "verification/test_innocent_servers.py",
    "studies/test_signing.py",
    "servers/test_real_servers.py",
    "studies/test_validation_cost.py",
    "studies/test_encrypted_cost.py",
    "servers/test_resolvers.py",
    "verification/test_authoritative_matrix.py",
)
"""Files that begin first: they take longest, and one process is not to be left with one of them at the end.

Those that wait stand between those that compute.
"""
SLOW_FILES_SHOWN = 25
CPU_S = "cpu_s"
"""Property of a test: CPU time of its process till its end, in s."""

# Commands that tests start would compile all of dnsrig each time, and each process that runs tests all of these.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# Pictures take more time than all else of a short run; where they are looked at, there is the fixture `pictures`.
os.environ.setdefault(PICTURES, "0")

# A test run that was started in the background of a shell, or by nohup, inherits SIGINT or SIGHUP as ignored, and would
# pass that on to the programs that tests interrupt. Handlers are not passed on.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, lambda *_: None)


# Tests have commands meet full disks, by a limit on the size of files: what Python compiled there would stay cut off.
if "PYTEST_XDIST_WORKER" not in os.environ:
    compileall.compile_dir(Path(dnsrig.__file__).parent, quiet=2)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Have what stays till the end, such as all modules, looked through for garbage neither now nor later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Bring the files that take longest to the front (`make test` runs files beside each other, in this order)."""
    places = {TESTS / name: place for place, name in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: places.get(item.path, len(places)))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """Note the CPU time till now, of this process and of the programs whose ends it has waited for."""
    if call.when == "teardown":
        item.user_properties.append((CPU_S, sum(os.times()[:4])))
    return (yield)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which files take longest, where `--durations` asks for slow tests."""
    if not terminalreporter.config.getoption("durations"):
        return
    spent_s: Counter[str] = Counter()
    cpu_s: Counter[str] = Counter()
    # By the process that ran them (pytest-xdist), in order.
    so_far_s: Counter[str] = Counter()
    for report in _in_order(terminalreporter):
        name = report.location[0]
        spent_s[name] += report.duration
        if report.when == "teardown":
            worker, total_s = getattr(report, "worker_id", ""), dict(report.user_properties)[CPU_S]
            cpu_s[name] += total_s - so_far_s[worker]
            so_far_s[worker] = total_s
    terminalreporter.section("slowest files, and their CPU time")
    for name, seconds in spent_s.most_common(SLOW_FILES_SHOWN):
        terminalreporter.line(f"{seconds:6.1f}s {cpu_s[name]:6.1f}s {name}")


def _in_order(terminalreporter: pytest.TerminalReporter) -> list[pytest.TestReport]:
    reports = (report for some in terminalreporter.stats.values() for report in some)
    return sorted((report for report in reports if isinstance(report, pytest.TestReport)), key=lambda one: one.start)


@pytest.fixture
def pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have reports with pictures."""
    monkeypatch.setenv(PICTURES, "1")


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
