"""Network namespaces that the user has made, such as by `ip netns add`."""

import errno
import os
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path

from dnsrig.errors import EnvironmentLacksError, InputError
from dnsrig.hosts.network import kernel

NAMED = Path("/run/netns")
"""Where `ip netns` keeps its namespaces (ip-netns(8))."""


@contextmanager
def sockets_in(name: str) -> Iterator[Callable[[socket.AddressFamily, socket.SocketKind], socket.socket]]:
    """Give what makes sockets in a namespace, by its name (`ip netns list`) or path, such as /proc/PID/ns/net.

    Raises:
        InputError: there is no such namespace.
        EnvironmentLacksError: this process may not enter it.

    """
    path = Path(name) if "/" in name else NAMED / name
    try:
        # Not waiting: what is there may be a FIFO.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise InputError(f"{name}: no network namespace at {path}: {error.strerror}; see `ip netns list`") from error

    def make_socket(family: socket.AddressFamily, kind: socket.SocketKind) -> socket.socket:
        def inside() -> socket.socket:
            kernel.enter(descriptor)
            return socket.socket(family, kind)

        made: Future[socket.socket] = Future()
        kernel.in_own_thread(inside, made)
        return made.result()

    try:
        try:
            make_socket(socket.AF_INET, socket.SOCK_DGRAM).close()
        except OSError as error:
            if error.errno == errno.EINVAL:
                raise InputError(f"{name}: {path} is no network namespace; see `ip netns list`") from error
            reason = f"{name}: the network namespace cannot be entered: {error.strerror}; run dnsrig as root"
            raise EnvironmentLacksError(reason) from error
        yield make_socket
    finally:
        os.close(descriptor)
