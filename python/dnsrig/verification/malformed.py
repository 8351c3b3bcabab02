"""Records of a message whose data are not formed as their types say, where the message as such can be read."""

import struct
from dataclasses import dataclass

import dns.exception
import dns.name
import dns.rdata
import dns.rdataclass
from dns.rdatatype import RdataType

HEADER_OCTETS = 12
FIELDS = "!2HIH"
"""Type, class, TTL and length of a record's data (RFC 1035 section 3.2.1)."""


@dataclass(frozen=True, slots=True)
class MalformedRecord:
    """A record whose data cannot be parsed."""

    name: dns.name.Name
    rtype: RdataType
    octets: bytes
    """The data as they came."""
    why: str
    """What is wrong with them, as a clause."""


def malformed_records(message: bytes) -> list[MalformedRecord]:
    """List the records of class IN in a message whose data are malformed; none where the message itself is."""
    found = []
    try:
        questions, *counts = struct.unpack_from("!4H", message, 4)
        at = HEADER_OCTETS
        for _ in range(questions):
            at += dns.name.from_wire(message, at)[1] + struct.calcsize("!2H")
        for _ in range(sum(counts)):
            name, octets = dns.name.from_wire(message, at)
            at += octets
            rtype, rdclass, _, length = struct.unpack_from(FIELDS, message, at)
            at += struct.calcsize(FIELDS)
            data = message[at : at + length]
            why = "" if rdclass != dns.rdataclass.IN else _trouble(message, at, rtype, length)
            if why:
                found.append(MalformedRecord(name, RdataType.make(rtype), data, why))
            at += length
    except (dns.exception.DNSException, ValueError, struct.error):
        return []
    return found if at == len(message) else []


def _trouble(message: bytes, at: int, rtype: int, length: int) -> str:
    try:
        dns.rdata.from_wire(dns.rdataclass.IN, RdataType.make(rtype), message, at, length)
    except (dns.exception.DNSException, ValueError) as error:
        return str(error) or type(error).__name__
    return ""
