"""Row 9: live TCP connections of one generator process, and the memory that each takes."""

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from targets.file_limit import clients_permitted, file_limit
from targets.generators import Bench
from targets.running import BenchError, pinned, running
from targets.verdicts import Verdict, at_least

WANTED = 100_000
HOLDER = Path(__file__).with_name("holder.py")
HOLD_AT_MOST_S = 300.0
SOURCE_ADDRESSES = "127.1.0.0/24"
OPENING_PER_S = 10_000
HOLD_S = 5.0
PAGE_BYTES = 4096
POLL_S = 0.2
Measured = tuple[dict[str, Any], list[Verdict]]


@contextmanager
def _holder(bench: Bench, connections: int) -> Iterator[int]:
    """Run listeners enough for so many connections on the server's CPU; give their port.

    A listener gets its connections by a hash, so each must have room for more than its share.
    """
    listeners = max(1, -(-2 * connections // file_limit()))
    argv = pinned([sys.executable, str(HOLDER), str(listeners), str(HOLD_AT_MOST_S)], bench.server_cpu)
    with running(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        yield int(process.stdout.readline())


def live_connections(bench: Bench) -> Iterator[Measured]:
    """Open as many TCP sessions without a query as are wanted and permitted, and keep them for a while."""
    connections = clients_permitted(WANTED)
    opening_s = connections / OPENING_PER_S
    with _holder(bench, connections) as port, tempfile.TemporaryFile("w+") as output:
        before = _kernel(os.getpid())
        argv = [*bench.dnsrig, "load", "-s", "127.0.0.1", "-p", str(port), "-m", "tcp", "--sessions-only", "--json"]
        argv += ["--hold-sessions", "-c", str(connections), "-Q", str(OPENING_PER_S), "--source", SOURCE_ADDRESSES]
        argv += ["-l", f"{opening_s + HOLD_S:g}"]
        with running(pinned(argv, bench.generator_cpu), stdout=output) as process:
            peak = _peak(process)
        if process.returncode != 0:
            raise BenchError(f"{' '.join(argv)} ended with {process.returncode}")
        output.seek(0)
        report = json.loads(output.read())
    opened = report["connections"]["opened"]
    live = min(peak["sockets"], opened)
    # Both ends of each connection are on this machine.
    kernel_bytes = sum(peak[name] - before[name] for name in ("tcp_bytes", "slab_bytes")) / max(1, 2 * live)
    own_bytes = report["generator"]["memory_bytes_per_client"] or 0.0
    figures = {
        "connections": report["connections"],
        "live": live,
        "process_bytes_per_connection": own_bytes,
        "kernel_bytes_per_connection": kernel_bytes,
        "file_limit": file_limit(),
    }
    limited = connections < WANTED
    yield (
        figures,
        [
            Verdict(
                9,
                "listeners that accept and keep",
                "live TCP connections of one process",
                f"{WANTED:,} (file limits and ports permitting)",
                f"{live:,} live, {report['connections']['failed']:,} failed",
                None if limited and live >= connections else at_least(WANTED, live),
                f"memory a connection: {own_bytes:,.0f} octets of the process, {kernel_bytes:,.0f} of the kernel"
                + (f"; the limit of open files here is {file_limit():,} and may not be raised" if limited else ""),
            )
        ],
    )


def _peak(process: "subprocess.Popen[str]") -> dict[str, int]:
    """Watch until the process ends; give the kernel's account as it was when the process had most sockets."""
    peak = _kernel(process.pid)
    while process.poll() is None:
        now = _kernel(process.pid)
        if now["sockets"] >= peak["sockets"]:
            peak = now
        time.sleep(POLL_S)
    return peak


def _kernel(pid: int) -> dict[str, int]:
    """Count a process's sockets; read TCP's memory of buffers (/proc/net/sockstat) and all slabs' (/proc/meminfo)."""
    sockets = Path("/proc/net/sockstat").read_text()
    match = re.search(r"^TCP: .* mem (\d+)", sockets, re.MULTILINE)
    slab = re.search(r"^Slab:\s+(\d+) kB", Path("/proc/meminfo").read_text(), re.MULTILINE)
    if match is None or slab is None:
        raise BenchError("/proc/net/sockstat or /proc/meminfo is not as Linux writes it")
    return {
        "sockets": _sockets(pid),
        "tcp_bytes": int(match.group(1)) * PAGE_BYTES,
        "slab_bytes": int(slab.group(1)) * 1024,
    }


def _sockets(pid: int) -> int:
    count = 0
    with contextlib.suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/fd"):  # noqa: PTH208 (names alone, no path objects)
            with contextlib.suppress(OSError):
                count += os.readlink(f"/proc/{pid}/fd/{name}").startswith("socket:")  # noqa: PTH115
    return count
