"""Ports on this machine: find a free one, see why one is not, and see whose sockets are bound to it."""

import contextlib
import errno
import ipaddress
import socket
import struct
import sys
from collections.abc import Collection, Iterable, Iterator
from enum import Enum
from pathlib import Path

from dnsrig.errors import EnvironmentLacksError

FIND_ATTEMPTS = 50
TCP_LISTEN = "0A"
"""Socket state TCP_LISTEN as /proc/net/tcp writes it (include/net/tcp_states.h)."""


class PortState(Enum):
    """What a server would meet that binds UDP and TCP sockets to a port."""

    FREE = "free"
    TAKEN = "taken"
    SHARED = "taken by sockets with SO_REUSEPORT, which another server would join unnoticed"
    FORBIDDEN = "not permitted to this user"
    NO_ADDRESS = "not possible: the address is not on this machine"


def _family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ipaddress.ip_address(address).version == 6 else socket.AF_INET


def _try_bind(address: str, port: int, kind: socket.SocketKind, *, reuse_port: bool) -> int:
    """Bind a socket and close it again; give 0 or the errno."""
    with socket.socket(_family(address), kind) as probe:
        if kind == socket.SOCK_STREAM:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if reuse_port:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        try:
            probe.bind((address, port))
            if kind == socket.SOCK_STREAM:
                probe.listen(1)
        except OSError as error:
            return error.errno or errno.EINVAL
    return 0


def port_state(address: str, port: int) -> PortState:
    """Say whether a server could bind a port of an address for both UDP and TCP."""
    kinds = (socket.SOCK_DGRAM, socket.SOCK_STREAM)
    errors = {kind: _try_bind(address, port, kind, reuse_port=False) for kind in kinds}
    if errno.EADDRNOTAVAIL in errors.values():
        return PortState.NO_ADDRESS
    if errno.EACCES in errors.values():
        return PortState.FORBIDDEN
    taken = [kind for kind, number in errors.items() if number]
    if not taken:
        return PortState.FREE
    joinable = all(_try_bind(address, port, kind, reuse_port=True) == 0 for kind in taken)
    return PortState.SHARED if joinable else PortState.TAKEN


def find_free_port(address: str) -> int:
    """Find a port of an address that is free for both UDP and TCP now.

    Raises:
        EnvironmentLacksError: the address is not on this machine, or no port was free.

    """
    for _ in range(FIND_ATTEMPTS):
        with socket.socket(_family(address), socket.SOCK_DGRAM) as probe:
            try:
                probe.bind((address, 0))
            except OSError as error:
                raise EnvironmentLacksError(
                    f"no port of {address} can be bound: {error.strerror}; is the address on this machine?"
                ) from error
            port = int(probe.getsockname()[1])
        if port_state(address, port) is PortState.FREE:
            return port
    raise EnvironmentLacksError(f"no port of {address} was free for both UDP and TCP in {FIND_ATTEMPTS} tries")


def _hex_address(address: str) -> str:
    """Write an address as /proc/net/udp and tcp do: 32-bit words in the machine's byte order."""
    packed = ipaddress.ip_address(address).packed
    words = struct.unpack(f"!{len(packed) // 4}I", packed)
    return b"".join(word.to_bytes(4, sys.byteorder) for word in words).hex().upper()


def _rows(table: str) -> Iterator[list[str]]:
    # Of the calling thread, which may be in a network namespace; /proc/net is that of the process's first thread.
    path = Path("/proc/thread-self/net") / table
    if path.exists():
        for line in path.read_text().splitlines()[1:]:
            yield line.split()


def sockets_on(address: str, port: int) -> set[int]:
    """Give the inodes of all UDP sockets and listening TCP sockets that receive what is sent to a port."""
    suffix = "6" if ":" in address else ""
    wanted = {_hex_address(address)}
    wanted.add("0" * len(next(iter(wanted))))
    hex_port = f"{port:04X}"
    inodes = set()
    for table in ("udp" + suffix, "tcp" + suffix):
        for fields in _rows(table):
            local_address, _, local_port = fields[1].partition(":")
            if local_port == hex_port and local_address in wanted:
                if table.startswith("tcp") and fields[3] != TCP_LISTEN:
                    continue
                inodes.add(int(fields[9]))
    return inodes


def sockets_of(pids: Iterable[int]) -> set[int]:
    """Give the inodes of all sockets that the processes hold."""
    inodes: set[int] = set()
    for pid in pids:
        with contextlib.suppress(OSError):
            for entry in (Path("/proc") / str(pid) / "fd").iterdir():
                with contextlib.suppress(OSError):
                    kind, _, inode = str(entry.readlink()).partition(":")
                    if kind == "socket":
                        inodes.add(int(inode.strip("[]")))
    return inodes


def holder(address: str, port: int, others_than: Collection[int] = ()) -> str | None:
    """Name a process that holds a socket on the port, as "name (pid N)"; None if none can be seen.

    Those of `others_than` are not meant: a server that is refused one of its sockets may hold others already.
    """
    inodes = sockets_on(address, port) - sockets_of(others_than)
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and sockets_of([int(entry.name)]) & inodes:
            try:
                return f"{(entry / 'comm').read_text().strip()} (pid {entry.name})"
            except OSError:
                return None
    return None
