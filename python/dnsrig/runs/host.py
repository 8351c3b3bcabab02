"""Description of the machine that a run is made on, and what about it makes figures doubtful."""

import os
import platform
import sys
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

from dnsrig import __version__

SCHEMA = "dnsrig-host/1"
BUSY_PER_CPU = 0.3
"""Load average per CPU from which other work on the machine is worth a warning."""
_SYSCTLS = (
    "net/core/rmem_default",
    "net/core/rmem_max",
    "net/core/wmem_default",
    "net/core/wmem_max",
    "net/core/netdev_max_backlog",
    "net/core/busy_poll",
    "net/ipv4/udp_mem",
)
_HYPERVISOR_FLAG = "hypervisor"


def describe_host(root: Path = Path("/")) -> dict[str, Any]:
    """Return what `host.json` holds (schemas/host.json), read from `proc` and `sys` below `root`.

    What the kernel doesn't tell is None; nothing raises for a file that is missing.
    """
    host: dict[str, Any] = {
        "schema": SCHEMA,
        "time": datetime.now().astimezone().isoformat(timespec="seconds"),
        "dnsrig": __version__,
        "python": sys.version.split()[0],
        "kernel": _text(root / "proc/sys/kernel/osrelease"),
        "architecture": platform.machine(),
        "distribution": _distribution(root),
        "cpu": _cpu(root),
        "memory_bytes": _memory_bytes(root),
        "virtualisation": _virtualisation(root),
        "cgroup_version": _cgroup_version(root),
        "clocksource": _text(root / "sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "mtu_bytes": _mtus(root),
        "sysctl": {name.replace("/", "."): _text(root / "proc/sys" / name) for name in _SYSCTLS},
        "load_average": _load_average(root),
    }
    return {**host, "warnings": list(host_warnings(host))}


def host_warnings(host: dict[str, Any]) -> Iterable[str]:
    """Yield a sentence for everything about `host` that makes its figures noisy or hard to repeat."""
    cpu = host["cpu"]
    usable = len(cpu["usable"])
    if usable < 2:
        yield (
            "dnsrig may use one CPU only: generator and server take turns on it, so rates are lower than the "
            "server's own; CPU per query is the figure to look at."
        )
    elif usable < 4:
        yield (
            f"The machine has {usable} usable CPUs: what is measured, what measures it, the kernel's own work and "
            "everything else share them."
        )
    if busy := busy_warning(host):
        yield busy
    if host["virtualisation"]:
        yield (
            f"The machine is virtual or a container ({host['virtualisation']}): neighbours can take CPU time "
            "from it, and absolute rates say little about hardware."
        )
    if cpu["governor"] not in {None, "performance"}:
        yield (
            f"The CPU frequency governor is {cpu['governor']}, so the clock rate follows the load; "
            "`cpupower frequency-set -g performance` makes runs steadier."
        )
    if cpu["smt"]:
        yield "Hyper-threading (SMT) is on: two of the CPUs can be halves of one core."


def busy_warning(host: dict[str, Any]) -> str | None:
    """Give the sentence that tells of other work on the machine when the run began; None if there was little."""
    load, online = host["load_average"], host["cpu"]["online"]
    if not load or load[0] <= BUSY_PER_CPU * max(1, online or 1):
        return None
    return f"The machine was busy when the run began (load average {load[0]:.2f} on {online} CPUs)."


def _cpu(root: Path) -> dict[str, Any]:
    fields: dict[str, str] = {}
    online = 0
    cores: set[tuple[str, str]] = set()
    package = "0"
    for line in (_text(root / "proc/cpuinfo") or "").splitlines():
        key, _, value = (part.strip() for part in line.partition(":"))
        fields.setdefault(key, value)
        online += key == "processor"
        package = value if key == "physical id" else package
        if key == "core id":
            cores.add((package, value))
    frequency = _number(_text(root / "sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"))
    return {
        "model": fields.get("model name") or fields.get("Model") or fields.get("Hardware"),
        "online": online or os.cpu_count(),
        "cores": len(cores) or None,
        "usable": sorted(os.sched_getaffinity(0)),
        "smt": _text(root / "sys/devices/system/cpu/smt/active") == "1",
        "governor": _text(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "max_khz": frequency,
        "cache": fields.get("cache size"),
        "hypervisor_flag": _HYPERVISOR_FLAG in fields.get("flags", "").split(),
        "vulnerability_mitigations": _mitigations(root),
    }


def _mitigations(root: Path) -> dict[str, str]:
    folder = root / "sys/devices/system/cpu/vulnerabilities"
    found = {path.name: _text(path) or "" for path in sorted(folder.glob("*"))}
    return {name: text for name, text in found.items() if text and not text.startswith("Not affected")}


def _virtualisation(root: Path) -> str | None:
    found = []
    vendor = _text(root / "sys/class/dmi/id/sys_vendor")
    product = _text(root / "sys/class/dmi/id/product_name")
    hypervisor = _text(root / "sys/hypervisor/type")
    flags = _text(root / "proc/cpuinfo") or ""
    if hypervisor:
        found.append(hypervisor)
    elif _HYPERVISOR_FLAG in flags.partition("flags")[2].partition("\n")[0].split():
        found.append(" ".join(part for part in (vendor, product) if part) or "hypervisor of unknown kind")
    if (root / ".dockerenv").exists():
        found.append("docker")
    elif (root / "run/.containerenv").exists():
        found.append("podman")
    return ", ".join(found) or None


def _cgroup_version(root: Path) -> str | None:
    folder = root / "sys/fs/cgroup"
    if (folder / "cgroup.controllers").exists():
        return "2"
    if (folder / "cpuacct").exists() or (folder / "cpu,cpuacct").exists():
        return "1"
    return None


def _mtus(root: Path) -> dict[str, int]:
    found = {}
    for path in sorted((root / "sys/class/net").glob("*/mtu")):
        mtu = _number(_text(path))
        if mtu is not None:
            found[path.parent.name] = mtu
    return found


def _distribution(root: Path) -> str | None:
    for line in (_text(root / "etc/os-release") or "").splitlines():
        if line.startswith("PRETTY_NAME="):
            return line.partition("=")[2].strip('"')
    return None


def _memory_bytes(root: Path) -> int | None:
    for line in (_text(root / "proc/meminfo") or "").splitlines():
        if line.startswith("MemTotal:"):
            return int(line.split()[1]) * 1024
    return None


def _load_average(root: Path) -> list[float] | None:
    text = _text(root / "proc/loadavg")
    return [float(value) for value in text.split()[:3]] if text else None


def _number(text: str | None) -> int | None:
    return int(text) if text and text.lstrip("-").isdigit() else None


def _text(path: Path) -> str | None:
    try:
        return path.read_text(errors="replace").strip() or None
    except OSError:
        return None
