"""What every driver shares, whatever its server does: installation, folder, process, log, and a stop that happens."""

import signal
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Self

from dnsrig.errors import EnvironmentLacksError, InputError, SubjectFailedError
from dnsrig.hosts.host import Host
from dnsrig.hosts.local import LocalHost, LocalProcess
from dnsrig.hosts.processes import out_of_memory_kills
from dnsrig.servers import programs, rendering
from dnsrig.servers.ports import PortState
from dnsrig.servers.programs import Installation
from dnsrig.servers.startup import LogSigns, Watch, command_failure

PORT_ATTEMPTS = 5
"""How often a server is started again with another free port when something else took its port meanwhile."""
BASE_DEADLINE_S = 15.0


class DrivenServer(ABC):
    """One instance of one kind of server, in a folder of its own, on a host.

    Everything that the instance writes stays in its folder, which is also its working directory. Use it as a
    context manager, or call `start` and `stop`.
    """

    name: ClassVar[str]
    """The driver's name, as in `--server`."""
    title: ClassVar[str]
    """The server's name for readers, with its program."""
    package: ClassVar[str]
    """Debian packages that it needs; empty if it comes with dnsrig, or if Debian has none of it."""
    build: ClassVar[str] = ""
    """The command that builds and installs it, where Debian has no package of it."""
    program: ClassVar[str]
    signs: ClassVar[LogSigns]
    files: ClassVar[Mapping[str, str]]
    """Names of its configuration files, with the template of each."""

    def __init__(self, folder: Path, host: Host | None = None) -> None:
        self.folder = folder.absolute()
        self.host: Host = host or LocalHost()
        self._process: LocalProcess | None = None
        self._installation: Installation | None = None
        self._kills_before = 0

    @classmethod
    @abstractmethod
    def find(cls) -> Installation | None:
        """Find the server on this machine; None if it, or a part that it needs, is not installed."""

    @classmethod
    def how_to_install(cls) -> str:
        """Give the command by which it comes onto a machine that has it not; empty if it comes with dnsrig."""
        return cls.build or (cls.package and f"apt-get install {cls.package}")

    @classmethod
    def _advice(cls) -> str:
        return cls.build or f"install the Debian package {cls.package}"

    @abstractmethod
    def remarks(self) -> list[str]:
        """List, a sentence each, what is set apart from how the distribution ships the server."""

    @abstractmethod
    def _command(self) -> list[str]:
        """Give the program and arguments that run the server in the foreground, in its folder."""

    @abstractmethod
    def _checker(self) -> list[str]:
        """Give the program and arguments that check the configuration in the server's folder; empty: it has none."""

    def _prepare(self) -> None:  # noqa: B027 (most servers need nothing)
        """Do what must be done after the configuration is written and before the server starts."""

    def render(self) -> dict[str, str]:
        """Give the text of each configuration file by its name; depends on nothing but this object."""
        values = self._values()
        return {name: rendering.render(template, values) for name, template in self.files.items()}

    @abstractmethod
    def _values(self) -> Mapping[str, Any]:
        """Give the values that the templates want."""

    @abstractmethod
    def start(self) -> None:
        """Start the server and return when it answers; what it raises is an error of `dnsrig.errors`."""

    @property
    def installation(self) -> Installation:
        """The server on this machine.

        Raises:
            EnvironmentLacksError: it is not installed.

        """
        if self._installation is None:
            self._installation = self.find()
        if self._installation is None:
            raise EnvironmentLacksError(f"{self.title} is not installed: {self._advice()}")
        return self._installation

    @property
    def version(self) -> str:
        """The server's version, as the program says."""
        return self.installation.version

    @property
    def log(self) -> Path:
        """The file with all that the server wrote to standard output and standard error."""
        return self.folder / f"{self.name}.log"

    def check_running(self) -> None:
        """See that the started server still runs.

        Raises:
            SubjectFailedError: it ended by itself; the message holds how, and its last lines.

        """
        process = self._running()
        if not process.alive():
            raise self._ended(process)

    def check_survived(self) -> None:
        """See that the server did not end by itself; does nothing if it does not run because it was stopped.

        It may be called while another thread stops the server, or starts it again.

        Raises:
            SubjectFailedError: as `check_running` does.

        """
        process = self._process
        # What is stopped is no longer the server's process before it ends.
        if process is not None and not process.alive() and process is self._process:
            raise self._ended(process)

    def _ended(self, process: LocalProcess) -> SubjectFailedError:
        code = process.returncode
        how = f"by signal {-code}" if code is not None and code < 0 else f"with exit code {code}"
        if code == -signal.SIGKILL and out_of_memory_kills() > self._kills_before:
            how += ", while the kernel killed for want of memory (oom_kill in /proc/vmstat)"
        return SubjectFailedError(
            f"{self._versioned_title()} ended by itself {how}; {process.log} ends:\n{process.log_tail()}"
        )

    def stop(self) -> None:
        """End the server and all its processes; does nothing if it does not run."""
        process, self._process = self._process, None
        if process is not None:
            process.stop()

    def restart(self) -> None:
        """Stop the server and start it again.

        Raises:
            EnvironmentLacksError, SubjectFailedError: as `start` does.

        """
        self.stop()
        self.start()

    def pids(self) -> list[int]:
        """List the pids of all the server's processes; empty when it does not run."""
        return self._process.pids() if self._process is not None else []

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _running(self) -> LocalProcess:
        if self._process is None:
            raise RuntimeError(f"{self.title} is not running")
        return self._process

    def _versioned_title(self) -> str:
        return f"{self.title} {self.version}"

    def _run_checker(self) -> None:
        """Have the server's own checker, if it has one, judge the configuration that has been written."""
        argv = self._checker()
        if not argv:
            return
        if programs.find_program(argv[0]) is None:
            raise EnvironmentLacksError(f"{argv[0]} is not installed: {self._advice()}")
        status, said = self._helper(argv)
        if status != 0:
            raise command_failure(self._versioned_title(), argv, said)

    @abstractmethod
    def _watch(self, process: LocalProcess, log_start: int) -> Watch:
        """Make the watch over the process, from an offset in the log on."""

    @abstractmethod
    def _await_serving(self, watch: Watch) -> None:
        """Return when the process serves all that it should; called on the host."""

    def _launch(
        self,
        state: PortState,
        cpus: frozenset[int] | None,
        environment: Mapping[str, str],
        memory_octets: int | None = None,
    ) -> None:
        """Start the program, whose port was found in `state`, and return when it serves; else leave nothing."""
        log_start = self.log.stat().st_size if self.log.exists() else 0
        self._kills_before = out_of_memory_kills()
        process = self.host.spawn(self._command(), folder=self.folder, log=self.log, cpus=cpus, env=environment)
        try:
            if memory_octets is not None:
                process.limit_memory(memory_octets)
            watch = self._watch(process, log_start)

            def wait() -> None:
                if state is not PortState.FREE:
                    watch.refuse_port(state)
                self._await_serving(watch)

            self.host.call(wait)
            process.keep_to_cpus()
        except BaseException:
            process.stop()
            raise
        self._process = process

    def _write(self) -> None:
        self._write_files(self.render())

    def _write_files(self, files: Mapping[str, str]) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            for name, text in files.items():
                (self.folder / name).write_text(text, encoding="utf-8")
        except OSError as error:
            raise EnvironmentLacksError(f"the configuration of {self.title} cannot be written: {error}") from error

    def _helper(self, argv: Sequence[str], timeout_s: float = programs.HELPER_TIMEOUT_S) -> tuple[int, str]:
        path = programs.find_program(argv[0])
        try:
            return self.host.call(
                lambda: programs.run_helper([str(path or argv[0]), *argv[1:]], self.folder, timeout_s)
            )
        except subprocess.TimeoutExpired:
            raise command_failure(self._versioned_title(), argv, f"it did not end within {timeout_s:.0f} s") from None


def check_readable(path: Path, what: str) -> None:
    """Raise InputError, which begins with `what`, if a file cannot be read."""
    try:
        with path.open("rb"):
            pass
    except OSError as error:
        raise InputError(f"{what} cannot be read: {error.strerror}") from error
