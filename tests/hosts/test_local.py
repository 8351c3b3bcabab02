"""Processes start as asked, and none outlives its stop, its guard, or dnsrig."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from dnsrig.errors import EnvironmentLacksError
from dnsrig.hosts import processes
from dnsrig.hosts.local import LocalHost, LocalProcess, read_tail

DEADLINE_S = 30.0
FAMILY = """
import os, subprocess, sys, time
children = [subprocess.Popen(["sleep", "600"]), subprocess.Popen(["sleep", "600"], start_new_session=True)]
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        print("daemon", os.getpid(), flush=True)
        time.sleep(600)
    os._exit(0)
print("ready", flush=True)
time.sleep(600)
"""


def wait_until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not happen"
        time.sleep(0.01)


def spawn(folder: Path, *argv: str, cpus: frozenset[int] | None = None, env=None) -> LocalProcess:
    return LocalHost().spawn(argv, folder=folder, log=folder / "log", cpus=cpus, env=env)


def spawn_family(folder: Path) -> LocalProcess:
    process = spawn(folder, sys.executable, "-c", FAMILY)
    wait_until(lambda: {"ready", "daemon"} <= set(process.log_tail().split()), "the family's start")
    return process


def test_runs_in_folder_with_environment_and_log(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("before\n")
    script = "pwd; echo $WORD; echo error >&2; exit 7"
    process = spawn(tmp_path, "sh", "-c", script, env={"PATH": os.defpath, "WORD": "word"})
    wait_until(lambda: not process.alive(), "its end")
    assert process.returncode == 7
    assert (tmp_path / "log").read_text().splitlines() == ["before", str(tmp_path), "word", "error"]
    assert process.log_tail(2) == "word\nerror"


def test_own_session_and_group(tmp_path: Path) -> None:
    with spawn(tmp_path, "sleep", "600") as process:
        assert os.getpgid(process.pid) == process.pid
        assert os.getsid(process.pid) == process.pid


def test_cpus_hold_from_the_start(tmp_path: Path) -> None:
    cpu = max(os.sched_getaffinity(0))
    script = "import os; print(sorted(os.sched_getaffinity(0)))"
    process = spawn(tmp_path, sys.executable, "-c", script, cpus=frozenset({cpu}))
    wait_until(lambda: not process.alive(), "its end")
    assert process.log_tail() == f"[{cpu}]"


def test_keep_to_cpus_brings_strays_back(tmp_path: Path) -> None:
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < 2:
        pytest.skip("needs two CPUs")
    move = f"os.sched_setaffinity(0, {{{allowed[0]}}}); print('moved', flush=True)"
    script = f"import os, time; {move}; time.sleep(600)"
    with spawn(tmp_path, sys.executable, "-c", script, cpus=frozenset(allowed[1:])) as process:
        wait_until(lambda: "moved" in process.log_tail(), "its move")
        assert os.sched_getaffinity(process.pid) == {allowed[0]}
        process.keep_to_cpus()
        assert os.sched_getaffinity(process.pid) == set(allowed[1:])


@pytest.mark.parametrize(
    ("argv", "cpus", "said"),
    [
        (["no-such-program-anywhere"], None, "no-such-program-anywhere could not be started: No such file"),
        (["/"], None, "Permission denied"),
        (["sleep", "600"], frozenset({1023}), "cannot run on CPU 1023"),
    ],
)
def test_what_cannot_start(argv: list[str], cpus, said: str, tmp_path: Path) -> None:
    with pytest.raises(EnvironmentLacksError, match=said):
        spawn(tmp_path, *argv, cpus=cpus)


def test_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentLacksError, match="could not be started"):
        LocalHost().spawn(["true"], folder=tmp_path / "absent", log=tmp_path / "log", cpus=None)


def test_pids_are_the_whole_family(tmp_path: Path) -> None:
    with spawn_family(tmp_path) as process:
        daemon = int(process.log_tail().split("daemon ")[1].split()[0])
        wait_until(lambda: len(process.pids()) == 4, "a family of four")
        assert {process.pid, daemon} < set(process.pids())
        os.kill(daemon, signal.SIGKILL)
        wait_until(lambda: daemon not in process.pids(), "the daemon's end")


def test_stop_ends_the_whole_family(tmp_path: Path) -> None:
    process = spawn_family(tmp_path)
    family = process.pids()
    process.stop()
    assert not any(processes.is_live(pid) for pid in family)
    assert process.returncode == -signal.SIGTERM
    assert process.pids() == []
    process.stop()


def test_end_of_the_program_ends_its_family(tmp_path: Path) -> None:
    process = spawn_family(tmp_path)
    family = process.pids()
    os.kill(process.pid, signal.SIGKILL)
    wait_until(lambda: not process.alive(), "its end")
    assert process.returncode == -signal.SIGKILL
    assert not any(processes.is_live(pid) for pid in family)


def test_stop_kills_what_ignores_sigterm(tmp_path: Path) -> None:
    process = spawn(tmp_path, "sh", "-c", "trap '' TERM; echo ready; while :; do sleep 600; done")
    wait_until(lambda: "ready" in process.log_tail(), "its start")
    process.stop(deadline_s=0.1)
    assert not process.alive()
    assert not processes.is_live(process.pid)


def test_signal_reaches_the_program_only(tmp_path: Path) -> None:
    process = spawn(tmp_path, "sh", "-c", "trap 'echo got; exit 3' USR1; echo ready; while :; do sleep 0.01; done")
    wait_until(lambda: "ready" in process.log_tail(), "its start")
    process.signal(signal.SIGUSR1)
    wait_until(lambda: not process.alive(), "its end")
    assert process.returncode == 3
    process.signal(signal.SIGUSR1)


def test_survives_the_thread_that_started_it(tmp_path: Path) -> None:
    """PR_SET_PDEATHSIG would fire at the end of the thread; a load may be started from a worker thread."""
    started: list[LocalProcess] = []
    thread = threading.Thread(target=lambda: started.append(spawn(tmp_path, "sleep", "600")))
    thread.start()
    thread.join()
    (process,) = started
    with process:
        assert process.alive()
        assert processes.is_live(process.pid)


def test_killed_guard_takes_the_program_along(tmp_path: Path) -> None:
    process = spawn(tmp_path, "sleep", "600")
    guard = processes.parents()[process.pid]
    os.kill(guard, signal.SIGKILL)
    wait_until(lambda: not processes.is_live(process.pid), "the program's end")
    process.stop()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_end_of_dnsrig_ends_everything(number: signal.Signals, tmp_path: Path) -> None:
    script = f"""
import sys, time
from pathlib import Path
from dnsrig.hosts.local import LocalHost
folder = Path({str(tmp_path)!r})
process = LocalHost().spawn([sys.executable, "-c", {FAMILY!r}], folder=folder, log=folder / "log", cpus=None)
while not {{"ready", "daemon"}} <= set(process.log_tail().split()) or len(family := process.pids()) != 4:
    time.sleep(0.01)
print(*family, flush=True)
time.sleep(600)
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as owner:
        try:
            family = [int(pid) for pid in owner.stdout.readline().split()]
        finally:
            owner.send_signal(number)
    assert len(family) == 4
    wait_until(lambda: not any(processes.is_live(pid) for pid in family), "the family's end")


def test_read_tail(tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert read_tail(log) == ""
    log.write_bytes(b"one\ntwo\n\xff\n")
    assert read_tail(log) == "one\ntwo\n\ufffd\n"
    assert read_tail(log, start=4) == "two\n\ufffd\n"
    assert read_tail(log, limit=2) == "\ufffd\n"


def test_descendants_of_a_table() -> None:
    parent_of = {2: 1, 3: 1, 4: 2, 5: 4, 9: 8}
    assert processes.descendants(1, parent_of) == [2, 3, 4, 5]
    assert processes.descendants(9, parent_of) == []
