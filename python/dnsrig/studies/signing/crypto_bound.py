"""Measure signing alone: `python -m dnsrig.studies.signing.crypto_bound ALGORITHM BITS THREADS SECONDS`.

BITS is the size of an RSA key, `-` for others. Prints a JSON object with `per_second`, the signatures of all threads
together, and `cpu_us_per_signature`, which other programs on the machine change far less; null if it ended too soon to
tell. A process of its own, so that it has the processors of the signers that it is compared with, and ends with the
study.
"""

import json
import os
import sys
import threading
import time
from dataclasses import dataclass, field

from dnsrig import _core
from dnsrig.errors import DnsrigError

LOOK_EVERY_S = 0.01
OTHERS = 3
"""Threads of this process that do not sign: the one that calls, that of the call, which makes the key first, and the
one that waits for the signing to begin."""


@dataclass(slots=True)
class ProcessorUse:
    """How many processors the signing threads use, from when all of them are there: not while the key is made."""

    threads: int
    _begun: tuple[float, float] | None = None
    _over: threading.Event = field(default_factory=threading.Event)

    def wait_for_begin(self) -> None:
        """Look until all threads are there, or `cpus` is asked for."""
        while not self._over.wait(LOOK_EVERY_S):
            if len(os.listdir("/proc/self/task")) >= OTHERS + self.threads:  # noqa: PTH208 (costs less)
                self._begun = _clocks()
                return

    def cpus(self) -> float | None:
        """Give the processors used until now; None if the begin was not seen."""
        self._over.set()
        if self._begun is None:
            return None
        wall_s, cpu_s = (now - then for now, then in zip(_clocks(), self._begun, strict=True))
        return cpu_s / wall_s if wall_s > LOOK_EVERY_S else None


def _clocks() -> tuple[float, float]:
    """Read wall clock and CPU time of this process, in seconds."""
    return time.monotonic(), time.process_time()


def main(arguments: list[str]) -> int:
    """Measure and print."""
    algorithm, bits, threads, seconds = arguments
    use = ProcessorUse(int(threads))
    threading.Thread(target=use.wait_for_begin, daemon=True).start()
    try:
        rate = _core.signing_rate(algorithm, None if bits == "-" else int(bits), int(threads), float(seconds))
        cpus = use.cpus()
    except DnsrigError as error:
        print(error, file=sys.stderr)
        return 1
    print(json.dumps({"per_second": rate, "cpu_us_per_signature": cpus and cpus / rate * 1e6}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
