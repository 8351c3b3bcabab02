"""Messages as octets: what a parser forgives, or does not tell, such as how names are compressed."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass

import dns.exception
import dns.name
import dns.rdatatype
from dns.rdatatype import RdataType

from dnsrig.verification.exchange import HEADER_OCTETS

SECTIONS = ("answer", "authority", "additional")
POINTER = 0xC0
QUESTION_OCTETS, RECORD_OCTETS = 4, 10
"""Of a question and of a record behind the owner's name, without data."""
NAME_AT = {
    RdataType.RP: 0,
    RdataType.AFSDB: 2,
    RdataType.PX: 2,
    RdataType.SRV: 6,
    RdataType.KX: 2,
    RdataType.DNAME: 0,
    RdataType.RRSIG: 18,
    RdataType.NSEC: 0,
    RdataType.SVCB: 2,
    RdataType.HTTPS: 2,
}
"""Where in the data of types after RFC 1035 a name begins, which is never compressed (RFC 3597 section 4)."""


@dataclass(frozen=True, slots=True)
class WireRecord:
    """A record and where it stands."""

    section: str
    owner: dns.name.Name
    rtype: int
    rdclass: int
    ttl_s: int
    data: bytes
    """As it stands there: names in it may be compressed."""
    begin: int = 0
    """The octet of the message at which it begins."""

    @property
    def title(self) -> str:
        """Owner and type."""
        return f"{self.owner} {dns.rdatatype.to_text(RdataType.make(self.rtype))}"


@dataclass(frozen=True, slots=True)
class WireMessage:
    """A message's records, and what is wrong with its form."""

    records: Sequence[WireRecord]
    trouble: str = ""
    """What breaks RFC 1035's rules of form, as words that go on after "The response"; "" if nothing does."""


def read_wire(message: bytes) -> WireMessage:
    """Read a message that a parser has taken; what cannot be read on is a trouble, with the records before it."""
    records: list[WireRecord] = []
    if len(message) < HEADER_OCTETS:
        return WireMessage(records, f"has {len(message)} octets, less than a header")
    counts = struct.unpack("!4H", message[4:HEADER_OCTETS])
    at, trouble = HEADER_OCTETS, ""
    try:
        for _ in range(counts[0]):
            trouble = trouble or _wrong_pointer(message, at)
            at = _name_end(message, at) + QUESTION_OCTETS
        for section, count in zip(SECTIONS, counts[1:], strict=True):
            for _ in range(count):
                trouble = trouble or _wrong_pointer(message, at)
                owner, _ = dns.name.from_wire(message, at)
                begin, at = at, _name_end(message, at)
                rtype, rdclass, ttl_s, length = struct.unpack("!HHIH", message[at : at + RECORD_OCTETS])
                at += RECORD_OCTETS
                records.append(WireRecord(section, owner, rtype, rdclass, ttl_s, message[at : at + length], begin))
                at += length
    except (IndexError, struct.error, dns.exception.DNSException) as error:
        return WireMessage(records, f"cannot be read from octet {at} on: {error or type(error).__name__}")
    if at < len(message):
        trouble = trouble or f"has {len(message) - at} octets behind its last record"
    options = sum(record.rtype == RdataType.OPT for record in records)
    if options > 1:
        trouble = trouble or f"has {options} OPT records"
    return WireMessage(records, trouble)


def compressed_name(record: WireRecord) -> bool:
    """Say whether the data have a compressed name where there must be none (RFC 3597 section 4)."""
    at = NAME_AT.get(RdataType.make(record.rtype))
    if at is None:
        return False
    try:
        while record.data[at] and record.data[at] < POINTER:
            at += record.data[at] + 1
        return record.data[at] >= POINTER
    except IndexError:
        return False


def _name_end(message: bytes, at: int) -> int:
    """Give where a name that begins at an octet ends; IndexError where the message ends before."""
    while (length := message[at]) and length < POINTER:
        at += length + 1
    return at + (2 if length >= POINTER else 1)


def _wrong_pointer(message: bytes, begin: int) -> str:
    """Say whether a name goes on at a place that does not come before it (RFC 1035 section 4.1.4)."""
    at = _name_end(message, begin) - 2
    if at < begin or message[at] < POINTER or _name_length(message, begin) != at - begin:
        return ""
    target = int.from_bytes(message[at : at + 2]) & 0x3FFF
    return "" if target < begin else f"has a name at octet {begin} that goes on at octet {target}, not before it"


def _name_length(message: bytes, begin: int) -> int:
    """Give the octets of a name's labels up to its pointer or its end."""
    at = begin
    while message[at] and message[at] < POINTER:
        at += message[at] + 1
    return at - begin
