"""Pure parsers of the texts below /proc that the monitor reads (proc(5)). Bytes in, numbers out.

Every parser ignores what it doesn't know, so that a newer kernel's further fields do no harm, and raises
ValueError for text that isn't of its kind at all.
"""

import os
import re
from dataclasses import dataclass

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
"""The unit of times below /proc."""
_TIME_WAIT_S = 60.0
_TIME_WAIT = re.compile(
    rb"^ *\d+: ([0-9A-F]+):[0-9A-F]{4} [0-9A-F]+:[0-9A-F]{4} 06 [0-9A-F]+:[0-9A-F]+ 03:([0-9A-F]+) ", re.MULTILINE
)
"""A line of /proc/net/tcp or tcp6 in that state: its local address, and what is left of its time."""
_LOOPBACK_IPV6 = b"00000000000000000000000001000000"


@dataclass(frozen=True, slots=True)
class ProcessStat:
    """What the monitor takes from /proc/PID/stat; times in clock ticks, memory in pages."""

    state: str
    parent: int
    reaped_ticks: int
    """User and system time of children that ended and were waited for, theirs included."""
    threads: int
    start_ticks: int
    rss_pages: int

    @property
    def ended(self) -> bool:
        """Whether the process has ended and only waits to be reaped, or is being so."""
        return self.state in {"Z", "X", "x"}


@dataclass(frozen=True, slots=True)
class CpuTicks:
    """How long since boot one CPU had nothing to do, and how long a hypervisor had taken it away, in clock ticks.

    The kernel counts idle time by the clock, where it stops the tick of idle CPUs (CONFIG_NO_HZ_IDLE). Work it mostly
    counts by what the CPU does at each tick, so that of what begins at beats of the tick, such as queries sent every
    millisecond, it sees all or nothing: a CPU was busy for the time that is in neither of these. A virtual CPU that is
    woken and not yet given its processor may count as both: where much is stolen, busy time is somewhat too short.
    """

    idle: int
    steal: int


@dataclass(frozen=True, slots=True)
class Interface:
    """Counters of one network interface."""

    bytes_in: int
    packets_in: int
    drops_in: int
    bytes_out: int
    packets_out: int
    drops_out: int


def parse_process_stat(text: bytes) -> ProcessStat:
    """Parse /proc/PID/stat. The program's name may hold anything, parentheses and blanks included."""
    rest = text[text.rindex(b")") + 1 :].split()
    if len(rest) < 22:
        raise ValueError("process stat with too few fields")
    return ProcessStat(
        state=rest[0].decode("ascii", "replace"),
        parent=int(rest[1]),
        reaped_ticks=int(rest[13]) + int(rest[14]),
        threads=int(rest[17]),
        start_ticks=int(rest[19]),
        rss_pages=int(rest[21]),
    )


def parse_smaps_rollup(text: bytes) -> dict[str, int]:
    """Parse /proc/PID/smaps_rollup; sizes in bytes by name (`Rss`, `Pss`, ...)."""
    sizes = {}
    for line in text.splitlines()[1:]:
        name, separator, value = line.partition(b":")
        fields = value.split()
        if separator and len(fields) == 2 and fields[1] == b"kB":
            sizes[name.decode("ascii", "replace")] = int(fields[0]) * 1024
    if "Pss" not in sizes:
        raise ValueError("smaps_rollup without a Pss line")
    return sizes


def parse_cpu_stat(text: bytes) -> dict[int, CpuTicks]:
    """Parse the per-CPU lines of /proc/stat, by number of CPU; offline ones are missing there."""
    cpus = {}
    for line in text.splitlines():
        if not line.startswith(b"cpu"):
            break
        name, *values = line.split()
        if name == b"cpu":
            continue
        ticks = [int(value) for value in values[:8]]
        _, _, _, idle, iowait, _, _, steal = ticks + [0] * (8 - len(ticks))
        cpus[int(name[3:])] = CpuTicks(idle + iowait, steal)
    if not cpus:
        raise ValueError("/proc/stat without a line for a CPU")
    return cpus


def parse_net_dev(text: bytes) -> dict[str, Interface]:
    """Parse /proc/net/dev, by name of interface."""
    interfaces = {}
    for line in text.splitlines()[2:]:
        # A VLAN's or alias's name may itself hold a colon.
        name, separator, values = line.rpartition(b":")
        fields = values.split()
        if separator and len(fields) >= 12:
            received, sent = [int(value) for value in fields[:4]], [int(value) for value in fields[8:12]]
            interfaces[name.strip().decode("utf-8", "replace")] = Interface(
                bytes_in=received[0],
                packets_in=received[1],
                drops_in=received[3],
                bytes_out=sent[0],
                packets_out=sent[1],
                drops_out=sent[3],
            )
    return interfaces


def parse_snmp(text: bytes, protocol: str) -> dict[str, int]:
    """Parse one protocol's pair of lines, names and values, in /proc/net/snmp (`Udp`: `InErrors`, ...).

    The whole file is many times longer than what the monitor wants of it with each sample.
    """
    lines = re.findall(rb"^%s: (.*)$" % protocol.encode(), text, re.MULTILINE)
    if len(lines) != 2:
        return {}
    pairs = zip(lines[0].split(), lines[1].split(), strict=False)
    return {name.decode("ascii", "replace"): int(value) for name, value in pairs}


def parse_snmp6(text: bytes, protocol: str) -> dict[str, int]:
    """Parse the lines of one protocol in /proc/net/snmp6 (`Udp6`: `Udp6InErrors 0`), named without it."""
    pairs = re.findall(rb"^%s([A-Za-z]+)[ \t]+([0-9]+)[ \t]*$" % protocol.encode(), text, re.MULTILINE)
    return {name.decode(): int(value) for name, value in pairs}


def parse_sockstat(text: bytes) -> dict[str, dict[str, int]]:
    """Parse /proc/net/sockstat or sockstat6, by protocol (`UDP`: `inuse`; `TCP`: `inuse`, `tw`, ...)."""
    protocols = {}
    for line in text.splitlines():
        protocol, separator, rest = line.partition(b":")
        fields = rest.split()
        if separator:
            protocols[protocol.decode("ascii", "replace")] = {
                name.decode("ascii", "replace"): int(value)
                for name, value in zip(fields[::2], fields[1::2], strict=False)
            }
    return protocols


def count_time_wait(text: bytes, longest_ago_s: float) -> int:
    """Count the connections of /proc/net/tcp or tcp6 that came to TIME-WAIT at most so long ago.

    Those of the loopback device are left out. The kernel keeps a connection there for 60 s (TCP_TIMEWAIT_LEN), and
    says how much of that is left in clock ticks.
    """
    least_left = (_TIME_WAIT_S - longest_ago_s) * TICKS_PER_S
    found = 0
    for local, left in _TIME_WAIT.findall(text):
        # Addresses are words in the machine's own order of octets.
        is_loopback = local == _LOOPBACK_IPV6 or local.endswith(b"7F")
        found += not is_loopback and int(left, 16) >= least_left
    return found


def parse_cgroups(text: bytes) -> dict[str, str]:
    """Parse /proc/PID/cgroup: path by controller; the unified hierarchy of version 2 is called ""."""
    paths = {}
    for line in text.decode("utf-8", "surrogateescape").splitlines():
        fields = line.split(":", 2)
        if len(fields) == 3:
            for controller in fields[1].split(","):
                paths[controller] = fields[2]
    return paths
