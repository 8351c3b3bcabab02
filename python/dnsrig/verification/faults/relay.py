"""A relay between clients and a server that is right, which has a fault."""

import asyncio
import contextlib
import math
import socket
import struct
import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self, cast

import dns.exception
import dns.message
import dns.rcode
import dns.rdatatype
import dns.tsig

from dnsrig.verification.exchange import HEADER_OCTETS, Endpoint, Transport
from dnsrig.verification.faults.fault import Fault, Passage
from dnsrig.verification.faults.signed_transfers import SignedTransfer
from dnsrig.verification.transfer import Course
from dnsrig.verification.wire import POINTER, QUESTION_OCTETS

UPSTREAM_WAIT_S = 5.0
LARGEST_MESSAGE = 65_535
PORT_ATTEMPTS = 50
DISCARD_WAIT_S = 0.05
"""How long after a response by TCP what has come since its query is looked for, to be thrown away."""
ONCE_S = 1.0
SURELY_S = 0.03
"""A query that waits for so long is under way; others may have come after the response."""
NO_FAULT = Fault(name="none", does="does nothing wrong", roles=())


class Relay:
    """Listens on UDP and TCP, passes queries to `upstream` and responses back, changed as `fault` says.

    Use it as a context manager. It runs in a thread of its own and listens on loopback, or where `make_socket` makes
    its sockets: in a namespace of the rig. Where both sides sign zone transfers by the key `tsig`, it does so too.
    """

    def __init__(
        self,
        upstream: Endpoint,
        fault: Fault = NO_FAULT,
        address: str = "127.0.0.1",
        port: int = 0,
        make_socket: Callable[[socket.AddressFamily, socket.SocketKind], socket.socket] = socket.socket,
        *,
        tsig: dns.tsig.Key | None = None,
        outer: Sequence[str] = (),
    ) -> None:
        self.upstream = upstream
        self.fault = fault
        self.seen: list[Passage] = []
        """Every query that came, with the response that the server that is right gave."""
        self._address, self._port = address, port
        self._make_socket = make_socket
        self._tsig = tsig
        self._outer = outer
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="relay", daemon=True)
        self._tasks: set[asyncio.Task[None]] = set()
        self._datagrams: list[asyncio.DatagramTransport] = []
        self._server: asyncio.Server | None = None
        self._other_source: socket.socket | None = None
        self._memory: set[str] = set()
        self._cache: dict[object, tuple[bytes, float]] = {}
        self._fixed_port = 0
        self._one_by_one = asyncio.Lock()
        self._one_connection = asyncio.Lock()
        self._under_way = 0
        self._last = b""
        self._senders: dict[bytes, tuple[str, int]] = {}
        """Who used an ID last."""
        self._heard_s: dict[tuple[str, int], float] = {}
        """When a client sent something last, by the loop's clock."""
        self._closed_s: dict[tuple[str, int], float] = {}
        """When a client got its last response by UDP, by the loop's clock."""

    @property
    def endpoint(self) -> Endpoint:
        """Where it listens, known once it has been entered."""
        return Endpoint(self._address, self._port)

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
        await self._listen_on(udp, lambda query: True)
        for address in self._outer:
            await self._listen_outside(address)
        if self.fault.other_source_port:
            self._other_source = self._bound(socket.SOCK_DGRAM, 0)
        if tcp is not None:
            self._server = await asyncio.start_server(self._serve_connection, sock=tcp)

    async def _listen_outside(self, address: str) -> None:
        answers = self.fault.answers_outside
        if answers is not None:
            channel = self._bound(socket.SOCK_DGRAM, self._port, address)
            await self._listen_on(channel, lambda query: answers(query, ":" in address))

    async def _listen_on(self, channel: socket.socket, answers: Callable[[bytes], bool]) -> None:
        """Answer by UDP on a socket what is to be answered."""
        transport, _ = await self._loop.create_datagram_endpoint(lambda: _Datagrams(self, answers), sock=channel)
        self._datagrams.append(transport)

    def _sockets(self) -> tuple[socket.socket, socket.socket | None]:
        """Take one port for both transports."""
        for attempt in range(PORT_ATTEMPTS):
            udp = self._bound(socket.SOCK_DGRAM, self._port)
            port = udp.getsockname()[1]
            if self.fault.refuses_tcp:
                self._port = port
                return udp, None
            try:
                tcp = self._bound(socket.SOCK_STREAM, port)
            except OSError:
                udp.close()
                if self._port or attempt == PORT_ATTEMPTS - 1:
                    raise
                continue
            self._port = port
            return udp, tcp
        raise AssertionError("unreachable")

    def _bound(self, kind: socket.SocketKind, port: int, address: str | None = None) -> socket.socket:
        address = address or self._listening_address
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        channel = self._make_socket(family, kind)
        try:
            channel.setblocking(False)
            if kind == socket.SOCK_STREAM:
                channel.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            channel.bind((address, port))
        except BaseException:
            channel.close()
            raise
        return channel

    @property
    def _listening_address(self) -> str:
        if not self.fault.listens_everywhere:
            return self._address
        return "::" if ":" in self._address else "0.0.0.0"

    async def _close(self) -> None:
        for transport in self._datagrams:
            transport.close()
        if self._server is not None:
            self._server.close()
        if self._other_source is not None:
            self._other_source.close()
        tasks = [*self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def start_task(self, query: bytes, sender: tuple[str, int], back: asyncio.DatagramTransport) -> None:
        """Answer a datagram by the socket on which it came."""
        task = self._loop.create_task(self._answer_datagram(query, sender, back))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer_datagram(self, query: bytes, sender: tuple[str, int], back: asyncio.DatagramTransport) -> None:
        if self.fault.most_at_once and self._under_way >= self.fault.most_at_once:
            return
        if self.fault.answers_once_a_port and self._is_too_soon(sender):
            return
        came_s = self._loop.time()
        self._under_way += 1
        self._senders[query[:2]] = sender
        try:
            response = await self._pass_on(query, "udp")
            if self.fault.delay_s:
                await asyncio.sleep(self.fault.delay_s)
        finally:
            self._under_way -= 1
        if response is None or (self.fault.closes_after_response and self._is_closed(sender, came_s)):
            return
        if self.fault.swaps_beyond:
            response = self._of_another(response)
        if self.fault.mixes_clients:
            sender = self._senders.get(response[:2], sender)
        if self._other_source is not None:
            await self._loop.sock_sendto(self._other_source, response, sender)
        else:
            for _ in range(2 if self.fault.answers_twice else 1):
                back.sendto(response, sender)

    def _is_too_soon(self, sender: tuple[str, int]) -> bool:
        now_s = self._loop.time()
        before_s = self._heard_s.get(sender[:2], -math.inf)
        self._heard_s[sender[:2]] = now_s
        return now_s - before_s < ONCE_S

    def _is_closed(self, sender: tuple[str, int], came_s: float) -> bool:
        """Say whether the client got a response while its query was waiting; if not, it gets one now."""
        closed = self._closed_s.get(sender[:2], -math.inf) > came_s + SURELY_S
        if not closed:
            self._closed_s[sender[:2]] = self._loop.time()
        return closed

    def _of_another(self, response: bytes) -> bytes:
        """Give the response that came before, with the ID of this one, while many queries are under way."""
        other, self._last = self._last, response
        return response[:2] + other[2:] if other and self._under_way > self.fault.swaps_beyond else response

    async def _serve_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        turn: contextlib.AbstractAsyncContextManager[None] = contextlib.nullcontext()
        if self.fault.serves_one_connection:
            turn = self._one_connection
        try:
            with contextlib.suppress(asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
                async with turn:
                    await self._serve_queries(reader, writer)
        finally:
            writer.close()

    async def _serve_queries(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer what comes by a connection, until its end or until the fault closes it."""
        while True:
            query = await self._read_query(reader)
            signed = SignedTransfer.of(query, self._tsig)
            if signed is not None or is_transfer(query):
                await self._transfer(query if signed is None else signed.query, writer, signed)
                continue
            response = await self._pass_on(query, "tcp")
            if response is not None:
                writer.write(struct.pack("!H", len(response)) + response)
                await writer.drain()
            if self.fault.closes_tcp_after_one:
                return
            if self.fault.discards_pipelined:
                await self._discard(reader)

    async def _read_query(self, reader: asyncio.StreamReader) -> bytes:
        """Read a query by TCP; IncompleteReadError at the end of the connection, or where the fault gives up."""
        if not self.fault.needs_whole_queries:
            return await reader.readexactly(struct.unpack("!H", await reader.readexactly(2))[0])
        part = await reader.read(LARGEST_MESSAGE)
        if len(part) < 2 or len(part) != 2 + int.from_bytes(part[:2]):
            raise asyncio.IncompleteReadError(part, None)
        return part[2:]

    @staticmethod
    async def _discard(reader: asyncio.StreamReader) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(reader.read(LARGEST_MESSAGE), DISCARD_WAIT_S)

    async def _transfer(self, query: bytes, writer: asyncio.StreamWriter, signed: SignedTransfer | None = None) -> None:
        """Pass a zone transfer on, message by message: its response has as many as the zone takes."""
        begun = Passage(query, "tcp", memory=self._memory, cache=self._cache)
        self.seen.append(begun)
        asked = query if self.fault.on_query is None else self.fault.on_query(begun)
        if asked is None:
            return
        asked = asked if signed is None else signed.to_server(asked)
        course = _course_of(query)
        family = socket.AF_INET6 if ":" in self.upstream.address else socket.AF_INET
        with contextlib.suppress(OSError, TimeoutError), self._make_socket(family, socket.SOCK_STREAM) as channel:
            channel.setblocking(False)
            async with asyncio.timeout(UPSTREAM_WAIT_S):
                await self._loop.sock_connect(channel, (self.upstream.address, self.upstream.port))
                await self._loop.sock_sendall(channel, struct.pack("!H", len(asked)) + asked)
                while not course.is_over:
                    length = struct.unpack("!H", await self._exactly(channel, 2))[0]
                    came = await self._exactly(channel, length)
                    came = came if signed is None else signed.from_server(came)
                    passage = Passage(query, "tcp", came, memory=self._memory, cache=self._cache)
                    _go_on(course, came)
                    change = self.fault.on_response if self.fault.changes_transfers else None
                    response = came if change is None else change(passage)
                    if response is not None:
                        response = response if signed is None else signed.to_client(response)
                        writer.write(struct.pack("!H", len(response)) + response)
                        await writer.drain()

    async def _pass_on(self, query: bytes, transport: Transport) -> bytes | None:
        passage = Passage(query, transport, memory=self._memory, cache=self._cache)
        self.seen.append(passage)
        asked: bytes | None = query
        if self.fault.on_query is not None:
            asked = self.fault.on_query(passage)
        if passage.instead is not None:
            return passage.instead
        if asked is None:
            return None
        try:
            passage.response = await asyncio.wait_for(self._ask(asked, transport), UPSTREAM_WAIT_S)
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            return None
        if self.fault.on_response is None:
            return passage.response
        return self.fault.on_response(passage)

    async def _ask(self, query: bytes, transport: Transport) -> bytes:
        if transport == "tcp":
            return await self._ask_by_tcp(query)
        if self.fault.fixed_source_port:
            async with self._one_by_one:
                return await self._ask_by_udp(query)
        return await self._ask_by_udp(query)

    async def _ask_by_udp(self, query: bytes) -> bytes:
        family = socket.AF_INET6 if ":" in self.upstream.address else socket.AF_INET
        with self._make_socket(family, socket.SOCK_DGRAM) as channel:
            channel.setblocking(False)
            if self.fault.fixed_source_port and self._fixed_port:
                channel.bind(("", self._fixed_port))
            if self.fault.believes in {"source", "address"}:
                await self._loop.sock_sendto(channel, query, (self.upstream.address, self.upstream.port))
            else:
                await self._loop.sock_connect(channel, (self.upstream.address, self.upstream.port))
                if self.fault.fixed_source_port:
                    self._fixed_port = channel.getsockname()[1]
                await self._loop.sock_sendall(channel, query)
            while True:
                response, source = await self._loop.sock_recvfrom(channel, LARGEST_MESSAGE)
                if self.fault.believes == "address" and source[1] != self.upstream.port:
                    continue
                if self.fault.believes == "id":
                    return query[:2] + response[2:]
                if response[:2] == query[:2] and (self.fault.believes == "question" or is_to(query, response)):
                    return response

    async def _ask_by_tcp(self, query: bytes) -> bytes:
        family = socket.AF_INET6 if ":" in self.upstream.address else socket.AF_INET
        with self._make_socket(family, socket.SOCK_STREAM) as channel:
            channel.setblocking(False)
            await self._loop.sock_connect(channel, (self.upstream.address, self.upstream.port))
            await self._loop.sock_sendall(channel, struct.pack("!H", len(query)) + query)
            if self.fault.needs_whole_responses:
                part = await self._loop.sock_recv(channel, LARGEST_MESSAGE)
                if len(part) < 2 or len(part) != 2 + int.from_bytes(part[:2]):
                    raise asyncio.IncompleteReadError(part, None)
                return part[2:]
            length = struct.unpack("!H", await self._exactly(channel, 2))[0]
            return await self._exactly(channel, length)

    async def _exactly(self, channel: socket.socket, octets: int) -> bytes:
        found = b""
        while len(found) < octets:
            part = await self._loop.sock_recv(channel, octets - len(found))
            if not part:
                raise asyncio.IncompleteReadError(found, octets)
            found += part
        return found


def is_to(query: bytes, response: bytes) -> bool:
    """Say whether a response has the question of a query, or none; what cannot be read is let pass."""
    if _question_octets(query) == _question_octets(response) != b"":
        return True
    try:
        asked, came = (dns.message.from_wire(one, question_only=True).question for one in (query, response))
    except (dns.exception.DNSException, ValueError):
        return True
    return not came or asked == came


def _question_octets(message: bytes) -> bytes:
    """Give the only question of a message as it stands there; b"" where that is not to be seen at once."""
    if message[4:6] != b"\0\1":
        return b""
    at = HEADER_OCTETS
    while at < len(message) and 0 < message[at] < POINTER:
        at += message[at] + 1
    end = at + 1 + QUESTION_OCTETS
    return message[HEADER_OCTETS:end] if end <= len(message) and message[at] == 0 else b""


def is_transfer(query: bytes) -> bool:
    """Say whether a query is for a zone transfer (AXFR)."""
    try:
        question = dns.message.from_wire(query).question
    except (dns.exception.DNSException, ValueError):
        return False
    return bool(question) and question[0].rdtype == dns.rdatatype.AXFR


def _course_of(query: bytes) -> Course:
    """Give what tells where the transfer ends that a query is for."""
    (asked,) = dns.message.from_wire(query).question
    return Course(asked.name, is_incremental=asked.rdtype == dns.rdatatype.IXFR)


def _go_on(course: Course, response: bytes) -> None:
    """Note the records of a message; what is no transfer, or cannot be read, ends it too."""
    try:
        message = dns.message.from_wire(response, one_rr_per_rrset=True)
    except (dns.exception.DNSException, ValueError):
        course.is_over = True
        return
    course.note(message.answer)
    course.is_over = course.is_over or message.rcode() != dns.rcode.NOERROR or not message.answer


class _Datagrams(asyncio.DatagramProtocol):
    """Hands what comes on a socket, and is to be answered, to the relay."""

    def __init__(self, relay: Relay, answers: Callable[[bytes], bool]) -> None:
        self._relay = relay
        self._answers = answers
        self._transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # The loop's own has all of its methods, and is none by its class.
        self._transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        if self._transport is not None and self._answers(data):
            self._relay.start_task(data, addr, self._transport)
