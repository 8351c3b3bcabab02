"""Run one program and end it, with all its descendants, as soon as dnsrig is gone.

`LocalHost.spawn` starts this file as a program between dnsrig and the program under test:

    python -I -S guard.py STATUS_FD CPUS LOG PROGRAM [ARGUMENT ...]

A pipe from dnsrig is the guard's standard input. Each byte on it is the number of a signal to send to the
program; its end means that dnsrig closed it or died, however it died, and that everything must go at once.
`PR_SET_PDEATHSIG` alone would not do: it is tied to the *thread* that started the child, and is lost at
each further fork, while NSD's workers are grandchildren. The guard is a child subreaper, so that processes
which lose their parent, or daemonise, stay within its reach. It sleeps in poll() and costs no CPU.

The guard imports nothing of dnsrig and ends as the program ended: same exit status, same signal.
"""

import contextlib
import ctypes
import os
import resource
import select
import signal
import sys

PR_SET_PDEATHSIG = 1
"""prctl(2): the signal that the caller gets when its parent dies."""
PR_SET_CHILD_SUBREAPER = 36
"""prctl(2): orphaned descendants become children of the caller instead of init's."""


def _prctl(option: int, value: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option})")


def _exec_program(argv: list[str], cpus: str, log: str, status: int, guard_pid: int) -> None:
    """Turn this process, just forked, into the program; report the reason on `status` if that fails."""
    step = "exec"
    try:
        os.setsid()
        _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != guard_pid:
            os._exit(127)
        step = "cpus"
        if cpus != "-":
            os.sched_setaffinity(0, {int(cpu) for cpu in cpus.split(",")})
        step = "log"
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        for target, source in ((0, nothing), (1, output), (2, output)):
            os.dup2(source, target)
        for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        step = "exec"
        os.execvp(argv[0], argv)
    except OSError as error:
        os.write(status, f"error {step} {error.errno}\n".encode())
    finally:
        os._exit(127)


def _children() -> list[int]:
    """Pids of this process's children; the parent's pid is field 4 of /proc/PID/stat, after the name."""
    mine = str(os.getpid()).encode()
    found = []
    for entry in os.listdir("/proc"):  # noqa: PTH208 (names alone, no path objects)
        if entry.isdigit():
            with contextlib.suppress(OSError):
                stat = os.open(f"/proc/{entry}/stat", os.O_RDONLY)
                try:
                    after_name = os.read(stat, 4096).rpartition(b")")[2]
                finally:
                    os.close(stat)
                if after_name.split()[1] == mine:
                    found.append(int(entry))
    return found


def _kill_all() -> None:
    """Kill every descendant: a killed child's own children become children of this subreaper."""
    while children := _children():
        for pid in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for pid in children:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)


def _wait_for_end(program: int, child_ended: int) -> int | None:
    """Forward signals until the program ends (its wait status) or dnsrig is gone (None)."""
    poll = select.poll()
    poll.register(0, select.POLLIN | select.POLLHUP)
    poll.register(child_ended, select.POLLIN)
    while True:
        ready = {descriptor for descriptor, _ in poll.poll()}
        if child_ended in ready:
            os.read(child_ended, 4096)
            with contextlib.suppress(ChildProcessError):
                while True:
                    pid, status = os.waitpid(-1, os.WNOHANG)
                    if pid == program:
                        return status
                    if pid == 0:
                        break
        if 0 in ready:
            wanted = os.read(0, 64)
            if not wanted:
                return None
            for number in wanted:
                os.kill(program, number)


def _end_like(status: int) -> None:
    """End this process as the program ended."""
    if os.WIFSIGNALED(status):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with contextlib.suppress(OSError):
            signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
        os.kill(os.getpid(), os.WTERMSIG(status))
    os._exit(os.WEXITSTATUS(status))


def main(arguments: list[str]) -> None:
    """Start the program, report on the descriptor `STATUS_FD`, and watch over it.

    The report is `pid N`, and if the program could not be started also `error STEP ERRNO`, a line each.
    """
    status, cpus, log, argv = int(arguments[0]), arguments[1], arguments[2], arguments[3:]
    os.set_inheritable(status, False)
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    child_ended, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    guard_pid = os.getpid()
    program = os.fork()
    if program == 0:
        signal.set_wakeup_fd(-1)
        _exec_program(argv, cpus, log, status, guard_pid)
    os.write(status, f"pid {program}\n".encode())
    os.close(status)
    ended = _wait_for_end(program, child_ended)
    _kill_all()
    if ended is None:
        os._exit(128 + signal.SIGKILL)
    _end_like(ended)


if __name__ == "__main__":
    main(sys.argv[1:])
