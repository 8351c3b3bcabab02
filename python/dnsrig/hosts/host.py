"""What every host offers: programs run on it, and this process acts on it."""

import socket
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from dnsrig.hosts.local import LocalProcess

Result = TypeVar("Result")


class Host(Protocol):
    """A place where programs run: this machine (`LocalHost`), or a network namespace (`Namespace`)."""

    name: str
    """For messages, such as "this machine"."""

    def spawn(
        self,
        argv: Sequence[str],
        *,
        folder: Path,
        log: Path,
        cpus: frozenset[int] | None,
        env: Mapping[str, str] | None = None,
    ) -> LocalProcess:
        """Start a program there; see `LocalHost.spawn` for what is given and raised."""

    def call(self, function: Callable[[], Result], discard: Callable[[Result], object] | None = None) -> Result:
        """Run a function whose sockets, and what it reads of /proc/thread-self/net, are those of the host.

        It may run in a thread of its own. When the caller is interrupted meanwhile, the function is left to end by
        itself, and what it gives is handed to `discard`.
        """

    def make_socket(self, family: socket.AddressFamily, kind: socket.SocketKind) -> socket.socket:
        """Give a socket of the host to this process; it stays the host's wherever it is used."""
