"""The monitor against real children that spin, sleep, fork and die."""

import os
import resource
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from dnsrig.monitor.counters import GroupReader, read_counters, usage
from dnsrig.monitor.sampler import MACHINE, SERIES_SCHEMA, Monitor

SPIN_UNTIL_TOLD = """
import sys, threading
stop = threading.Event()
threading.Thread(target=lambda: (sys.stdin.readline(), stop.set()), daemon=True).start()
print("ready", flush=True)
while not stop.is_set():
    sum(range(2000))
"""
FORK_SPIN_AND_REAP = """
import os, sys, time
print("ready", flush=True)
sys.stdin.readline()
child = os.fork()
if child == 0:
    while time.process_time() < 0.3:
        pass
    os._exit(0)
os.waitpid(child, 0)
print("reaped", flush=True)
sys.stdin.readline()
"""
SLEEP = "import sys; print('ready', flush=True); sys.stdin.readline()"
THREAD_SPINS_AND_ENDS = """
import os, sys, threading, time
def spin():
    while time.thread_time() < 0.3:
        pass
print("ready", flush=True)
sys.stdin.readline()
thread = threading.Thread(target=spin); thread.start(); thread.join()
# The kernel takes a moment longer to put it away.
while len(os.listdir("/proc/self/task")) > 1:
    time.sleep(0.001)
print("joined", time.process_time(), flush=True)
sys.stdin.readline()
"""

WORKS_AT_BEATS = """
import os, sys, time
os.sched_setaffinity(0, {{{cpu}}})
print("ready", flush=True)
sys.stdin.readline()
# Ticks mostly come 250 times a second.
due = time.monotonic()
while True:
    due += 0.004
    until = time.monotonic() + 0.001
    while time.monotonic() < until:
        pass
    time.sleep(max(0, due - time.monotonic()))
"""
ROUNDED = 0.05
"""What the kernel's steps of 10 ms may make of a second's share."""


class Child:
    def __init__(self, program):
        self.process = subprocess.Popen(
            [sys.executable, "-S", "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.line() == "ready"
        self.pid = self.process.pid

    def line(self):
        return self.process.stdout.readline().strip()

    def tell(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


def rows(samples, subject):
    return [row for row in samples.table.to_pylist() if row["subject"] == subject]


def wait_until(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "not within a minute"
        time.sleep(0.01)


def test_cpu_of_a_spinning_child_is_what_its_own_rusage_says():
    children_before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with Child(SPIN_UNTIL_TOLD) as child:
        start = read_counters([child.pid])
        with_monitor = Monitor({"server": lambda: [child.pid]}, interval_s=0.02)
        with_monitor.start()
        wait_until(lambda: read_counters([child.pid]).cpu_ns - start.cpu_ns > 400_000_000)
        samples = with_monitor.stop()
        end = read_counters([child.pid])
        child.tell()
        child.process.wait()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    rusage_us = 1e6 * (used.ru_utime + used.ru_stime - children_before.ru_utime - children_before.ru_stime)
    monitored = samples.usage("server")["cpu_us"]
    window = usage(start, end)["cpu_us"]
    # The child's own account also holds its start and end, so it bounds the two windows, which are nested.
    assert 0 < monitored <= window <= end.cpu_ns / 1000 <= rusage_us + 1
    assert window >= 400_000
    assert window == pytest.approx(end.cpu_ns / 1000 - start.cpu_ns / 1000)


def test_series_is_cumulative_and_in_order():
    with Child(SPIN_UNTIL_TOLD) as child:
        subjects = {"server": lambda: [child.pid], "generator": lambda: [os.getpid()]}
        monitor = Monitor(subjects, interval_s=0.01)
        monitor.start()
        wait_until(lambda: len(monitor._taken.machine) > 10)
        samples = monitor.stop()
    assert samples.table.schema.equals(SERIES_SCHEMA)
    for subject in ("server", "generator", MACHINE):
        times = [row["time_ns"] for row in rows(samples, subject)]
        assert times == sorted(times)
        assert len(times) > 10
    cpu = [row["cpu_us"] for row in rows(samples, "server")]
    assert cpu == sorted(cpu)
    last = rows(samples, "server")[-1]
    assert last["rss_bytes"] > 1_000_000
    assert last["pss_bytes"] is None or 0 < last["pss_bytes"] <= 2 * last["rss_bytes"]
    assert last["processes"] == 1
    assert samples.usage(MACHINE)["steal_share"] >= 0
    assert samples.ended == {}


def test_work_at_beats_of_the_kernels_tick_is_seen():
    cpu = min(os.sched_getaffinity(0))
    with Child(WORKS_AT_BEATS.format(cpu=cpu)) as child:
        monitor = Monitor({"server": lambda: [child.pid]})
        monitor.start()
        child.tell()
        wait_until(lambda: len(monitor._taken.machine) > 10)
        samples = monitor.stop()
    used, machine = samples.usage("server")["cpu_share"], samples.usage(MACHINE)
    assert used > 0.1
    # What a hypervisor took away may be in both, or in none.
    stolen = machine["steal_share"] * len(machine["busy_by_cpu"])
    assert machine["busy_by_cpu"][str(cpu)] > used - ROUNDED - stolen


def test_a_thread_that_ended_stays_counted():
    with Child(THREAD_SPINS_AND_ENDS) as child:
        before = read_counters([child.pid])
        child.tell()
        word, seconds = child.line().split()
        after = read_counters([child.pid])
    assert word == "joined"
    assert after.threads == 1
    assert after.cpu_ns - before.cpu_ns >= 290_000_000
    assert after.cpu_ns >= float(seconds) * 1e9


def test_a_reaped_child_stays_counted():
    with Child(FORK_SPIN_AND_REAP) as child:
        reader = GroupReader()
        reader.watch([child.pid])
        before = reader.read(with_pss=False)
        child.tell()
        assert child.line() == "reaped"
        after = reader.read(with_pss=False)
        reader.close()
    # The kernel keeps the time of reaped children in ticks of 10 ms.
    assert after.cpu_ns - before.cpu_ns >= 280_000_000


def test_a_watched_child_that_is_reaped_is_not_counted_twice():
    with Child(FORK_SPIN_AND_REAP) as child:
        reader = GroupReader()
        reader.watch([child.pid])
        child.tell()
        tasks = Path(f"/proc/{child.pid}/task/{child.pid}/children")

        def descendants():
            return [int(pid) for pid in tasks.read_text().split()]

        wait_until(lambda: descendants() or child.process.poll() is not None)
        reader.watch(descendants())
        reader.read(with_pss=False)
        assert child.line() == "reaped"
        after = reader.read(with_pss=False)
        own = read_counters([child.pid])
        reader.close()
    assert after.processes == 1
    assert after.cpu_ns <= own.cpu_ns + 30_000_000


def test_a_process_that_dies_is_recorded_and_raises_nothing():
    with Child(SLEEP) as child:
        monitor = Monitor({"server": lambda: [child.pid]}, interval_s=0.005)
        monitor.start()
        alive_ns = time.monotonic_ns()
        child.process.kill()
        child.process.wait()
        wait_until(lambda: "server" in monitor._taken.ended)
        seen_ns = time.monotonic_ns()
        samples = monitor.stop()
    assert alive_ns <= samples.ended["server"] <= seen_ns
    assert rows(samples, "server")[-1]["processes"] == 0
    assert samples.usage("server")["cpu_us"] >= 0
    assert samples.usage("server")["rss_bytes_max"] > 0
    assert samples.facts()["ended_ns"]["server"] == samples.ended["server"]


def test_a_process_that_is_not_there_is_recorded_as_ended_at_once():
    with Child(SLEEP) as child:
        pid = child.pid
    with Monitor({"server": lambda: [pid]}) as monitor:
        samples = monitor.stop()
    assert "server" in samples.ended
    assert samples.usage("server")["cpu_us"] == 0


def test_the_monitor_knows_its_own_cost_and_lateness():
    monitor = Monitor({"generator": lambda: [os.getpid()]}, interval_s=0.01)
    monitor.start()
    wait_until(lambda: len(monitor._taken.late_ns) >= 20)
    samples = monitor.stop()
    assert 0 < samples.cost_share < 1
    assert samples.late_ns >= 0
    assert samples.facts()["cost_share"] == samples.cost_share


def test_a_failing_subject_is_reported_when_the_monitor_stops():
    calls = []

    def pids():
        calls.append(None)
        if len(calls) > 1:
            raise RuntimeError("no such server")
        return [os.getpid()]

    monitor = Monitor({"server": pids}, interval_s=0.01)
    monitor.start()
    wait_until(lambda: len(calls) > 1)
    with pytest.raises(RuntimeError, match="no such server"):
        monitor.stop()


def test_no_descriptor_or_thread_stays_behind():
    before = len(list(Path("/proc/self/fd").iterdir()))
    with Monitor({"generator": lambda: [os.getpid()]}, interval_s=0.01):
        pass
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    assert "dnsrig-monitor" not in {thread.name for thread in threading.enumerate()}


def test_a_subject_cannot_take_the_machines_name():
    with pytest.raises(ValueError, match=MACHINE):
        Monitor({MACHINE: lambda: []})
