"""What a tree was asked, told from the process that serves it to those on the same machine that verify by it.

A stream socket of the file system, in the tree's folder. Each query is a line of JSON, sent before its response is;
to an empty line the server answers with a line that says that all before it was told, and when it was late. So who
reads up to that line knows of all queries whose responses it has seen.
"""

import asyncio
import contextlib
import json
import os
import socket
import stat
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dns.message
import dns.name

from dnsrig.errors import EnvironmentLacksError
from dnsrig.verification.lateness import Late, Lateness
from dnsrig.verification.tree.seen import SeenQueries, SeenQuery

NAME = "queries.socket"
PATIENCE_S = 10.0
"""So long the server may take to answer."""
MOST_UNREAD = 64 << 20
"""Octets that wait for a reader; one that does not read is dropped."""
# Of Python 3.13 and later, which would look for the socket by its short path.
_LEFT_TO_US: dict[str, Any] = {"cleanup_socket": False} if sys.version_info >= (3, 13) else {}
TREE_SERVER = "The process that serves the tree"


@contextmanager
def _short_path(folder: Path) -> Iterator[str]:
    """Give a path to the socket that fits into 107 octets, wherever the folder is (unix(7))."""
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{descriptor}/{NAME}"
    finally:
        os.close(descriptor)


class Teller:
    """Tells readers of queries; used in the loop that serves the tree."""

    def __init__(self, folder: Path, lateness: Lateness) -> None:
        self._path = folder / NAME
        self._lateness = lateness
        self._server: asyncio.Server | None = None
        self._readers: set[asyncio.StreamWriter] = set()
        self._inode = 0
        self.trouble = ""
        """Why nobody can be told anything."""

    async def start(self) -> None:
        """Listen; a socket that a server left behind goes. Where there can be none, `trouble` says so."""
        try:
            self._make_room()
            with _short_path(self._path.parent) as path:
                self._server = await asyncio.start_unix_server(self._serve, path, **_LEFT_TO_US)
            self._inode = self._path.stat().st_ino
            # The tree is served by root; who verifies may be anybody.
            self._path.chmod(0o666)
        except OSError as error:
            self.trouble = f"{self._path}: {error.strerror or error}"

    def _make_room(self) -> None:
        """Take away a socket on which nobody listens."""
        if not self._path.exists():
            return
        if not stat.S_ISSOCK(self._path.stat().st_mode):
            raise OSError("it is there, and is no socket")
        with socket.socket(socket.AF_UNIX) as channel, _short_path(self._path.parent) as path:
            if channel.connect_ex(path) == 0:
                raise OSError("another dnsrig verify serve-tree serves from this folder")
        self._path.unlink()

    async def close(self) -> None:
        """Listen no more, and leave nothing behind."""
        if self._server is not None:
            self._server.close()
            with contextlib.suppress(OSError):
                if self._path.stat().st_ino == self._inode:
                    self._path.unlink()
        for reader in self._readers:
            reader.close()

    def tell(self, query: SeenQuery) -> None:
        """Tell all readers of a query."""
        if not self._readers:
            return
        ends = [query.server, query.source, query.source_port]
        line = json.dumps([query.at_s, query.transport, *ends, query.wire.hex()]).encode() + b"\n"
        for reader in [*self._readers]:
            reader.write(line)
            if reader.transport.get_write_buffer_size() > MOST_UNREAD:
                self._readers.discard(reader)
                reader.transport.abort()

    async def _serve(self, asked: asyncio.StreamReader, reader: asyncio.StreamWriter) -> None:
        self._readers.add(reader)
        told_s = self._lateness.clock()
        try:
            # A line without end is no question either.
            with contextlib.suppress(OSError, ValueError):
                while await asked.readline():
                    now_s = self._lateness.clock()
                    late = self._lateness.all_since(told_s)
                    told_s = now_s
                    what = [[one.who, one.began_s, one.ended_s, one.lost] for one in late]
                    reader.write(json.dumps({"late": what}).encode() + b"\n")
                    await reader.drain()
        finally:
            self._readers.discard(reader)
            reader.close()


class _Line:
    """The connection to a `Teller`; used by several threads."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._channel = socket.socket(socket.AF_UNIX)
        try:
            self._channel.settimeout(PATIENCE_S)
            with _short_path(folder) as path:
                self._channel.connect(path)
        except BaseException:
            self._channel.close()
            raise
        self._lines = self._channel.makefile("rb")

    def close(self) -> None:
        """End it."""
        self._lines.close()
        self._channel.close()

    def catch_up(self, queries: "WatchedQueries", lateness: "WatchedLateness") -> None:
        """Read all that was told up to now.

        Raises:
            EnvironmentLacksError: the tree is not served any more.

        """
        with self._lock:
            try:
                self._channel.sendall(b"\n")
                while not self._read(queries, lateness):
                    continue
            except (OSError, ValueError) as error:
                raise EnvironmentLacksError(
                    f"{self._folder}: the tree is not served any more: dnsrig verify serve-tree has ended, or is stuck"
                ) from error

    def _read(self, queries: "WatchedQueries", lateness: "WatchedLateness") -> bool:
        """Read a line; say whether it is the last."""
        told = json.loads(self._lines.readline())
        if isinstance(told, dict):
            for late in told["late"]:
                lateness.keep(Late(*late))
            return True
        at_s, transport, server, source, port, wire = told
        if not queries.counts(source):
            return False
        octets = bytes.fromhex(wire)
        queries.add(dns.message.from_wire(octets), octets, transport, server, (source, port), at_s=at_s)
        return False


class WatchedQueries(SeenQueries):
    """What a tree was asked that another process serves."""

    def __init__(self, watched: "WatchedTree") -> None:
        super().__init__()
        self._watched = watched
        self._sources: frozenset[str] = frozenset()

    def keep_to(self, sources: frozenset[str]) -> None:
        """Take no notice from now on of what others than these addresses ask; of nobody where there are none."""
        self._sources = sources

    def counts(self, source: str) -> bool:
        """Say whether what an address asks is taken notice of."""
        return not self._sources or source in self._sources

    def __len__(self) -> int:
        """Count all that came since the beginning."""
        self._watched.catch_up()
        return super().__len__()

    def since(self, count: int) -> list[SeenQuery]:
        """Give what came after the first `count` queries."""
        self._watched.catch_up()
        return super().since(count)

    def of(self, name: dns.name.Name) -> list[SeenQuery]:
        """Give the queries for a name, whatever its case."""
        self._watched.catch_up()
        return super().of(name)


class WatchedLateness(Lateness):
    """When this process was late, or the one that serves the tree."""

    def __init__(self, watched: "WatchedTree") -> None:
        super().__init__(clock=time.monotonic)
        self._watched = watched

    def since(self, began_s: float) -> Late | None:
        """Give the worst of what went on after a time; None where all was done in time."""
        try:
            self._watched.catch_up()
        except EnvironmentLacksError:
            # What was found before is not lost; what needs the tree finds that out by itself.
            return Late(TREE_SERVER, began_s, max(began_s, self.clock()))
        return super().since(began_s)


class WatchedTree:
    """What is told of a tree that another process of this machine serves; a context manager."""

    def __init__(self, folder: Path) -> None:
        """Connect.

        Raises:
            OSError: nobody serves the tree in `folder` here.
            EnvironmentLacksError: who serves it does not answer.

        """
        self._line = _Line(folder)
        self.queries = WatchedQueries(self)
        self.lateness = WatchedLateness(self)
        # Once it is answered, the server knows of this reader, and tells it of all that comes.
        try:
            self.catch_up()
        except BaseException:
            self._line.close()
            raise

    def __enter__(self) -> "WatchedTree":
        return self

    def __exit__(self, *_: object) -> None:
        self._line.close()

    def catch_up(self) -> None:
        """Read what was told up to now."""
        self._line.catch_up(self.queries, self.lateness)
