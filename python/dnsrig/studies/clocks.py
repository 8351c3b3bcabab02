"""Whether the system's clock was set while something was measured."""

import time
from dataclasses import dataclass
from typing import Self

NOTABLE_S = 0.05
"""A clock that is slewed (adjtimex(2)) takes the monotonic one along; more than this is a step, or a suspension."""
READINGS = 3


@dataclass(frozen=True, slots=True)
class Clocks:
    """A reading of the real-time clock and the monotonic one at the same time, in ns."""

    real_ns: int
    monotonic_ns: int

    @classmethod
    def read(cls) -> Self:
        """Read both as near to each other as they can be: a program may have to wait in between."""
        found = []
        for _ in range(READINGS):
            before = time.monotonic_ns()
            real = time.time_ns()
            after = time.monotonic_ns()
            found.append((after - before, real, before + (after - before) // 2))
        _, real, monotonic = min(found)
        return cls(real, monotonic)

    def step_s(self, before: Self) -> float:
        """Give how far the real-time clock was set since an earlier reading, in seconds; negative: back."""
        return ((self.real_ns - before.real_ns) - (self.monotonic_ns - before.monotonic_ns)) / 1e9
