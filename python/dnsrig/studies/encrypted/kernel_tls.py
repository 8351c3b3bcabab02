"""Kernel TLS: whether this kernel has it, and whether any session used it."""

import os
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_STATISTICS = "proc/net/tls_stat"
_TCP_ULP = 31
"""Socket option of TCP that names the protocol above it (linux/tcp.h); Python has no name for it."""


@dataclass(frozen=True, slots=True)
class KernelTls:
    """How a socket refused the kernel's TLS ("" if it took it), and how many sessions sent with it so far."""

    refusal: str
    sessions: int = 0


def kernel_tls(root: Path = Path("/")) -> KernelTls:
    """Try the kernel's TLS on a connection (Documentation/networking/tls.rst of the kernel).

    That loads the module where the kernel has it and may load it, so it is not enough to look whether it is loaded.
    """
    refusal = socket_refusal()
    try:
        lines = (root / _STATISTICS).read_text().splitlines()
    except OSError:
        return KernelTls(refusal)
    counters = dict(line.split() for line in lines if len(line.split()) == 2)
    return KernelTls(refusal, int(counters.get("TlsTxSw", 0)) + int(counters.get("TlsTxDevice", 0)))


def socket_refusal() -> str:
    """Ask for TLS on a connection over loopback; say why the kernel refuses, or "" if it does not."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as connection:
        try:
            connection.setsockopt(socket.IPPROTO_TCP, _TCP_ULP, b"tls")
        except OSError as error:
            return os.strerror(error.errno or 0)
    return ""


def facts(before: KernelTls, after: KernelTls) -> dict[str, Any]:
    """Give what a run's manifest holds about kernel TLS."""
    return {"refusal": after.refusal, "sessions": after.sessions - before.sessions}


def sentence(facts: dict[str, Any] | None) -> str:
    """Say what a run can tell about kernel TLS."""
    if not facts or "refusal" not in facts:
        return "Kernel TLS: not measured, and not looked for."
    if facts["refusal"]:
        return (
            "Kernel TLS: not measured, because this kernel has none for this user: it refuses the socket option "
            f"TCP_ULP `tls` ({facts['refusal']})."
        )
    if not facts["sessions"]:
        return (
            "Kernel TLS: not measured. The kernel has it (a socket took the option TCP_ULP `tls`), but no session of "
            "this run used it (/proc/net/tls_stat): none of the servers uses it as shipped."
        )
    return (
        f"Kernel TLS: {facts['sessions']:,} sessions were sent through the kernel's TLS during this run "
        "(/proc/net/tls_stat, all programs of the machine): DoT and DoH above may hold its effect."
    )
