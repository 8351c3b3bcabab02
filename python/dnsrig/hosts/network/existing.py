"""Network namespaces that the user has made, such as by `ip netns add`."""

import errno
import fcntl
import os
import shlex
import socket
import struct
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from dnsrig.errors import EnvironmentLacksError, InputError
from dnsrig.hosts.network import kernel

NAMED = Path("/run/netns")
"""Where `ip netns` keeps its namespaces (ip-netns(8))."""
SIOCGIFFLAGS, IFF_UP = 0x8913, 0x1
"""Of netdevice(7); Python has no names for them."""
IFREQ = struct.Struct("16sH14x")
MakeSocket = Callable[[socket.AddressFamily, socket.SocketKind], socket.socket]
Result = TypeVar("Result")


@contextmanager
def sockets_in(name: str) -> Iterator[MakeSocket]:
    """Give what makes sockets in a namespace, by its name (`ip netns list`) or path, such as /proc/PID/ns/net.

    Raises:
        InputError: there is no such namespace.
        EnvironmentLacksError: this process may not enter it.

    """
    with _opened(name) as descriptor:

        def make_socket(family: socket.AddressFamily, kind: socket.SocketKind) -> socket.socket:
            return kernel.inside(descriptor, lambda: socket.socket(family, kind))

        try:
            make_socket(socket.AF_INET, socket.SOCK_DGRAM).close()
        except OSError as error:
            if error.errno == errno.EINVAL:
                raise InputError(f"{name}: {_path(name)} is no network namespace; see `ip netns list`") from error
            reason = f"{name}: the network namespace cannot be entered: {error.strerror}; run dnsrig as root"
            raise EnvironmentLacksError(reason) from error
        yield make_socket


def call_in(name: str, function: Callable[[], Result]) -> Result:
    """Call a function in a namespace, where programs that it starts run too.

    Raises:
        InputError: there is no such namespace.
        OSError: this process may not enter it, or `function` raised it.

    """
    with _opened(name) as descriptor:
        return kernel.call(descriptor, function, Future())


def is_loopback_up(make_socket: MakeSocket) -> bool:
    """Say whether the device lo is up where sockets are made: a new namespace has it down.

    Raises:
        OSError: the kernel does not say.

    """
    with make_socket(socket.AF_INET, socket.SOCK_DGRAM) as channel:
        found = fcntl.ioctl(channel.fileno(), SIOCGIFFLAGS, IFREQ.pack(b"lo", 0))
    return bool(IFREQ.unpack(found)[1] & IFF_UP)


def ip_command(name: str | None, *words: str) -> str:
    """Give the words of a command of ip(8) that a person types, for this machine's own network or a namespace."""
    if name is None:
        return shlex.join(("ip", *words))
    return shlex.join(("ip", "-n", name, *words) if "/" not in name else ("nsenter", f"--net={name}", "ip", *words))


def _path(name: str) -> Path:
    return Path(name) if "/" in name else NAMED / name


@contextmanager
def _opened(name: str) -> Iterator[int]:
    path = _path(name)
    try:
        # Not waiting: what is there may be a FIFO.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise InputError(f"{name}: no network namespace at {path}: {error.strerror}; see `ip netns list`") from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)
