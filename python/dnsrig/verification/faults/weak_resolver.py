"""A small resolver that leaves out, on demand, one of the cares that a resolver takes: it proves items about those.

It resolves from root servers that it is told, and follows referrals and aliases. Signatures must fit the data, but no
chain of trust is followed: that is enough to tell data with wrong signatures. It is for the rig's tree and for nothing
else.
"""

import contextlib
import itertools
import math
import queue
import random
import secrets
import socket
import struct
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

import dns.edns
import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdataclass
import dns.rrset
from dns.rdatatype import RdataType

from dnsrig.verification.asker import SocketMaker
from dnsrig.verification.exchange import Endpoint
from dnsrig.verification.faults.weak_messages import (
    Question,
    answering,
    as_dname_says,
    every_other_capital,
    glue,
    is_usable,
    negative_ttl_s,
    referral,
    servers_of,
)
from dnsrig.verification.faults.weak_numbers import FIRST_PORT, LEAST_ID_PORT, ids_of, ports_of
from dnsrig.verification.faults.weak_signatures import has_wrong_signature, hash_candidates, without_signatures
from dnsrig.verification.faults.weaknesses import Weakness
from dnsrig.verification.subjects.special_names import SPECIAL_NAMES
from dnsrig.verification.tree.zones_cookies import cookie_of, put_cookie

WAIT_S = 2.5
HURRIED_WAIT_S = 0.7
MANY_WAITS_S = 1.5
TRIES = 1
MANY_TRIES = 5
STEPS = 20
"""Referrals and aliases that are followed."""
ENDLESS_STEPS = 130
DEPTH, SERVERS = 3, 3
"""Addresses of name servers are asked for in this depth, and of so many for a delegation."""
TOO_LONG_S = 300
"""Some keep denials for so long."""
AT_ONCE = 16
PAYLOAD = 1232
LARGEST_MESSAGE = 65_535
FAILURE_S = 5.0
UPSTREAM_PORT = 53
FEW_PORTS = 8
MINIMISED_LABELS = 2
"""Of the root's and TLDs' names, the root's label among them: servers of these are asked for minimised names."""
EMPTY_NAMES = 4
"""So many empty non-terminals in a row are too many for a weak one."""
GOING_ON = {"stops-at-empty-names", "believes-denied-names", "believes-refused-names"}
"""These ask for minimised names label by label."""
COOKIE_OCTETS = 8
MOST_ITERATIONS = {"hashes-all-candidates": 150, "hashes-without-bounds": LARGEST_MESSAGE}
"""Of NSEC3, by the weaknesses that hash; the field has 16 bits."""
STALE_TTL_S = 3600
Answer = tuple[dns.rcode.Rcode, list[dns.rrset.RRset]]


class _FailureError(Exception):
    """The question cannot be resolved."""


class _BogusError(_FailureError):
    """What was found has wrong signatures."""


@dataclass
class _Cache:
    """What is known, by the monotonic clock."""

    answers: dict[Question, tuple[float, Answer]] = field(default_factory=dict)
    """With the time when each came."""
    denied_s: dict[Question, float] = field(default_factory=dict)
    """How long each answer without records is kept."""
    failures: dict[Question, float] = field(default_factory=dict)
    servers: dict[dns.name.Name, list[str]] = field(default_factory=dict)
    """Addresses of the name servers of each zone."""
    answered: dict[dns.name.Name, str] = field(default_factory=dict)
    """The one of them that has answered last."""
    cookies: dict[str, bytes] = field(default_factory=dict)
    """What each server gave for a cookie (RFC 7873)."""


class _Client(threading.local):
    """What a thread keeps in mind while it works for a client."""

    options: Sequence[dns.edns.Option] = ()
    """Those of the query, where they are passed on."""
    depth = 0


class WeakResolver:
    """Listens on UDP at an address; a context manager."""

    def __init__(
        self, endpoint: Endpoint, root_servers: Sequence[str], weakness: Weakness | None, make_socket: SocketMaker
    ) -> None:
        self.endpoint = endpoint
        self._weakness = "" if weakness is None else weakness.name
        self._make_socket = make_socket
        self._cache = _Cache(servers={dns.name.root: list(root_servers)})
        self._pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="weak")
        self._ids, self._port_numbers = ids_of(self._weakness), ports_of(self._weakness)
        self._lock = threading.Lock()
        self._spent_s = 0.0
        self._client = _Client()
        self._ports: queue.Queue[int] = queue.Queue()
        for number in range(FEW_PORTS):
            self._ports.put(FIRST_PORT + number)
        self._channel: socket.socket | None = None
        self._thread = threading.Thread(target=self._listen, name="weak", daemon=True)

    def __enter__(self) -> Self:
        self._channel = self._make_socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._channel.bind((self.endpoint.address, self.endpoint.port))
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._channel is not None:
            # Closing does not wake a thread that waits.
            with contextlib.suppress(OSError):
                self._channel.shutdown(socket.SHUT_RDWR)
            self._thread.join()
            self._channel.close()
        self._pool.shutdown(cancel_futures=True)

    def cpu_s(self) -> float:
        """Give the CPU time that queries which were answered have taken, in seconds."""
        with self._lock:
            return self._spent_s

    def _listen(self) -> None:
        while self._channel is not None:
            try:
                wire, client = self._channel.recvfrom(LARGEST_MESSAGE)
            except OSError:
                return
            if not client:
                return
            self._pool.submit(self._respond, wire, client)

    def _respond(self, wire: bytes, client: tuple[str, int]) -> None:
        try:
            query = dns.message.from_wire(wire)
        except dns.exception.DNSException:
            return
        if not query.question or self._channel is None:
            return
        response = dns.message.make_response(query, recursion_available=True, our_payload=PAYLOAD)
        began_s = time.thread_time()
        self._fill(query, response)
        with self._lock:
            self._spent_s += time.thread_time() - began_s
        with contextlib.suppress(OSError, dns.exception.DNSException):
            self._channel.sendto(response.to_wire(), client)

    def _fill(self, query: dns.message.Message, response: dns.message.Message) -> None:
        if not query.flags & dns.flags.RD and not self._is("recurses-unasked"):
            response.set_rcode(dns.rcode.REFUSED)
            return
        self._client.options = query.options if self._is("passes-options") else ()
        question = query.question[0]
        wants_signatures = query.edns >= 0 and bool(query.ednsflags & dns.flags.DO)
        with_do = wants_signatures or not self._is("asks-without-do")
        try:
            rcode, answer = self._resolve(question.name, RdataType.make(question.rdtype), with_do)
        except _FailureError:
            rcode, answer = dns.rcode.SERVFAIL, []
        response.answer = answer if wants_signatures else without_signatures(answer)
        response.set_rcode(rcode)

    def _is(self, name: str) -> bool:
        return self._weakness == name

    def _resolve(self, name: dns.name.Name, rtype: RdataType, with_do: bool) -> Answer:
        """Give rcode and answer, of what is known or of the servers; follow aliases."""
        if not self._is("asks-for-special-names") and any(name.is_subdomain(suffix) for suffix in SPECIAL_NAMES):
            return dns.rcode.NXDOMAIN, []
        found: list[dns.rrset.RRset] = []
        for _ in range(ENDLESS_STEPS if self._is("follows-aliases-endlessly") else STEPS):
            rcode, records = self._known_or_asked((name, rtype, with_do))
            found += records
            aliases = [rrset for rrset in records if rrset.rdtype == RdataType.CNAME and rrset.name == name]
            if not aliases or rtype == RdataType.CNAME:
                return rcode, found
            name = aliases[0][0].target
        raise _FailureError

    def _known_or_asked(self, question: Question) -> Answer:
        now_s = time.monotonic()
        if (known := self._known(question, now_s)) is not None:
            return known
        if self._cache.failures.get(question, 0.0) > now_s:
            raise _FailureError
        try:
            return self._ask_downwards(question)
        except _FailureError as error:
            if self._is("gives-stale-for-hours") and question in self._cache.answers:
                rcode, records = self._cache.answers[question][1]
                return rcode, [dns.rrset.from_rdata_list(one.name, STALE_TTL_S, list(one)) for one in records]
            if not self._is("forgets-bogus" if isinstance(error, _BogusError) else "forgets-failures"):
                kept_s = math.inf if self._is("keeps-failures") else FAILURE_S
                self._cache.failures[question] = time.monotonic() + kept_s
            raise

    def _known(self, question: Question, now_s: float) -> Answer | None:
        """Give what is in the cache, its TTLs counted down."""
        came_s, (rcode, records) = self._cache.answers.get(question, (now_s, (dns.rcode.NOERROR, [])))
        age_s = int(now_s - came_s)
        left_s = min((rrset.ttl for rrset in records), default=self._cache.denied_s.get(question, 0)) - age_s
        if question not in self._cache.answers or (left_s <= 0 and not self._is("keeps-expired")):
            return None
        if self._is("never-ages"):
            return rcode, records
        return rcode, [dns.rrset.from_rdata_list(one.name, max(one.ttl - age_s, 0), list(one)) for one in records]

    def _ask_downwards(self, question: Question) -> Answer:
        """Ask from the nearest zone that is known down to the one that answers."""
        name = question[0]
        for _ in range(STEPS):
            zone = name
            while zone not in self._cache.servers:
                zone = zone.parent()
            response = self._ask_minimised(zone, question) or self._ask_servers(zone, question)
            lower = referral(response, zone, name)
            if lower is None:
                return self._learn(response, zone, question)
            self._cache.servers[lower] = glue(response, lower) or self._addresses(servers_of(response, lower))
        raise _FailureError

    def _ask_minimised(self, zone: dns.name.Name, question: Question) -> dns.message.Message | None:
        """Ask for a name above with one label more than the zone has (RFC 9156): give a referral, or None.

        Weak ones go on label by label, and take what they find on the way for the answer.
        """
        name, _, with_do = question
        goes_on = self._weakness in GOING_ON
        if self._is("asks-for-whole-names") or (len(zone.labels) > MINIMISED_LABELS and not goes_on):
            return None
        empty = 0
        for depth in range(len(zone.labels) + 1, len(name.labels) if goes_on else len(zone.labels) + 2):
            above = name.split(min(depth, len(name.labels)))[1]
            if above == name:
                return None
            try:
                response = self._ask_servers(zone, (above, RdataType.A, with_do))
            except _FailureError:
                if self._is("believes-refused-names"):
                    raise
                return None
            if referral(response, zone, name) is not None:
                return response
            empty += not response.answer
            is_denied = self._is("believes-denied-names") and response.rcode() == dns.rcode.NXDOMAIN
            if is_denied or (self._is("stops-at-empty-names") and empty == EMPTY_NAMES):
                return response
        return None

    def _addresses(self, servers: Sequence[dns.name.Name]) -> list[str]:
        """Ask for the addresses of name servers that a delegation has none of: of the first that have any."""
        asks_all = self._is("asks-for-every-server")
        if self._client.depth >= (ENDLESS_STEPS if self._is("follows-circles") else DEPTH):
            raise _FailureError
        self._client.depth += 1
        found: list[str] = []
        try:
            for server in servers if asks_all else servers[:SERVERS]:
                with contextlib.suppress(_FailureError):
                    _, records = self._resolve(server, RdataType.A, with_do=True)
                    found += [str(rdata) for rrset in records if rrset.rdtype == RdataType.A for rdata in rrset]
        finally:
            self._client.depth -= 1
        return found

    def _learn(self, response: dns.message.Message, zone: dns.name.Name, question: Question) -> Answer:
        """Keep what a response says, and give what of it answers the question."""
        now_s = time.monotonic()
        mine = answering(response, question)
        if not self._is("takes-any-alias"):
            mine = as_dname_says(response, question[0], mine)
        if self._is("compares-case"):
            mine = [rrset for rrset in mine if rrset.name.labels == question[0].labels]
        self._cache.denied_s[question] = self._kept_s(response)
        self._cache.answers[question] = (now_s, (response.rcode(), mine))
        if self._is("takes-any-name"):
            for rrset in (*response.answer, *response.additional):
                if rrset.rdtype == RdataType.A and not rrset.name.is_subdomain(zone):
                    victim = (rrset.name, RdataType.A, question[2])
                    self._cache.answers[victim] = (now_s, (dns.rcode.NOERROR, [rrset]))
        if self._is("takes-any-delegation"):
            for rrset in response.authority:
                if rrset.rdtype == RdataType.NS and (servers := glue(response, rrset.name)):
                    self._cache.servers[rrset.name] = servers
        return response.rcode(), mine

    def _kept_s(self, response: dns.message.Message) -> float:
        """Say how long a response is kept if it has no records."""
        if self._is("keeps-denials"):
            return math.inf
        return TOO_LONG_S if self._is("keeps-denials-too-long") else negative_ttl_s(response)

    def _ask_servers(self, zone: dns.name.Name, question: Question) -> dns.message.Message:
        """Ask the servers of a zone until one gives a usable response."""
        failure: type[_FailureError] = _FailureError
        servers = [*self._cache.servers[zone]]
        random.shuffle(servers)
        if question[1] == RdataType.DNSKEY:
            # Keys are asked for because of an answer that has just come: not of a server that is silent.
            servers.sort(key=lambda server: server != self._cache.answered.get(zone))
        tries = MANY_TRIES if self._is("retries-often") else TRIES
        for server in servers:
            for _ in range(tries):
                response = self._ask(server, question)
                if response is not None:
                    break
            if response is not None and is_usable(response, zone, question[0]):
                self._cache.answered[zone] = server
                if not self._is_bogus(response, question):
                    return response
                failure = _BogusError
            is_bogus = failure is _BogusError
            if self._is("gives-up-at-once") or (is_bogus and self._is("gives-up-on-bogus")):
                break
        raise failure

    def _is_bogus(self, response: dns.message.Message, question: Question) -> bool:
        """Say whether the answer has wrong signatures; keys are taken as they come."""
        if question[1] == RdataType.DNSKEY:
            return False
        if (most := MOST_ITERATIONS.get(self._weakness)) is not None:
            hash_candidates(response, question[0], most)
        return has_wrong_signature(
            answering(response, question),
            lambda zone: self._known_or_asked((zone, RdataType.DNSKEY, True))[1],
            bounded=not self._is("verifies-all-pairs"),
        )

    def _ask(self, server: str, question: Question) -> dns.message.Message | None:
        """Ask one server, without EDNS where it does not know that, by TCP where it truncates."""
        name, rtype, with_do = question
        query = dns.message.make_query(name, rtype, want_dnssec=with_do, use_edns=0, payload=PAYLOAD)
        if self._client.options:
            query.use_edns(0, query.ednsflags, PAYLOAD, options=[*self._client.options])
        else:
            put_cookie(query, self._cache.cookies.setdefault(server, secrets.token_bytes(COOKIE_OCTETS)))
        query.flags &= ~int(dns.flags.RD)
        response = self._by_udp(server, query)
        if response is not None and response.rcode() == dns.rcode.BADCOOKIE and not self._is("keeps-its-cookie"):
            self._cache.cookies[server] = cookie_of(response)
            put_cookie(query, cookie_of(response))
            response = self._by_udp(server, query)
        if response is not None and response.rcode() == dns.rcode.FORMERR and not self._is("insists-on-edns"):
            query.use_edns(False)
            response = self._by_udp(server, query)
        if response is None or not response.flags & dns.flags.TC:
            return response
        if self._is("takes-truncated") and response.answer:
            return response
        return None if self._is("has-no-tcp") else self._by_tcp(server, query)

    def _by_udp(self, server: str, query: dns.message.Message) -> dns.message.Message | None:
        query.id = self._message_id()
        if self._is("mixes-case-alike"):
            query.question[0].name = every_other_capital(query.question[0].name)
        waits_s = {"hurries": HURRIED_WAIT_S, "retries-often": MANY_WAITS_S}
        deadline = time.monotonic() + waits_s.get(self._weakness, WAIT_S)
        with self._sending_socket(query.id) as channel:
            channel.sendto(query.to_wire(), (server, UPSTREAM_PORT))
            while (left_s := deadline - time.monotonic()) > 0:
                channel.settimeout(left_s)
                try:
                    wire, source = channel.recvfrom(LARGEST_MESSAGE)
                    response = dns.message.from_wire(wire)
                except TimeoutError:
                    return None
                except (OSError, dns.exception.DNSException):
                    continue
                if self._belongs(response, query, source, server):
                    return response
        return None

    def _belongs(
        self, response: dns.message.Message, query: dns.message.Message, source: tuple[str, int], server: str
    ) -> bool:
        """Say whether a message is the response to a query (RFC 5452 section 9.1)."""
        if not response.question or not response.flags & dns.flags.QR:
            return False
        asked, given = query.question[0], response.question[0]
        same = (asked.name, asked.rdtype, asked.rdclass) == (given.name, given.rdtype, given.rdclass)
        if self._is("compares-case"):
            same = same and asked.name.labels == given.name.labels
        cookie = cookie_of(response)[:COOKIE_OCTETS]
        if cookie and not cookie_of(query).startswith(cookie) and not self._is("takes-any-cookie"):
            return False
        return (
            (same or self._is("takes-any-question"))
            and (response.id == query.id or self._is("takes-any-id"))
            and (source == (server, UPSTREAM_PORT) or self._is("takes-any-source"))
        )

    def _by_tcp(self, server: str, query: dns.message.Message) -> dns.message.Message | None:
        try:
            with self._make_socket(socket.AF_INET, socket.SOCK_STREAM) as channel:
                channel.settimeout(WAIT_S)
                channel.connect((server, UPSTREAM_PORT))
                wire = query.to_wire()
                with channel.makefile("rwb") as stream:
                    stream.write(struct.pack("!H", len(wire)) + wire)
                    stream.flush()
                    response = dns.message.from_wire(stream.read(struct.unpack("!H", stream.read(2))[0]))
        except (OSError, struct.error, dns.exception.DNSException):
            return None
        return response if response.id == query.id else None

    def _message_id(self) -> int:
        return secrets.randbelow(65_536) if self._ids is None else self._next(self._ids)

    def _next(self, numbers: Iterator[int]) -> int:
        with self._lock:
            return next(numbers)

    @contextlib.contextmanager
    def _sending_socket(self, message_id: int) -> Iterator[socket.socket]:
        with contextlib.ExitStack() as stack:
            channel = stack.enter_context(self._make_socket(socket.AF_INET, socket.SOCK_DGRAM))
            if self._is("few-ports"):
                port = self._ports.get()
                stack.callback(self._ports.put, port)
                # Before the port is given to another.
                stack.callback(channel.close)
                channel.bind(("", port))
            elif self._port_numbers is not None:
                numbers = self._port_numbers
                _bind_first(channel, (self._next(numbers) for _ in itertools.count()))
            else:
                of_id = [message_id] if self._is("ports-of-ids") and message_id >= LEAST_ID_PORT else []
                _bind_first(channel, itertools.chain(of_id, _drawn_ports()))
            yield channel


def _drawn_ports() -> Iterator[int]:
    """Give ports that cannot be guessed."""
    while True:
        yield 40_000 + secrets.randbelow(25_000)


def _bind_first(channel: socket.socket, ports: Iterator[int]) -> None:
    """Take the first port that is free."""
    for port in ports:
        with contextlib.suppress(OSError):
            channel.bind(("", port))
            return
