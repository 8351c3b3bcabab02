"""Kernel TLS: whether this kernel has it, and whether any session used it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

_STATISTICS = "proc/net/tls_stat"
_PROTOCOLS = "proc/sys/net/ipv4/tcp_available_ulp"


@dataclass(frozen=True, slots=True)
class KernelTls:
    """What the kernel says: whether its TLS is loaded, and how many sessions sent with it so far."""

    loaded: bool
    sessions: int = 0


def kernel_tls(root: Path = Path("/")) -> KernelTls:
    """Look whether the kernel's TLS module is loaded (Documentation/networking/tls.rst of the kernel)."""
    try:
        lines = (root / _STATISTICS).read_text().splitlines()
    except OSError:
        return KernelTls(loaded="tls" in _words(root / _PROTOCOLS))
    counters = dict(line.split() for line in lines if len(line.split()) == 2)
    return KernelTls(True, int(counters.get("TlsTxSw", 0)) + int(counters.get("TlsTxDevice", 0)))


def facts(before: KernelTls, after: KernelTls) -> dict[str, Any]:
    """Give what a run's manifest holds about kernel TLS."""
    return {"loaded": after.loaded, "sessions": after.sessions - before.sessions}


def sentence(facts: dict[str, Any] | None) -> str:
    """Say what a run can tell about kernel TLS."""
    if not facts or not facts["loaded"]:
        return (
            "Kernel TLS: not measured, because this kernel has no TLS module loaded (no /proc/net/tls_stat, and no "
            "`tls` in /proc/sys/net/ipv4/tcp_available_ulp)."
        )
    if not facts["sessions"]:
        return (
            "Kernel TLS: not measured. The kernel has its TLS module, but no session of this run used it "
            "(/proc/net/tls_stat): none of the servers uses it as shipped."
        )
    return (
        f"Kernel TLS: {facts['sessions']:,} sessions were sent through the kernel's TLS during this run "
        "(/proc/net/tls_stat, all programs of the machine): DoT and DoH above may hold its effect."
    )


def _words(path: Path) -> list[str]:
    try:
        return path.read_text().split()
    except OSError:
        return []
