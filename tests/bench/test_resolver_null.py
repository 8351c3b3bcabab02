"""bench/resolver_null: its busy loop takes the share that it should, and its count of runs is right."""

import os
import subprocess
import sys
import time
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import SimpleNamespace

import pytest
from dnsrig.hosts.processes import is_live
from dnsrig.monitor.counters import process_clock

BENCH = Path(__file__).resolve().parents[2] / "bench" / "resolver_null"
PATIENCE_S = 60.0


@pytest.fixture(scope="module")
def bench():
    """Give the bench as a module, without bytecode beside it."""
    loader = SourceFileLoader("resolver_null", str(BENCH))
    module = module_from_spec(spec_from_loader("resolver_null", loader))
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = before
    return module


class BusyDriver:
    """Stands for a resolver that is always busy."""

    settings = SimpleNamespace(cpus=None)

    def start(self):
        self.process = subprocess.Popen([sys.executable, "-c", "while True: pass"])

    def stop(self):
        self.process.kill()
        self.process.wait()

    def pids(self):
        return [self.process.pid]


def cpu_s(pid):
    return time.clock_gettime(process_clock(pid))


def test_the_burden_is_a_share_of_the_resolvers_own_time_and_ends_with_it(bench):
    driver = bench.burden(BusyDriver(), 0.2)
    driver.start()
    try:
        resolver, loop = driver.pids()
        # What Python takes to start is no burden: it is over when the loop first keeps its share.
        deadline = time.monotonic() + PATIENCE_S
        while cpu_s(resolver) < 1.0 and time.monotonic() < deadline:
            time.sleep(0.02)
        before = cpu_s(resolver), cpu_s(loop)
        while cpu_s(resolver) < before[0] + 2.0 and time.monotonic() < deadline:
            time.sleep(0.02)
        used = cpu_s(resolver) - before[0], cpu_s(loop) - before[1]
    finally:
        driver.stop()
    assert used[1] / used[0] == pytest.approx(0.2, rel=0.25)
    assert not any(is_live(pid) for pid in (resolver, loop))
    assert os.sched_getaffinity(0)


@pytest.mark.parametrize(("differs", "missed", "code"), [(0, 0, 0), (1, 0, 0), (2, 0, 1), (0, 2, 1)])
def test_19_of_20_runs_have_to_be_right(bench, capsys, differs, missed, code):
    runs = [{"differs": ["CPU"] if number < differs else [], "burden_found": number >= missed} for number in range(20)]
    assert bench.tell(runs, 0.05) == code
    assert (
        f"no difference in {20 - differs} of 20 runs; a burden of 5%: found in {20 - missed}" in capsys.readouterr().out
    )
