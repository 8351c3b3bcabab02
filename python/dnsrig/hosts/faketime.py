"""Let a program run in another time, by libfaketime, which stands between it and the C library's clocks."""

import functools
import math
from dataclasses import dataclass
from pathlib import Path

from dnsrig.errors import EnvironmentLacksError, InputError

LIBRARY = "libfaketimeMT.so.1"
"""The variant for programs with threads."""
FOLDERS = ("/usr/lib", "/usr/lib64", "/usr/local/lib")


@dataclass(frozen=True, slots=True)
class FakeClock:
    """A clock that is off, and may run fast; what measures intervals (CLOCK_MONOTONIC) stays right."""

    offset_s: int = 0
    """How far it is ahead of the machine's clock when the program starts."""
    rate: float = 1.0
    """Seconds that pass on it in one second."""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.rate) and self.rate > 0):
            raise InputError(f"a clock cannot run {self.rate} times as fast")

    def environment(self) -> dict[str, str]:
        """Give the environment variables that a program takes this clock from.

        Raises:
            EnvironmentLacksError: libfaketime is not installed.

        """
        library = find_library()
        if library is None:
            raise EnvironmentLacksError("libfaketime is not installed: install the Debian package libfaketime")
        speed = "" if self.rate == 1 else f" x{self.rate:g}"
        return {
            "LD_PRELOAD": str(library),
            "FAKETIME": f"{self.offset_s:+d}s{speed}",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "FAKETIME_DONT_RESET": "1",
        }


@functools.cache
def find_library() -> Path | None:
    """Find libfaketime, whose folder is not in the search path of libraries."""
    for folder in FOLDERS:
        for pattern in (f"faketime/{LIBRARY}", f"*/faketime/{LIBRARY}", LIBRARY):
            if found := next(iter(sorted(Path(folder).glob(pattern))), None):
                return found
    return None
