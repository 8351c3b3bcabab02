"""A relay of one TCP connection on loopback that keeps what the server sends first."""

import select
import socket
import threading
from types import TracebackType
from typing import Self

KEPT_OCTETS = 16_384
"""Ample for all that a server sends before TLS encrypts."""
READ_OCTETS = 65_536
WAIT_S = 5.0
"""How long a connection is waited for, and how long it may be silent."""


class Relay:
    """Passes on the first connection to a port of its own, once entered as a context manager."""

    def __init__(self, server: tuple[str, int]) -> None:
        self._server = server
        self._socket = socket.create_server((server[0], 0), family=_family(server[0]))
        self._socket.settimeout(WAIT_S)
        self._kept = bytearray()
        self._thread = threading.Thread(target=self._run, name="relay")

    @property
    def port(self) -> int:
        """The port that it listens on, at the server's address."""
        return int(self._socket.getsockname()[1])

    @property
    def from_server(self) -> bytes:
        """What the server sent first; whole once the connection is over."""
        return bytes(self._kept)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._thread.join()

    def _run(self) -> None:
        with self._socket:
            try:
                client, _ = self._socket.accept()
                with client, socket.create_connection(self._server, WAIT_S) as server:
                    self._pass_on(client, server)
            except OSError:
                # Whoever connects sees the same failure, and what was kept stays.
                return

    def _pass_on(self, client: socket.socket, server: socket.socket) -> None:
        while ready := select.select([client, server], [], [], WAIT_S)[0]:
            for one in ready:
                octets = one.recv(READ_OCTETS)
                if not octets:
                    return
                if one is server:
                    self._kept += octets[: KEPT_OCTETS - len(self._kept)]
                (client if one is server else server).sendall(octets)


def _family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address else socket.AF_INET
