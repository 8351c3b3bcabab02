"""Ask a server for SOA records until it answers as it should."""

import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.query
import dns.rcode
import dns.rdataclass
import dns.rdatatype
import dns.rdtypes.ANY.SOA
import dns.transaction
import dns.zonefile
from dns.tokenizer import Tokenizer

from dnsrig.servers.interruption import raise_interruption

ANSWER_TIMEOUT_S = 1.0
"""How long a poll waits for one answer; a server that is not listening yet refuses at once on loopback."""


@dataclass(frozen=True, slots=True)
class SoaAnswer:
    """What a server said when asked for a zone's SOA record."""

    serial: int | None
    """The serial of an answer (NOERROR, SOA at the zone's name; AA unless of a resolver); None for any other."""
    said: str
    """The answer in words, for an error message, such as "rcode SERVFAIL" or "no answer"."""
    responded: bool = False
    """Whether there was a response to the question at all."""


def ask_soa(address: str, port: int, origin: str, *, tcp: bool, recursive: bool = False) -> SoaAnswer:
    """Ask once for a zone's SOA record (RFC 1035 section 3.3.13), from a new socket.

    Args:
        address: of the server.
        port: of the server.
        origin: the zone's name.
        tcp: whether by TCP or UDP.
        recursive: ask a resolver, with RD and without wanting AA.

    """
    if tcp:
        return exchange_soa(
            origin, lambda query: dns.query.tcp(query, address, ANSWER_TIMEOUT_S, port), recursive=recursive
        )
    return exchange_soa(origin, lambda query: _exchange_udp(query, address, port), recursive=recursive)


def exchange_soa(
    origin: str, exchange: Callable[[dns.message.Message], dns.message.Message], *, recursive: bool = False
) -> SoaAnswer:
    """Judge what `exchange` brings for a SOA query; what it raises for a failed connection becomes the answer."""
    name = dns.name.from_text(origin)
    query = dns.message.make_query(name, dns.rdatatype.SOA, flags=dns.flags.RD if recursive else 0)
    try:
        answer = exchange(query)
    except TimeoutError:
        return SoaAnswer(None, "no answer")
    except dns.exception.Timeout:
        return SoaAnswer(None, "no answer")
    except (OSError, EOFError) as error:
        return SoaAnswer(None, str(error) or "connection closed")
    except dns.exception.DNSException as error:
        raise_interruption(error)
        return SoaAnswer(None, f"an answer that cannot be read ({error})")
    return _judge(query, answer, name, recursive=recursive)


def _exchange_udp(query: dns.message.Message, address: str, port: int) -> dns.message.Message:
    """Exchange over a connected socket, on which a port without listener fails at once (ICMP)."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        sock.settimeout(ANSWER_TIMEOUT_S)
        sock.connect((address, port))
        sock.send(query.to_wire())
        return dns.message.from_wire(sock.recv(65535))


def _judge(
    query: dns.message.Message, answer: dns.message.Message, name: dns.name.Name, *, recursive: bool
) -> SoaAnswer:
    if not query.is_response(answer):
        return SoaAnswer(None, "a response to another question")
    if answer.rcode() != dns.rcode.NOERROR:
        return SoaAnswer(None, f"rcode {dns.rcode.to_text(answer.rcode())}", responded=True)
    if not recursive and not answer.flags & dns.flags.AA:
        return SoaAnswer(None, "an answer without AA", responded=True)
    rrset = answer.get_rrset(dns.message.ANSWER, name, dns.rdataclass.IN, dns.rdatatype.SOA)
    if rrset is None:
        return SoaAnswer(None, "an answer without SOA record", responded=True)
    record = rrset[0]
    assert isinstance(record, dns.rdtypes.ANY.SOA.SOA)
    return SoaAnswer(record.serial, f"serial {record.serial}", responded=True)


class _SoaFoundError(Exception):
    def __init__(self, serial: int) -> None:
        self.serial = serial


class _SoaSeeker(dns.zonefile.RRsetsReaderTransaction):
    """A transaction that keeps nothing and stops the reader at the first SOA record."""

    def __init__(self, manager: dns.transaction.TransactionManager) -> None:
        super().__init__(manager, True, False)  # type: ignore[no-untyped-call]

    def add(self, *args: object) -> None:
        record = args[-1]
        if isinstance(record, dns.rdtypes.ANY.SOA.SOA):
            raise _SoaFoundError(record.serial)


def serial_in_file(path: Path, origin: str) -> int | None:
    """Read the SOA serial out of a zone file, no further than needed; None if there is none to be read."""
    manager = dns.zonefile.RRSetsReaderManager(dns.name.from_text(origin), False, dns.rdataclass.IN)
    try:
        with path.open(encoding="utf-8", errors="surrogateescape") as text:
            reader = dns.zonefile.Reader(
                Tokenizer(text, str(path)),
                dns.rdataclass.IN,
                _SoaSeeker(manager),
                allow_include=True,
            )
            reader.read()
    except _SoaFoundError as found:
        return found.serial
    except (OSError, dns.exception.DNSException, ValueError) as error:
        raise_interruption(error)
        return None
    return None
