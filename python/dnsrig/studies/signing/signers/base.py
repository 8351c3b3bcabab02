"""What a signer is to the study: a program that is told to sign a zone file."""

import re
import shutil
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar

from dnsrig.errors import SubjectFailedError

VERSION = re.compile(r"\d+\.\d+[\w.+~-]*")
VERSION_WITHIN_S = 10.0


@dataclass(frozen=True, slots=True)
class Keys:
    """The key files of a zone, `K<zone>+<algorithm>+<tag>` in `folder`, without their suffixes."""

    folder: Path
    names: tuple[str, ...]

    def files(self, suffix: str) -> list[str]:
        """Give the paths of all keys with a suffix, such as `.private`."""
        return [str(self.folder / f"{name}{suffix}") for name in self.names]


@dataclass(frozen=True, slots=True)
class Task:
    """A zone file to be signed. Times are in seconds since 1970.

    Attributes:
        zone: the zone file; signed already where `refresh_s` is given.
        folder: an empty folder to work in.
        chain: `nsec`, `nsec3` (no additional iterations, no salt), `opt-out` (the same with opt-out), or `given`: the
            one that the zone has, which only dnsrig can leave as it is.
        refresh_s: signatures that expire within so many seconds are made anew, the others kept; None: all are made.
        verifies_kept: those kept are verified, also where a state file vouches for them.

    """

    zone: Path
    origin: str
    keys: Keys
    folder: Path
    chain: str
    threads: int
    inception: int
    expiration: int
    refresh_s: int | None = None
    verifies_kept: bool = False

    @property
    def output(self) -> Path:
        """Where the signed zone is written."""
        return self.folder / "signed.zone"


class Signer(ABC):
    """A program that signs zone files."""

    name: ClassVar[str]
    title: ClassVar[str]
    program: ClassVar[str]
    package: ClassVar[str | None]
    """Debian package that it is in, if it is in any."""
    resigns: ClassVar[bool] = False
    """Whether it can keep the signatures of a zone that is signed already."""
    has_state: ClassVar[bool] = False
    """Whether it can know kept signatures to be valid without verifying them."""
    has_threads: ClassVar[bool] = False
    remarks: ClassVar[tuple[str, ...]] = ()
    """What a reader must know to compare it."""

    @classmethod
    def find(cls) -> str | None:
        """Give the path of the program; None if it is not installed."""
        return shutil.which(cls.program)

    @classmethod
    def how_to_install(cls) -> str:
        """Give the command that installs it."""
        return f"cargo install {cls.program}" if cls.package is None else f"apt-get install {cls.package}"

    @classmethod
    def version(cls) -> str:
        """Give the version that the program says it is."""
        return said_version([cls.program, *cls.version_options()])

    @classmethod
    @abstractmethod
    def version_options(cls) -> Sequence[str]:
        """Give the options that make the program say its version."""

    def prepare(self, task: Task) -> None:
        """Make what the program needs beside zone and keys, in the task's folder; not measured."""
        return

    @abstractmethod
    def command(self, task: Task) -> list[str]:
        """Give the command line that signs."""

    def finish(self, task: Task) -> None:
        """Put the signed zone where the task wants it, if the program cannot; not measured."""
        return


def said_version(command: Sequence[str]) -> str:
    """Run a command that says its version, and give that."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=VERSION_WITHIN_S, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SubjectFailedError(f"{' '.join(command)} does not say its version: {error}") from error
    found = VERSION.search(f"{done.stdout}\n{done.stderr}")
    return found.group() if found else "unknown version"


def date(time: int) -> str:
    """Write a time as YYYYMMDDHHMMSS in UTC (RFC 4034 section 3.2)."""
    return f"{datetime.fromtimestamp(time, UTC):%Y%m%d%H%M%S}"
