"""Serving the tree: one responder for all its addresses, which misbehaves where a zone's plan says so."""

import asyncio
import contextlib
import shlex
import socket
import struct
import textwrap
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self, cast

import dns.exception
import dns.flags
import dns.message
import dns.name

from dnsrig.errors import EnvironmentLacksError
from dnsrig.verification.asker import SocketMaker
from dnsrig.verification.exchange import HEADER_OCTETS, Transport
from dnsrig.verification.lateness import ArrivalSocket, Lateness
from dnsrig.verification.stopping import StoppedError
from dnsrig.verification.tree.answering import answer, truncated, udp_limit
from dnsrig.verification.tree.loaded import LoadedZone
from dnsrig.verification.tree.making import PREFIX, STEPS_TO_MAKE, Step, Tree, addresses_of, make_tree
from dnsrig.verification.tree.misbehaviour import Bound, Misbehaviour, Reply, Scene
from dnsrig.verification.tree.plan import PLANS
from dnsrig.verification.tree.resolver_files import FILES, require_ours, uses, write_resolver_files
from dnsrig.verification.tree.seen import SeenQueries
from dnsrig.verification.tree.watching import Teller

PORT = 53
NORMAL = Misbehaviour(name="none", does="does nothing wrong")
IDLE_S = 30.0
"""Connections without a query are closed after this time (RFC 7766 section 6.2.3)."""
LATENESS_TOLD_S = 1.0
"""How often it is told that the tree was served late, at most."""


class ZoneFiles(Mapping[dns.name.Name, LoadedZone]):
    """Zones by name, each read from its file when it is first asked for, or by `read_all`."""

    def __init__(self, paths: Mapping[dns.name.Name, Path], loaded: dict[dns.name.Name, LoadedZone]) -> None:
        self._paths, self._loaded = paths, loaded

    def __getitem__(self, name: dns.name.Name) -> LoadedZone:
        if name not in self._paths:
            raise KeyError(name)
        if name not in self._loaded:
            self._loaded[name] = LoadedZone.read(name.to_text(), self._paths[name])
        return self._loaded[name]

    def read_all(self, step: Step = lambda: None) -> None:
        """Read all files: reading one takes up to a second, in which nobody would be answered."""
        for name in self._paths:
            self[name]
            step()

    def __iter__(self) -> Iterator[dns.name.Name]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)


class TreeServer:
    """Serves a tree on its addresses; a context manager that runs in a thread of its own.

    `make_socket` makes sockets in a namespace of the rig whose loopback, or another link, has the addresses. In the
    folder `told_in`, other processes can read what comes (`watching`).
    """

    def __init__(
        self,
        tree: Tree,
        make_socket: SocketMaker = socket.socket,
        port: int = PORT,
        lateness: Lateness | None = None,
        told_in: Path | None = None,
    ) -> None:
        self.tree = tree
        self.lateness = lateness or Lateness()
        """When it answered late."""
        self.port = port
        self.seen = SeenQueries()
        self.bound: list[Bound] = [bound for zone in tree.zones for bound in zone.plan.bound]
        """What is done wrong, for which names; items and tests may add to it, the first that fits counts."""
        self._files = ZoneFiles({zone.plan.origin: zone.path for zone in tree.zones}, tree.loaded)
        self.zones: Mapping[dns.name.Name, LoadedZone] = self._files
        self.zones_of: list[Mapping[dns.name.Name, LoadedZone]] = [
            ZoneFiles({zone.plan.origin: zone.path for zone in tree.zones if index in zone.plan.servers}, tree.loaded)
            for index, _ in enumerate(tree.addresses)
        ]
        """The zones of each address."""
        self._make_socket = make_socket
        self._teller = None if told_in is None else Teller(told_in, self.lateness)
        """Tells other processes what comes."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="tree", daemon=True)
        self._datagrams: list[asyncio.DatagramTransport] = []
        self._other_ports: list[asyncio.DatagramTransport] = []
        """On the same addresses; only forged responses come from these."""
        self._servers: list[asyncio.Server] = []
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def told_to_nobody(self) -> str:
        """Why other processes cannot be told what comes, where that was wanted."""
        return "" if self._teller is None else self._teller.trouble

    def read_zones(self, step: Step) -> None:
        """Read all zones, as entering does where that was not done."""
        self._files.read_all(step)

    def __enter__(self) -> Self:
        self._files.read_all()
        self._thread.start()
        try:
            asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result()
        except BaseException as error:
            self.__exit__(None, None, None)
            if isinstance(error, OSError):
                raise _not_served(self.tree.addresses, self.port, error) from error
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _listen(self) -> None:
        for index, address in enumerate(self.tree.addresses):
            udp = self._bound_socket(address, socket.SOCK_DGRAM)
            channel = ArrivalSocket(udp, self.lateness)
            datagrams, _ = await self._loop.create_datagram_endpoint(self._protocol(index, channel), sock=channel)
            self._datagrams.append(datagrams)
            other = self._bound_socket(address, socket.SOCK_DGRAM, 0)
            other_port, _ = await self._loop.create_datagram_endpoint(asyncio.DatagramProtocol, sock=other)
            self._other_ports.append(other_port)
            tcp = self._bound_socket(address, socket.SOCK_STREAM)
            self._servers.append(await asyncio.start_server(self._connection(index), sock=tcp))
        if self._teller is not None:
            await self._teller.start()
        self._keep(self._loop.create_task(self.lateness.watch()))

    def _keep(self, task: "asyncio.Task[None]") -> None:
        """Let a task be ended with the server."""
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _protocol(self, index: int, channel: ArrivalSocket) -> "Callable[[], _Datagrams]":
        return lambda: _Datagrams(self, index, channel)

    def _bound_socket(self, address: str, kind: socket.SocketKind, port: int | None = None) -> socket.socket:
        channel = self._make_socket(socket.AF_INET, kind)
        try:
            channel.setblocking(False)
            if kind == socket.SOCK_STREAM:
                channel.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            channel.bind((address, self.port if port is None else port))
        except BaseException:
            channel.close()
            raise
        return channel

    async def _close(self) -> None:
        if self._teller is not None:
            await self._teller.close()
        for datagrams in (*self._datagrams, *self._other_ports):
            datagrams.close()
        for server in self._servers:
            server.close()
        tasks = [*self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def misbehaviour(self, index: int, name: dns.name.Name) -> Misbehaviour:
        """Say what an address does wrong with a name."""
        return next((one.misbehaviour for one in self.bound if one.fits(index, name)), NORMAL)

    def respond(self, wire: bytes, transport: Transport, index: int, source: tuple[str, int]) -> Reply:
        """Give what is sent for a query."""
        try:
            query = dns.message.from_wire(wire)
        except dns.exception.DNSException:
            is_query = len(wire) >= HEADER_OCTETS and not wire[2] & 0x80
            return Reply((), _format_error(wire) if is_query else None, NORMAL)
        if query.flags & dns.flags.QR:
            return Reply((), None, NORMAL)
        if len(query.question) != 1:
            return Reply((), answer(query, self.zones_of[index]).to_wire(), NORMAL)
        seen = self.seen.add(query, wire, transport, self.tree.addresses[index], source)
        if self._teller is not None:
            self._teller.tell(seen)
        wrong = self.misbehaviour(index, query.question[0].name)
        scene = Scene(query, answer(query, self.zones_of[index]), transport, self.zones)
        ahead = wrong.ahead(scene) if wrong.ahead and transport == "udp" else []
        response = wrong.change(scene) if wrong.change else scene.response
        if response is None or (transport == "tcp" and wrong.refuses_tcp):
            return Reply(ahead, None, wrong)
        limit = udp_limit(query) if transport == "udp" else 65_535
        made = truncated(response, limit)
        return Reply(ahead, wrong.mangle(made) if wrong.mangle else made, wrong)

    def answer_datagram(
        self, wire: bytes, index: int, source: tuple[str, int], channel: asyncio.DatagramTransport
    ) -> None:
        """Answer a datagram, later where the server is slow."""
        reply = self.respond(wire, "udp", index, source)
        match reply.wrong.ahead_from:
            case "address":
                forging = self._datagrams[(index + 1) % len(self._datagrams)]
            case "port":
                forging = self._other_ports[index]
            case _:
                forging = channel
        for message in reply.ahead:
            forging.sendto(message, source)
        if reply.response is not None:
            self._loop.call_later(reply.wrong.delay_s, channel.sendto, reply.response, source)

    def _connection(self, index: int) -> "Callable[[asyncio.StreamReader, asyncio.StreamWriter], asyncio.Future[None]]":
        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> asyncio.Future[None]:
            task = self._loop.create_task(self._serve_connection(index, reader, writer))
            self._keep(task)
            return task

        return accept

    async def _serve_connection(self, index: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        source = writer.get_extra_info("peername")
        ended_s = 0.0
        try:
            with contextlib.suppress(asyncio.IncompleteReadError, TimeoutError, asyncio.CancelledError, OSError):
                while True:
                    length = await asyncio.wait_for(reader.readexactly(2), IDLE_S)
                    wire = await asyncio.wait_for(reader.readexactly(struct.unpack("!H", length)[0]), IDLE_S)
                    reply = self.respond(wire, "tcp", index, source)
                    if reply.response is None:
                        return
                    framed = struct.pack("!H", len(reply.response)) + reply.response
                    if reply.wrong.delay_s:
                        # Others on the same connection do not wait for a slow one (RFC 7766 section 6.2.1.1).
                        self._loop.call_later(reply.wrong.delay_s, _write, writer, framed)
                        ended_s = max(ended_s, self._loop.time() + reply.wrong.delay_s)
                        continue
                    writer.write(framed)
                    await writer.drain()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(ended_s - self._loop.time())
        finally:
            writer.close()


def _write(writer: asyncio.StreamWriter, framed: bytes) -> None:
    """Write what comes late, where the connection is still there."""
    if not writer.is_closing():
        writer.write(framed)


class _Datagrams(asyncio.DatagramProtocol):
    def __init__(self, server: TreeServer, index: int, arriving: ArrivalSocket) -> None:
        self._server, self._index, self._arriving = server, index, arriving
        self._channel: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._channel = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        if self._channel is not None:
            self._server.answer_datagram(data, self._index, addr, self._channel)
            self._arriving.note_done()


def _format_error(wire: bytes) -> bytes:
    """Give a FORMERR with the ID of a query that cannot be parsed."""
    return wire[:2] + bytes([0x80 | (wire[2] & 0x79), 1]) + bytes(8)


def _not_served(addresses: Sequence[str], port: int, error: OSError) -> EnvironmentLacksError:
    return EnvironmentLacksError(
        f"the tree cannot be served on {addresses[0]} and the addresses after it, port {port}: "
        f"{error.strerror or error}; it takes root, or a namespace of the rig"
    )


def _try_addresses(addresses: Sequence[str], port: int) -> None:
    """Take the port of each address for a moment.

    Raises:
        EnvironmentLacksError: one cannot be taken.

    """
    for address in addresses:
        for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
            with socket.socket(socket.AF_INET, kind) as channel:
                if kind == socket.SOCK_STREAM:
                    channel.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    channel.bind((address, port))
                except OSError as error:
                    raise _not_served(addresses, port, error) from error


STEPS = STEPS_TO_MAKE + len(PLANS)
"""Of preparing to serve a tree: its zones are read as well."""


def prepare_tree(
    folder: Path,
    stop: threading.Event,
    show: Callable[[int], None] = lambda _: None,
    prefix: str = PREFIX,
    port: int = PORT,
) -> TreeServer | None:
    """Make the tree below `folder`, or find it there, and read its zones; None if `stop` was set meanwhile.

    `show` is called with the number of STEPS that are done.

    Raises:
        EnvironmentLacksError: the addresses, or their port 53, cannot be had.
        InputError: in `folder` are files of others that have the names of those that resolvers read.

    """
    done = 0

    def step() -> None:
        nonlocal done
        if stop.is_set():
            raise StoppedError
        done += 1
        show(done)

    # Before the tree is made, which takes a while.
    require_ours(folder)
    _try_addresses(addresses_of(prefix), port)
    try:
        server = TreeServer(make_tree(folder, prefix, step=step), port=port, told_in=folder)
        done = STEPS_TO_MAKE
        server.read_zones(step)
    except StoppedError:
        return None
    return server


def serve_tree(server: TreeServer, folder: Path, stop: threading.Event, tell: Callable[[str], None] = print) -> None:
    """Serve what was prepared in `folder` until `stop` is set; `tell` what to point a resolver at.

    Into `folder` are written files that resolvers read (`resolver_files`). That it answered late is told too: who
    verifies by it in another process does not see that.

    Raises:
        EnvironmentLacksError: the addresses, or their port 53, cannot be had.

    """
    tree = server.tree
    told_s = server.lateness.clock()
    with server:
        tell(f"The tree is served on {', '.join(tree.addresses)}, port {server.port}.")
        write_resolver_files(tree, folder)
        if server.told_to_nobody:
            tell(f"What the tree is asked cannot be told to dnsrig verify resolver: {server.told_to_nobody}.")
        tell(f"In {folder} are:")
        for name, what in FILES.items():
            tell(f"  {name:<14}{what}")
        for use in uses(folder):
            tell(f"{use.where}:")
            tell(textwrap.indent(use.lines.rstrip(), "  "))
        tell("Debian's AppArmor profiles let named read below /etc/bind, Unbound below /etc/unbound: not any folder.")
        tell("No other trust anchor of the root may be configured, and queries to these addresses must be allowed.")
        tell(f"Then: dnsrig verify resolver ADDRESS --tree {shlex.quote(str(folder))} (Ctrl-C ends serving)")
        while not stop.wait(LATENESS_TOLD_S):
            now_s = server.lateness.clock()
            if late := server.lateness.since(told_s):
                tell(f"{late.sentence} What failed just now may not be the resolver's fault: run it again.")
            told_s = now_s
