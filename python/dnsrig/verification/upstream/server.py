"""Serves the upstream by UDP and TCP, and keeps what came with what was sent."""

import asyncio
import contextlib
import ipaddress
import secrets
import socket
import struct
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

import dns.exception
import dns.message
import dns.name
import dns.tsig

from dnsrig.verification.asker import SocketMaker
from dnsrig.verification.exchange import HEADER_OCTETS, Endpoint, Transport
from dnsrig.verification.lateness import ArrivalSocket, Lateness
from dnsrig.verification.upstream import names
from dnsrig.verification.upstream.answering import Answering, forged
from dnsrig.verification.upstream.garbling import garble
from dnsrig.verification.upstream.signer import Signer

PORT_ATTEMPTS = 50
IDLE_S = 30.0
PIECE_OCTETS, PIECES_GAP_S = 20, 0.15
TSIG_NAME = "dnsrig-key."
NEIGHBOUR = 64
"""The bit that an address differs in from which forged responses come."""
TRANSPARENT = {4: (socket.IPPROTO_IP, 19), 6: (socket.IPPROTO_IPV6, 75)}
"""Level and number of IP_TRANSPARENT and IPV6_TRANSPARENT (linux/in.h, linux/in6.h)."""


@dataclass(frozen=True, slots=True)
class Forwarded:
    """A query as it came to the upstream, and what that sent back."""

    query: bytes
    response: bytes
    transport: Transport
    source: Endpoint
    """The client's address and port, which is the proxy's."""
    at_s: float
    """When it came, by the monotonic clock."""

    @property
    def asked(self) -> dns.message.Message:
        """The query, parsed, its TSIG unchecked."""
        return dns.message.from_wire(self.query, keyring=False, continue_on_error=True)

    @property
    def answer(self) -> dns.message.Message:
        """The response, parsed."""
        return dns.message.from_wire(self.response, keyring=False)


@dataclass
class Upstream:
    """A server that answers any name below `ORIGIN` by what the name says. Use it as a context manager."""

    address: str = "127.0.0.1"
    port: int = 0
    """0 takes a free one."""
    make_socket: SocketMaker = socket.socket
    signer: Signer = field(default_factory=Signer)
    tsig_key: dns.tsig.Key = field(default_factory=lambda: dns.tsig.Key(TSIG_NAME, secrets.token_bytes(32)))
    """Signs responses to queries that are signed with it (RFC 8945)."""
    lateness: Lateness = field(default_factory=Lateness)
    """When it answered late."""
    forged: set[str] = field(default_factory=set, repr=False)
    """Of what names say that is to be forged, what has been sent."""
    _seen: dict[dns.name.Name, list[Forwarded]] = field(default_factory=dict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def __post_init__(self) -> None:
        self._answering = Answering(self.signer, self.tsig_key)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="upstream", daemon=True)
        self._tasks: set[asyncio.Task[None]] = set()
        self._datagrams: asyncio.DatagramTransport | None = None
        self._server: asyncio.Server | None = None

    @property
    def endpoint(self) -> Endpoint:
        """Where it listens, known once it has been entered."""
        return Endpoint(self.address, self.port)

    def seen(self, name: dns.name.Name) -> Sequence[Forwarded]:
        """Give what came for a name, whatever its case, in its order."""
        with self._lock:
            return list(self._seen.get(name, ()))

    def everything(self) -> Sequence[Forwarded]:
        """Give all that came."""
        with self._lock:
            return [one for forwarded in self._seen.values() for one in forwarded]

    def __enter__(self) -> Self:
        self._thread.start()
        try:
            asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result()
        except BaseException:
            self._stop_loop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()
        self._stop_loop()

    def _stop_loop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _listen(self) -> None:
        udp, tcp = self._sockets()
        channel = ArrivalSocket(udp, self.lateness)
        self._datagrams, _ = await self._loop.create_datagram_endpoint(lambda: _Datagrams(self, channel), sock=channel)
        self._server = await asyncio.start_server(self._serve_connection, sock=tcp)
        self._keep(self._loop.create_task(self.lateness.watch()))

    def _keep(self, task: "asyncio.Task[None]") -> None:
        """Let a task be ended with the server."""
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _sockets(self) -> tuple[socket.socket, socket.socket]:
        """Take one port for both transports."""
        for attempt in range(PORT_ATTEMPTS):
            udp = self._bound(socket.SOCK_DGRAM, self.port)
            port = udp.getsockname()[1]
            try:
                tcp = self._bound(socket.SOCK_STREAM, port)
            except OSError:
                udp.close()
                if self.port or attempt == PORT_ATTEMPTS - 1:
                    raise
                continue
            self.port = port
            return udp, tcp
        raise AssertionError("unreachable")

    def _bound(self, kind: socket.SocketKind, port: int) -> socket.socket:
        channel = self.make_socket(socket.AF_INET6 if ":" in self.address else socket.AF_INET, kind)
        try:
            channel.setblocking(False)
            if kind == socket.SOCK_STREAM:
                channel.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            channel.bind((self.address, port))
        except BaseException:
            channel.close()
            raise
        return channel

    async def _close(self) -> None:
        if self._datagrams is not None:
            self._datagrams.close()
        if self._server is not None:
            self._server.close()
        tasks = [*self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def respond(self, query: bytes, transport: Transport, source: Endpoint) -> bytes | None:
        """Give the response to a query and keep both; nothing for what cannot be a query."""
        if len(query) < HEADER_OCTETS:
            return None
        try:
            response = self._answering.respond(query, transport)
            question = dns.message.from_wire(query, question_only=True).question
        except (dns.exception.DNSException, ValueError):
            return None
        if response is not None and question:
            forwarded = Forwarded(query, response, transport, source, time.monotonic())
            with self._lock:
                self._seen.setdefault(question[0].name, []).append(forwarded)
        return response

    def answer_datagram(self, query: bytes, sender: tuple[str, int]) -> None:
        """Answer a datagram, after one that is forged where its name says so."""
        with contextlib.suppress(dns.exception.DNSException, ValueError):
            self._forge(query, sender)
        response = self.respond(query, "udp", Endpoint(sender[0], sender[1]))
        if response is None:
            return
        response = _garbled(query, response)
        late_s = _late_s(query)
        if late_s:
            self._loop.call_later(late_s, self._send, response, sender)
        else:
            self._send(response, sender)

    def _send(self, response: bytes, sender: tuple[str, int]) -> None:
        # What is late may come after all has been closed.
        if self._datagrams is not None and not self._datagrams.is_closing():
            self._datagrams.sendto(response, sender)

    def _forge(self, query: bytes, sender: tuple[str, int]) -> None:
        found = forged(query)
        if found is None or self._datagrams is None:
            return
        what, message = found
        if what in {names.FORGED_SOURCE, names.FORGED_HOST}:
            with contextlib.suppress(OSError):
                with self._bound(socket.SOCK_DGRAM, 0) if what == names.FORGED_SOURCE else self._neighbour() as other:
                    other.sendto(message, sender)
                self.forged.add(what)
            return
        self._datagrams.sendto(message, sender)
        self.forged.add(what)

    def _neighbour(self) -> socket.socket:
        """Make a socket with another address and the same port; OSError where this machine may not.

        On links that are not the rig's own, that address may be somebody else's.
        """
        address = ipaddress.ip_address(self.address)
        if self.make_socket is socket.socket and not address.is_loopback:
            raise PermissionError(f"{address} is on a link that is not the rig's own")
        other = str(type(address)(int(address) ^ NEIGHBOUR))
        channel = self.make_socket(socket.AF_INET6 if address.version == 6 else socket.AF_INET, socket.SOCK_DGRAM)
        try:
            channel.setblocking(False)
            # Without it, an address that this machine has not is bound on loopback alone; it takes CAP_NET_ADMIN.
            with contextlib.suppress(PermissionError):
                channel.setsockopt(*TRANSPARENT[address.version], 1)
            channel.bind((other, self.port))
        except BaseException:
            channel.close()
            raise
        return channel

    async def _serve_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._keep(task)
        peer = writer.get_extra_info("peername")
        try:
            with contextlib.suppress(asyncio.IncompleteReadError, asyncio.CancelledError, TimeoutError, OSError):
                while True:
                    length = await asyncio.wait_for(reader.readexactly(2), IDLE_S)
                    query = await asyncio.wait_for(reader.readexactly(struct.unpack("!H", length)[0]), IDLE_S)
                    response = self.respond(query, "tcp", Endpoint(peer[0], peer[1]))
                    if response is None:
                        break
                    for part in _parts(query, struct.pack("!H", len(response)) + response):
                        writer.write(part)
                        await writer.drain()
                        await asyncio.sleep(PIECES_GAP_S if len(part) < len(response) else 0)
        finally:
            writer.close()


def _late_s(query: bytes) -> float:
    """Give how much later the response to a query comes by UDP, as its name says."""
    word, number = _said(query)
    return number / 1e3 if word == names.LATE else 0.0


def _garbled(query: bytes, response: bytes) -> bytes:
    """Give what a response becomes by UDP, as the query's name says."""
    word, kind = _said(query)
    return garble(response, kind) if word == names.GARBLED else response


def _said(query: bytes) -> tuple[str, int]:
    asked = dns.message.from_wire(query, question_only=True).question
    return names.said(asked[0].name) if asked else (names.PLAIN, 0)


def _parts(query: bytes, framed: bytes) -> Sequence[bytes]:
    """Cut a response by TCP, its length before it, into the segments that its name says."""
    if _said(query)[0] != names.PIECES:
        return [framed]
    return [framed[:1], framed[1:PIECE_OCTETS], framed[PIECE_OCTETS:]]


class _Datagrams(asyncio.DatagramProtocol):
    def __init__(self, upstream: Upstream, channel: ArrivalSocket) -> None:
        self._upstream = upstream
        self._channel = channel

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        self._upstream.answer_datagram(data, addr)
        self._channel.note_done()
