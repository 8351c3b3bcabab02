"""Zone transfers (AXFR, RFC 5936; IXFR, RFC 1995): the zone as a server gives it to its secondaries."""

import secrets
import socket
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rrset
import dns.tsig
import dns.zone
from dns.rdatatype import RdataType

from dnsrig.servers.interruption import raise_interruption
from dnsrig.verification.asker import Asker
from dnsrig.verification.malformed import MalformedRecord, malformed_records
from dnsrig.verification.queries import Query
from dnsrig.verification.stopping import wait_readable

LARGEST_TRANSFER = 64 << 20
"""Octets after which a transfer is given up: zones that large are not for a verification in seconds."""
TRANSFER_WAIT_S = 6.0
MUCH = 1 << 20
"""Octets after which a transfer that has not ended by then is one of a large zone."""
WRONG = "a message has"
"""Begins what is said of messages that are none of the transfer's."""


@dataclass(frozen=True, slots=True)
class Transfer:
    """What a server gave when it was asked for the zone."""

    refusal: str = ""
    """Why there is no transfer, as a clause; "" if there is one."""
    refuses_key: bool = False
    """Whether that is for the key by which the query was signed (RFC 8945 section 5.2)."""
    trouble: str = ""
    """Why a transfer that began did not come to its end, as a clause."""
    given_up: bool = False
    """Whether it was too large, or took too long, to be taken to its end: no fault of the server's."""
    rrsets: tuple[dns.rrset.RRset, ...] = ()
    """In the order in which they came; the first and the last have the SOA record."""
    octets: int = 0
    flaw: str = ""
    """What is wrong with the form of a message, the first that is, as a clause (RFC 5936 section 2.2)."""
    malformed: tuple[MalformedRecord, ...] = ()
    """Records whose data cannot be parsed; they are not among the others."""
    zone: dns.zone.Zone | None = field(default=None, compare=False)
    """The zone's data, with absolute names, if the transfer is complete."""


def transfer(
    asker: Asker, origin: dns.name.Name, key: dns.tsig.Key | None = None, query: Query | None = None
) -> Transfer:
    """Ask for a zone transfer, over a TCP connection of its own; signed by a TSIG key, if there is one.

    With `query`, which is for IXFR, what comes are the changes, the SOA record alone, or the zone all the same.
    """
    asked = query or Query(name=origin, rtype=RdataType.AXFR, payload=None)
    reader = Reader(asked.wire(secrets.randbelow(1 << 16)), key)
    sent = reader.sent
    course, flaw = Course(origin, is_incremental=asked.rtype == RdataType.IXFR), ""
    rrsets: list[dns.rrset.RRset] = []
    malformed: list[MalformedRecord] = []
    octets = 0
    deadline = time.monotonic() + TRANSFER_WAIT_S
    family = socket.AF_INET6 if ":" in asker.server.address else socket.AF_INET
    try:
        with asker.make_socket(family, socket.SOCK_STREAM) as channel:
            channel.settimeout(asker.tcp_wait_s)
            channel.connect((asker.server.address, asker.server.port))
            channel.sendall(struct.pack("!H", len(sent)) + sent)
            while not course.is_over:
                if time.monotonic() > deadline or octets > LARGEST_TRANSFER:
                    return Transfer(given_up=True, rrsets=tuple(rrsets), octets=octets, flaw=flaw)
                wire = _exactly(channel, struct.unpack("!H", _exactly(channel, 2, deadline))[0], deadline)
                octets += len(wire)
                message, wrong = reader.read(wire)
                malformed += wrong
                _check_header(message, sent)
                if message.rcode() != dns.rcode.NOERROR:
                    code = dns.rcode.to_text(message.rcode())
                    return Transfer(refusal=f"the response code is {code}", octets=octets)
                flaw = flaw or _flaw_of(message, asked, is_first=not rrsets)
                if not message.answer and not rrsets:
                    return Transfer(refusal="the response has no answer", octets=octets)
                rrsets += message.answer
                course.note(message.answer)
                reader.check_signed(is_end=course.is_over)
    except (OSError, EOFError, dns.exception.DNSException, ValueError) as error:
        why = str(error) or type(error).__name__
        if not rrsets and not why.startswith(WRONG):
            return Transfer(refusal=why, octets=octets, refuses_key=isinstance(error.__cause__, dns.tsig.PeerError))
        # Not a server that stops, but more than comes in that time.
        given_up = octets > MUCH and time.monotonic() >= deadline
        trouble = "" if given_up else why
        return Transfer(trouble=trouble, given_up=given_up, rrsets=tuple(rrsets), octets=octets, flaw=flaw)
    zone = None if query is not None else _zone_of(rrsets, origin)
    return Transfer(rrsets=tuple(rrsets), octets=octets, flaw=flaw, malformed=tuple(malformed), zone=zone)


class Course:
    """Tells by the SOA records when a transfer is over.

    A whole zone has the record at both ends. Changes (RFC 1995 section 4) begin with the new one, then that of the
    client's version, and have the new one where its own changes begin, and at the end. Where an incremental transfer's
    first message has that record alone, no more comes, or need not be waited for.
    """

    def __init__(self, origin: dns.name.Name, *, is_incremental: bool) -> None:
        self.is_over = False
        self._origin = origin
        self._is_incremental = is_incremental
        self._records = 0
        self._first: int | None = None
        self._to_come = 2

    def note(self, records: Sequence[dns.rrset.RRset]) -> None:
        """Take the records of a message, each an RRset of its own."""
        is_first_message = self._records == 0
        for rrset in records:
            self._records += 1
            if rrset.rdtype != RdataType.SOA or rrset.name != self._origin:
                continue
            serial = rrset[0].serial
            self._first = serial if self._first is None else self._first
            if not self._is_incremental or serial == self._first:
                self._to_come -= 1
            elif self._records == 2:
                self._to_come += 1
        is_alone = self._is_incremental and is_first_message and len(records) == 1
        self.is_over = self._to_come <= 0 or is_alone


class Reader:
    """Parses the messages of a transfer, and verifies their TSIG (RFC 8945 section 5.3.1) where the query has one."""

    def __init__(self, query: bytes, key: dns.tsig.Key | None) -> None:
        self.sent = query
        self._key = key
        self._context: dns.tsig.HMACTSig | dns.tsig.GSSTSig | None = None
        self._mac = b""
        self._is_signed = False
        self._is_first = True
        if key is not None:
            message = dns.message.from_wire(query)
            message.use_tsig(key)
            self.sent = message.to_wire()
            self._mac = message.mac or b""

    def read(self, wire: bytes) -> tuple[dns.message.Message, list[MalformedRecord]]:
        """Parse a message; records whose data are malformed are told apart, not taken for the transfer's end."""
        try:
            message, wrong = self._parsed(wire), []
        except dns.tsig.PeerError as error:
            raise ValueError(f"the server does not take the TSIG key: {error}") from error
        except (dns.tsig.BadSignature, dns.tsig.BadTime, dns.tsig.BadKey, dns.tsig.BadAlgorithm) as error:
            raise ValueError(f"{WRONG} a TSIG record that does not verify: {error}") from error
        except (dns.exception.DNSException, ValueError) as error:
            raise_interruption(error)
            wrong = malformed_records(wire)
            if not wrong:
                raise
            message = self._parsed(wire, continue_on_error=True)
        self._context, self._is_signed = message.tsig_ctx, message.had_tsig
        return message, wrong

    def _parsed(self, wire: bytes, *, continue_on_error: bool = False) -> dns.message.Message:
        return dns.message.from_wire(
            wire,
            keyring=self._key,
            request_mac=self._mac,
            tsig_ctx=self._context,
            multi=self._key is not None,
            one_rr_per_rrset=True,
            continue_on_error=continue_on_error,
        )

    def check_signed(self, *, is_end: bool) -> None:
        """Raise ValueError, which ends the transfer, where its first or last message lacks TSIG."""
        is_needed = self._key is not None and (self._is_first or is_end)
        self._is_first = False
        if is_needed and not self._is_signed:
            raise ValueError(f"{WRONG} no TSIG record, though the query had one")


def _check_header(message: dns.message.Message, sent: bytes) -> None:
    """Raise ValueError, which ends the transfer, where a message is none of it (RFC 5936 section 2.2.1)."""
    if message.id != int.from_bytes(sent[:2]):
        raise ValueError(f"{WRONG} another ID than the query")
    if not message.flags & dns.flags.QR:
        raise ValueError(f"{WRONG} no QR flag")


def _flaw_of(message: dns.message.Message, asked: Query, *, is_first: bool) -> str:
    """Say what of a message's form is not as it should be; "" if nothing."""
    if not message.flags & dns.flags.AA:
        return "has no AA"
    questions = [(one.name, one.rdtype) for one in message.question]
    if questions != [(asked.name, asked.rtype)] and (is_first or questions):
        return "has another question" if questions else "has no question, though it is the first"
    return ""


def _exactly(channel: socket.socket, octets: int, deadline: float) -> bytes:
    """Receive so many octets, each within the channel's time-out, and all until the deadline."""
    found = bytearray()
    patience_s = channel.gettimeout() or TRANSFER_WAIT_S
    while len(found) < octets:
        # A server that sends an octet now and then would keep every single time-out.
        if not wait_readable(channel, min(patience_s, deadline - time.monotonic())):
            raise TimeoutError("timed out")
        part = channel.recv(octets - len(found))
        if not part:
            raise EOFError("the connection was closed before the second SOA record")
        found += part
    return bytes(found)


def _zone_of(rrsets: list[dns.rrset.RRset], origin: dns.name.Name) -> dns.zone.Zone:
    zone = dns.zone.Zone(origin, relativize=False)
    for rrset in rrsets:
        if rrset.name.is_subdomain(origin):
            zone.find_rdataset(rrset.name, rrset.rdtype, rrset.covers, create=True).update(rrset)  # type: ignore[no-untyped-call]
    return zone
