"""Start and stop processes on this machine, leaving none behind whatever happens to dnsrig."""

import contextlib
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from dnsrig.errors import DnsrigError, EnvironmentLacksError
from dnsrig.hosts import processes

Result = TypeVar("Result")

GUARD = Path(__file__).with_name("guard.py")
LOG_TAIL_BYTES = 65536
KEEP_TO_CPUS_ATTEMPTS = 50
KEEP_TO_CPUS_PAUSE_S = 0.01
END_OF_GUARD_S = 10.0
"""How long killed processes may take to be gone; only one stuck in the kernel takes noticeable time."""


class LocalProcess:
    """A program that runs under a guard (see guard.py), in a session and process group of its own.

    Use it as a context manager, or call `stop`; when dnsrig ends without either, even by SIGKILL, the guard
    ends the program and its descendants.
    """

    def __init__(
        self,
        guard: "subprocess.Popen[bytes]",
        pid: int,
        *,
        argv: Sequence[str],
        log: Path,
        cpus: frozenset[int] | None,
    ) -> None:
        self.pid = pid
        self.argv = tuple(argv)
        self.log = log
        self.cpus = cpus
        self._guard = guard
        self._family: tuple[int, list[int]] = (-1, [])

    def alive(self) -> bool:
        """Say whether the program still runs."""
        return self._guard.poll() is None

    @property
    def returncode(self) -> int | None:
        """The program's exit status, the negative signal number that ended it, or None while it runs."""
        return self._guard.poll()

    def log_tail(self, lines: int = 15) -> str:
        """Give the last lines of what the program wrote to standard output and standard error."""
        return "\n".join(read_tail(self.log).splitlines()[-lines:])

    def pids(self) -> list[int]:
        """List the pids of the program and all its live descendants, also those that daemonised.

        Cheap enough for a sampler: /proc is searched only after a process or thread was born on the machine.
        """
        newest = processes.newest_pid()
        if self._family[0] != newest:
            self._family = (newest, processes.descendants(self._guard.pid))
        return [pid for pid in self._family[1] if processes.is_live(pid)]

    def keep_to_cpus(self) -> None:
        """Bind every thread to the CPUs given to `spawn` again, until none has bound itself elsewhere.

        A program inherits its CPUs but may choose others: knotd binds each UDP worker to a CPU of its own.
        Call this when the program has started its threads.
        """
        if self.cpus is None:
            return
        for _ in range(KEEP_TO_CPUS_ATTEMPTS):
            strays = [thread for thread in self._threads() if not _affinity(thread) <= self.cpus]
            for thread in strays:
                with contextlib.suppress(ProcessLookupError):
                    os.sched_setaffinity(thread, self.cpus)
            time.sleep(KEEP_TO_CPUS_PAUSE_S)
            if not strays:
                return

    def limit_memory(self, octets: int) -> None:
        """Let the program, and what it starts from now on, have so much memory of its own (RLIMIT_DATA), no more."""
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(self.pid, resource.RLIMIT_DATA, (octets, octets))

    def _threads(self) -> list[int]:
        return [thread for pid in self.pids() for thread in processes.threads(pid)]

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the program itself; does nothing if it has ended."""
        stdin = self._guard.stdin
        if stdin is not None and not stdin.closed:
            with contextlib.suppress(BrokenPipeError):
                stdin.write(bytes([number]))
                stdin.flush()

    def stop(self, deadline_s: float = 5.0) -> None:
        """End the program with SIGTERM, and after the deadline it and all its descendants with SIGKILL."""
        try:
            self.signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._guard.wait(deadline_s)
        finally:
            self._end_guard()

    def _end_guard(self) -> None:
        if self._guard.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._guard.stdin.close()
        try:
            self._guard.wait(END_OF_GUARD_S)
        except subprocess.TimeoutExpired:
            raise DnsrigError(
                f"{self.argv[0]} (pid {self.pid}) does not end although it was killed; "
                f"it is likely to be stuck in the kernel, see /proc/{self.pid}/stack"
            ) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


class LocalHost:
    """The machine that dnsrig runs on, as a place where programs run (see `dnsrig.hosts.host.Host`)."""

    name = "this machine"

    def call(self, function: Callable[[], Result], discard: Callable[[Result], object] | None = None) -> Result:
        """Run a function here and now."""
        return function()

    def make_socket(self, family: socket.AddressFamily, kind: socket.SocketKind) -> socket.socket:
        """Give a socket of this machine."""
        return socket.socket(family, kind)

    def spawn(
        self,
        argv: Sequence[str],
        *,
        folder: Path,
        log: Path,
        cpus: frozenset[int] | None,
        env: Mapping[str, str] | None = None,
    ) -> LocalProcess:
        """Start a program and return when it has been executed.

        Args:
            argv: the program, by path or by name to look up in PATH, and its arguments.
            folder: its working directory; must exist.
            log: file that standard output and standard error are appended to.
            cpus: numbers of the CPUs it may run on, set before it starts; None leaves it free.
            env: its environment; None hands down dnsrig's own.

        Raises:
            EnvironmentLacksError: the program cannot be run, the log not be written, the CPUs not be had.

        """
        reader, writer = os.pipe()
        with os.fdopen(reader, "rb") as report:
            try:
                guard = _start_guard(writer, argv, folder=folder, log=log, cpus=cpus, env=env)
            finally:
                os.close(writer)
            text = report.read().decode()
        answers = dict(line.split(" ", 1) for line in text.splitlines())
        if "pid" in answers and "error" not in answers:
            return LocalProcess(guard, int(answers["pid"]), argv=argv, log=log, cpus=cpus)
        if guard.stdin is not None:
            guard.stdin.close()
        guard.wait(END_OF_GUARD_S)
        raise EnvironmentLacksError(_why_not_started(answers.get("error"), argv, log, cpus))


def _start_guard(
    writer: int,
    argv: Sequence[str],
    *,
    folder: Path,
    log: Path,
    cpus: frozenset[int] | None,
    env: Mapping[str, str] | None,
) -> "subprocess.Popen[bytes]":
    listed = "-" if cpus is None else ",".join(str(cpu) for cpu in sorted(cpus))
    log = log.absolute()
    try:
        with log.open("ab") as errors:
            return subprocess.Popen(
                [sys.executable, "-I", "-S", str(GUARD), str(writer), listed, str(log), *argv],
                stdin=subprocess.PIPE,
                stdout=errors,
                stderr=errors,
                cwd=folder,
                env=env,
                pass_fds=(writer,),
                start_new_session=True,
            )
    except OSError as error:
        raise EnvironmentLacksError(f"{argv[0]} could not be started: {error}") from error


def _why_not_started(error: str | None, argv: Sequence[str], log: Path, cpus: frozenset[int] | None) -> str:
    if error is None:
        return f"{argv[0]} could not be started; the log {log} ends:\n{read_tail(log)}"
    step, number = error.split()
    reason = os.strerror(int(number))
    if step == "cpus":
        wanted = ", ".join(str(cpu) for cpu in sorted(cpus or ()))
        there = ", ".join(str(cpu) for cpu in sorted(os.sched_getaffinity(0)))
        return f"{argv[0]} cannot run on CPU {wanted}: {reason}; this process may use CPU {there}"
    if step == "log":
        return f"the log {log} of {argv[0]} cannot be written: {reason}"
    return f"{argv[0]} could not be started: {reason}"


def _affinity(thread: int) -> set[int]:
    try:
        return os.sched_getaffinity(thread)
    except ProcessLookupError:
        return set()


def read_tail(log: Path, start: int = 0, limit: int = LOG_TAIL_BYTES) -> str:
    """Give the last `limit` bytes of a log, nothing before the byte `start`; empty if there is no log."""
    try:
        with log.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(start, size - limit, 0))
            return file.read().decode(errors="replace")
    except FileNotFoundError:
        return ""
