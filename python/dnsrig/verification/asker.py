"""Asking a server, so that a lost message is not taken for a fault."""

import contextlib
import errno
import os
import random
import secrets
import socket
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import dns.name

from dnsrig.verification.exchange import HEADER_OCTETS, Endpoint, Exchange, Transport
from dnsrig.verification.habits import SHORT_WAIT_S, Habits
from dnsrig.verification.queries import Query
from dnsrig.verification.stopping import pause, wait_readable, wait_writable

UDP_WAITS_S = (1.0, 2.0, 3.0)
"""How long each try by UDP waits; a response to an earlier try counts too."""
TCP_WAIT_S = 5.0
TCP_TRIES = 2
PART_OCTETS = 8
IN_TIME_TRIES = 5
LATE_PARTS_S = 0.1
"""More than that between segments is late."""
LARGEST_MESSAGE = 65_535
LONGEST_LABEL, LONGEST_NAME = 63, 255
"""Octets (RFC 1035 section 2.3.4)."""
MOST_STRAYS = 100
"""Messages that are no response: by UDP no more are kept, by TCP no more are read."""
LOOK_S = 0.01
"""How long what has come already is looked for."""
SocketMaker = Callable[[socket.AddressFamily, socket.SocketKind], socket.socket]


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks one server, from this machine or from one of the rig's namespaces."""

    server: Endpoint
    make_socket: SocketMaker = socket.socket
    udp_waits_s: Sequence[float] = UDP_WAITS_S
    tcp_wait_s: float = TCP_WAIT_S
    habits: Habits | None = field(default=None, compare=False, repr=False)
    """Shared by what asks the same server; None: each query is waited for in full."""

    def udp(self, query: Query) -> Exchange:
        """Ask by UDP, again until there is a response; for less long if much stays without."""
        if self.habits is None:
            return self._udp(query, self.udp_waits_s)
        waits_s = self.habits.udp_waits_s(query, self.udp_waits_s)
        exchange = self._udp(query, waits_s)
        self.habits.note(exchange, sum(waits_s))
        return exchange

    def _udp(self, query: Query, waits_s: Sequence[float]) -> Exchange:
        sent: dict[int, tuple[bytes, float]] = {}
        strays: list[bytes] = []
        silence = f"none in {' and '.join(f'{wait_s:g} s' for wait_s in waits_s)}"
        message = query.wire(0)
        try:
            with self._socket(socket.SOCK_DGRAM) as channel:
                for wait_s in waits_s:
                    message_id = _new_id(sent)
                    message = _with_id(message, message_id)
                    sent[message_id] = (message, time.monotonic())
                    response, refusal = _try_datagram(channel, message, sent, strays, wait_s)
                    silence = refusal or silence
                    if response is not None:
                        message, at = sent[int.from_bytes(response[:2])]
                        elapsed_ms = (time.monotonic() - at) * 1e3
                        return self._exchange("udp", query, message, response, len(sent), elapsed_ms, "", strays)
        except OSError as error:
            silence = _said(error)
        return self._exchange("udp", query, message, None, max(len(sent), 1), 0.0, silence, strays)

    def udp_in_a_row(self, queries: Sequence[Query], gap_s: float, wait_s: float) -> list[Exchange]:
        """Send each query once by UDP, `gap_s` after the one before; give up `wait_s` after the last."""
        sent: dict[int, tuple[bytes, float]] = {}
        responses: dict[int, tuple[bytes, float]] = {}
        silence = "none to a single try"
        try:
            with self._socket(socket.SOCK_DGRAM) as channel:
                for query in queries:
                    message_id = _new_id(sent)
                    sent[message_id] = query.wire(message_id), time.monotonic()
                    # A refusal (ICMP) of the query before is no reason not to send this one.
                    with contextlib.suppress(OSError):
                        channel.send(sent[message_id][0])
                    is_last = len(sent) == len(queries)
                    _collect(channel, sent, responses, time.monotonic() + (wait_s if is_last else gap_s), is_last)
        except OSError as error:
            silence = _said(error)
        exchanges = []
        for query, (message_id, (message, at)) in zip(queries, sent.items(), strict=False):
            response, came = responses.get(message_id, (None, at))
            said = "" if response is not None else silence
            exchanges.append(self._exchange("udp", query, message, response, 1, (came - at) * 1e3, said, []))
        return exchanges

    def udp_with_one_id(self, queries: Sequence[Query], wait_s: float) -> list[Exchange]:
        """Send each query once by UDP, all at once, each from a port of its own and all with one ID."""
        message_id = _new_id({})
        exchanges: list[Exchange] = []
        with contextlib.ExitStack() as stack:
            asked = []
            for query in queries:
                channel = stack.enter_context(self._socket(socket.SOCK_DGRAM))
                asked.append((query, channel, query.wire(message_id)))
            began = time.monotonic()
            for _, channel, message in asked:
                with contextlib.suppress(OSError):
                    channel.send(message)
            for query, channel, message in asked:
                response, silence = None, f"none in {wait_s:g} s"
                # What came while others were waited for is there already.
                deadline = max(began + wait_s, time.monotonic() + LOOK_S)
                try:
                    response = _receive_datagram(channel, {message_id: (message, began)}, [], deadline)
                except OSError as error:
                    silence = _said(error)
                said = "" if response is not None else silence
                exchanges.append(self._exchange("udp", query, message, response, 1, 0.0, said, []))
        return exchanges

    def tcp(self, query: Query) -> Exchange:
        """Ask by TCP, once more if the connection fails."""
        return self.tcp_pipelined([query])[0]

    def tcp_pipelined(self, queries: Sequence[Query]) -> list[Exchange]:
        """Send all queries over one connection without waiting (RFC 7766 section 6.2.1.1); give responses by query.

        Each response is waited for in full since the one before: a server may take the queries one by one.
        """
        exchanges: list[Exchange] = []
        most_tries, wait_s = self._tcp_patience(queries)
        for tries in range(1, most_tries + 1):
            exchanges = self._tcp_once(queries, tries, wait_s)
            if all(exchange.response is not None for exchange in exchanges):
                break
        self._note(exchanges)
        return exchanges

    def tcp_in_turn(self, queries: Sequence[Query], idle_s: float) -> list[Exchange]:
        """Ask over one connection, each query when the one before is answered and `idle_s` have passed."""
        exchanges: list[Exchange] = []
        most_tries, wait_s = self._tcp_patience(queries)
        for tries in range(1, most_tries + 1):
            exchanges = self._in_turn_once(queries, idle_s, tries, wait_s)
            if all(exchange.response is not None for exchange in exchanges):
                break
        self._note(exchanges)
        return exchanges

    def tcp_in_parts(self, query: Query, gap_s: float) -> Exchange:
        """Ask by TCP with the message in three segments `gap_s` apart, the first of which has half of its length.

        Servers wait half a second for the next segment: where this machine takes long between them, that is no try.
        """
        for _ in range(IN_TIME_TRIES):
            exchange, took_s = self._tcp_in_parts(query, gap_s)
            if exchange.response is not None or took_s < 2 * gap_s + LATE_PARTS_S:
                break
        return exchange

    def _tcp_in_parts(self, query: Query, gap_s: float) -> tuple[Exchange, float]:
        """Ask so once; say how long the segments took to be sent as well, in seconds."""
        silence = f"none in {self.tcp_wait_s:g} s"
        message_id = _new_id({})
        message, at = query.wire(message_id), time.monotonic()
        began, sent = at, at
        framed = struct.pack("!H", len(message)) + message
        response: bytes | None = None
        try:
            with self._socket(socket.SOCK_STREAM, self.tcp_wait_s) as channel:
                channel.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                began = time.monotonic()
                channel.sendall(framed[:1])
                for part in (framed[1:PART_OCTETS], framed[PART_OCTETS:]):
                    pause(gap_s)
                    sent = time.monotonic()
                    channel.sendall(part)
                at = time.monotonic()
                while response is None:
                    came = _receive_framed(channel, at + self.tcp_wait_s)
                    response = came if _is_response(came, {message_id: (message, at)}) else None
        except TimeoutError:
            pass
        except (OSError, EOFError) as error:
            silence = _said(error)
        elapsed_ms = (time.monotonic() - at) * 1e3
        exchange = self._exchange("tcp", query, message, response, 1, elapsed_ms, "" if response else silence, [])
        return exchange, sent - began

    @contextlib.contextmanager
    def tcp_stalled(self, query: Query, connections: int) -> Iterator[None]:
        """Hold so many connections, by each of which a part of a query was sent, and one by which nothing was.

        Raises:
            OSError: there is no connection.

        """
        with contextlib.ExitStack() as stack:
            for _ in range(connections):
                channel = stack.enter_context(self._socket(socket.SOCK_STREAM, self.tcp_wait_s))
                message = query.wire(_new_id({}))
                channel.sendall((struct.pack("!H", len(message)) + message)[:PART_OCTETS])
            stack.enter_context(self._socket(socket.SOCK_STREAM, self.tcp_wait_s))
            yield

    def _tcp_patience(self, queries: Sequence[Query]) -> tuple[int, float]:
        """Give how many tries by TCP there are, and how long each waits."""
        if self.habits is None or not all(self.habits.expects_silence("tcp", query) for query in queries):
            return TCP_TRIES, self.tcp_wait_s
        return 1, min(SHORT_WAIT_S, self.tcp_wait_s)

    def _note(self, exchanges: Sequence[Exchange]) -> None:
        if self.habits is not None:
            for exchange in exchanges:
                self.habits.note(exchange)

    def udp_from_anywhere(self, query: Query) -> tuple[Exchange, Endpoint | None]:
        """Ask by UDP and take a response from any address and port; give those too, None without response."""
        sent: dict[int, tuple[bytes, float]] = {}
        silence = f"none in {' and '.join(f'{wait_s:g} s' for wait_s in self.udp_waits_s)}"
        message = query.wire(0)
        try:
            with self.make_socket(self._family, socket.SOCK_DGRAM) as channel:
                for wait_s in self.udp_waits_s:
                    message_id = _new_id(sent)
                    message = _with_id(message, message_id)
                    sent[message_id] = (message, time.monotonic())
                    channel.sendto(message, (self.server.address, self.server.port))
                    response, sender = _receive_from(channel, sent, time.monotonic() + wait_s)
                    if response is not None:
                        message, at = sent[int.from_bytes(response[:2])]
                        elapsed_ms = (time.monotonic() - at) * 1e3
                        taken = self._exchange("udp", query, message, response, len(sent), elapsed_ms, "", [])
                        return taken, sender
        except OSError as error:
            silence = _said(error)
        return self._exchange("udp", query, message, None, max(len(sent), 1), 0.0, silence, []), None

    def udp_count(self, query: Query, listen_s: float) -> tuple[Exchange, int]:
        """Send a query once by UDP and count the responses until `listen_s` after the first; it waits for that once."""
        message_id = _new_id({})
        message = query.wire(message_id)
        began = time.monotonic()
        sent = {message_id: (message, began)}
        first: bytes | None = None
        count, elapsed_ms, silence = 0, 0.0, f"none in {self.udp_waits_s[0]:g} s"
        try:
            with self._socket(socket.SOCK_DGRAM) as channel:
                channel.send(message)
                deadline = began + self.udp_waits_s[0]
                while (response := _receive_datagram(channel, sent, [], deadline)) is not None:
                    count += 1
                    if first is None:
                        first, now = response, time.monotonic()
                        elapsed_ms, deadline = (now - began) * 1e3, now + listen_s
        except OSError as error:
            silence = _said(error)
        return self._exchange("udp", query, message, first, 1, elapsed_ms, "" if first else silence, []), count

    def send(self, messages: Sequence[bytes]) -> None:
        """Send datagrams and wait for nothing; a refusal (ICMP) by the target does not matter either."""
        with self._socket(socket.SOCK_DGRAM) as channel:
            for message in messages:
                with contextlib.suppress(OSError):
                    channel.send(message)

    def ask(self, query: Query) -> Exchange:
        """Ask by UDP, and by TCP if the response is truncated: what a client sees in the end."""
        exchange = self.udp(query)
        return self.tcp(query) if exchange.is_truncated else exchange

    def _tcp_once(self, queries: Sequence[Query], tries: int, wait_s: float) -> list[Exchange]:
        sent: dict[int, tuple[bytes, float]] = {}
        for query in queries:
            message_id = _new_id(sent)
            sent[message_id] = (query.wire(message_id), time.monotonic())
        responses: dict[int, tuple[bytes, float]] = {}
        strays: list[bytes] = []
        silence = f"none in {wait_s:g} s"
        deadline = time.monotonic() + wait_s
        try:
            with self._socket(socket.SOCK_STREAM, wait_s) as channel:
                channel.sendall(b"".join(struct.pack("!H", len(message)) + message for message, _ in sent.values()))
                while len(responses) < len(sent):
                    _end_flood(strays)
                    response = _receive_framed(channel, deadline)
                    message_id = int.from_bytes(response[:2])
                    if _is_response(response, sent) and message_id not in responses:
                        came_s = time.monotonic()
                        responses[message_id] = (response, came_s)
                        deadline = came_s + wait_s
                    else:
                        strays.append(response)
        except TimeoutError:
            pass
        except (OSError, EOFError) as error:
            silence = _said(error)
        exchanges = []
        for query, (message_id, (message, at)) in zip(queries, sent.items(), strict=True):
            taken, came = responses.get(message_id, (None, at))
            elapsed_ms = (came - at) * 1e3
            exchanges.append(
                self._exchange("tcp", query, message, taken, tries, elapsed_ms, "" if taken else silence, strays)
            )
        return exchanges

    def _in_turn_once(self, queries: Sequence[Query], idle_s: float, tries: int, wait_s: float) -> list[Exchange]:
        exchanges: list[Exchange] = []
        silence = f"none in {wait_s:g} s"
        message = b""
        try:
            with self._socket(socket.SOCK_STREAM, wait_s) as channel:
                for query in queries:
                    if exchanges:
                        pause(idle_s)
                    message_id = _new_id({})
                    message, at = query.wire(message_id), time.monotonic()
                    channel.sendall(struct.pack("!H", len(message)) + message)
                    response = _receive_framed(channel, at + wait_s)
                    while not _is_response(response, {message_id: (message, at)}):
                        response = _receive_framed(channel, at + wait_s)
                    elapsed_ms = (time.monotonic() - at) * 1e3
                    exchanges.append(self._exchange("tcp", query, message, response, tries, elapsed_ms, "", []))
        except TimeoutError:
            pass
        except (OSError, EOFError) as error:
            silence = _said(error)
        unanswered = queries[len(exchanges) :]
        return exchanges + [
            self._exchange("tcp", query, message, None, tries, 0.0, silence, []) for query in unanswered
        ]

    @property
    def _family(self) -> socket.AddressFamily:
        return socket.AF_INET6 if ":" in self.server.address else socket.AF_INET

    def _socket(self, kind: socket.SocketKind, wait_s: float | None = None) -> socket.socket:
        channel = self.make_socket(self._family, kind)
        try:
            if wait_s is not None:
                channel.settimeout(0)
            _connect(channel, (self.server.address, self.server.port), wait_s)
            channel.settimeout(wait_s)
        except BaseException:
            channel.close()
            raise
        return channel

    def _exchange(  # noqa: PLR0917 (the fields of an exchange in their order)
        self,
        transport: Transport,
        query: Query,
        sent: bytes,
        response: bytes | None,
        tries: int,
        elapsed_ms: float,
        silence: str,
        strays: Sequence[bytes],
    ) -> Exchange:
        return Exchange(self.server, transport, query, sent, response, tries, elapsed_ms, silence, tuple(strays))


def _connect(channel: socket.socket, address: tuple[str, int], wait_s: float | None) -> None:
    """Connect; a socket that does not block waits here, where the wait can be ended."""
    failure = channel.connect_ex(address)
    if failure == errno.EINPROGRESS and wait_s is not None:
        if not wait_writable(channel, wait_s):
            raise TimeoutError
        failure = channel.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    if failure:
        raise OSError(failure, os.strerror(failure))


def _new_id(taken: dict[int, tuple[bytes, float]]) -> int:
    """Draw a message ID that cannot be guessed."""
    while (message_id := secrets.randbelow(65_536)) in taken:
        pass
    return message_id


def _with_id(message: bytes, message_id: int) -> bytes:
    """Give a message with another ID: writing it anew would take longer than sending it."""
    return message_id.to_bytes(2) + message[2:]


def _is_response(message: bytes, sent: dict[int, tuple[bytes, float]]) -> bool:
    return len(message) >= HEADER_OCTETS and bool(message[2] & 0x80) and int.from_bytes(message[:2]) in sent


def _try_datagram(
    channel: socket.socket, message: bytes, sent: dict[int, tuple[bytes, float]], strays: list[bytes], wait_s: float
) -> tuple[bytes | None, str]:
    """Send once and wait; a refusal (ICMP) is said, and may pass."""
    deadline = time.monotonic() + wait_s
    try:
        channel.send(message)
        return _receive_datagram(channel, sent, strays, deadline), ""
    except OSError as error:
        pause(wait_s / 10)
        return None, _said(error)


def _receive_datagram(
    channel: socket.socket, sent: dict[int, tuple[bytes, float]], strays: list[bytes], deadline: float
) -> bytes | None:
    is_over = False
    while not is_over:
        left_s = deadline - time.monotonic()
        # A thread that the machine lets wait finds here what came in time.
        is_over = left_s <= 0
        if not wait_readable(channel, left_s):
            return None
        message = channel.recv(LARGEST_MESSAGE)
        if _is_response(message, sent):
            return message
        if len(strays) < MOST_STRAYS:
            strays.append(message)
    return None


def _collect(
    channel: socket.socket,
    sent: dict[int, tuple[bytes, float]],
    responses: dict[int, tuple[bytes, float]],
    deadline: float,
    until_all: bool,
) -> None:
    """Take responses until the deadline, or until there is one to each query."""
    while (left_s := deadline - time.monotonic()) > 0 and not (until_all and len(responses) == len(sent)):
        if not wait_readable(channel, left_s):
            return
        with contextlib.suppress(OSError):
            message = channel.recv(LARGEST_MESSAGE)
            if _is_response(message, sent):
                responses.setdefault(int.from_bytes(message[:2]), (message, time.monotonic()))


def _end_flood(strays: Sequence[bytes]) -> None:
    if len(strays) >= MOST_STRAYS:
        raise EOFError(f"none among {MOST_STRAYS} messages, and more come")


def _receive_from(
    channel: socket.socket, sent: dict[int, tuple[bytes, float]], deadline: float
) -> tuple[bytes | None, Endpoint | None]:
    while (left_s := deadline - time.monotonic()) > 0:
        if not wait_readable(channel, left_s):
            break
        message, sender = channel.recvfrom(LARGEST_MESSAGE)
        if _is_response(message, sent):
            return message, Endpoint(sender[0], sender[1])
    return None, None


def _receive_framed(channel: socket.socket, deadline: float) -> bytes:
    length = int.from_bytes(_receive_exactly(channel, 2, deadline))
    return _receive_exactly(channel, length, deadline)


def _receive_exactly(channel: socket.socket, octets: int, deadline: float) -> bytes:
    found = b""
    while len(found) < octets:
        left_s = deadline - time.monotonic()
        if left_s <= 0 or not wait_readable(channel, left_s):
            raise TimeoutError
        part = channel.recv(octets - len(found))
        if not part:
            cut = "in the middle of a message" if found else "without a response"
            raise EOFError(f"the connection was closed {cut}")
        found += part
    return found


def _said(error: BaseException) -> str:
    return (error.strerror if isinstance(error, OSError) and error.strerror else str(error)).lower()


def random_label(prefix: str = "dnsrig") -> str:
    """Make a label that no zone has by chance."""
    return f"{prefix}-{random.SystemRandom().getrandbits(48):012x}"


def name_below(parent: dns.name.Name, label: bytes) -> dns.name.Name:
    """Put a label before a name, cut at its front where the whole would be too long.

    Raises:
        dns.name.NameTooLong: there is no room for a label at all.

    """
    octets = sum(len(one) + 1 for one in parent.labels)
    room = min(LONGEST_LABEL, max(LONGEST_NAME - octets - 1, 1))
    return dns.name.Name((label[-room:], *parent.labels))
