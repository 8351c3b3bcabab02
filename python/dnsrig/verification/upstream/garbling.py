"""Responses that cannot be parsed, as broken servers and attackers send them."""

import random
from collections.abc import Callable, Mapping

import dns.name

from dnsrig.verification.exchange import HEADER_OCTETS

COUNTS = slice(6, HEADER_OCTETS)
"""Octets of the header with the number of records in each section."""
FIELDS = b"\0\1\0\1\0\0\1\x2c"
"""Type A, class IN and a TTL of a record."""
OPT = b"\0\0\x29\4\xd0\0\0\0\0"
NOISE_SEED, NOISE_OCTETS = 8906, 200
POINTER = 0xC000
Garble = Callable[[bytes, bytes], bytes]
"""Makes such a message of a response's header, with one record in the answer section, and question."""


def _counting(header: bytes, answers: int, additional: int) -> bytes:
    return header[: COUNTS.start] + answers.to_bytes(2) + bytes(2) + additional.to_bytes(2)


def _to_itself(header: bytes, question: bytes) -> bytes:
    pointer = POINTER | (len(header) + len(question))
    return header + question + pointer.to_bytes(2) + FIELDS + b"\0\4" + bytes(4)


def _noise(header: bytes, _question: bytes) -> bytes:
    return header + random.Random(NOISE_SEED).randbytes(NOISE_OCTETS)


KINDS: Mapping[str, Garble] = {
    "an empty datagram": lambda _header, _question: b"",
    "a header that is cut": lambda header, _question: header[:-1],
    "a header alone that promises records": lambda header, _question: header,
    "a question that is cut": lambda header, question: header + question[:-3],
    "wrong counts": lambda header, question: header[: COUNTS.start] + b"\xff" * 6 + question,
    "a name that points to itself": _to_itself,
    "a name that points behind the message": lambda header, question: (
        header + question + b"\xff\xff" + FIELDS + b"\0\4" + bytes(4)
    ),
    "a name that is too long": lambda header, question: (
        header + question + (b"\x3f" + b"a" * 63) * 5 + b"\0" + FIELDS + b"\0\4" + bytes(4)
    ),
    "a label of an unknown kind": lambda header, question: header + question + b"\x80" + FIELDS + b"\0\4" + bytes(4),
    "a record that is cut": lambda header, question: header + question + b"\xc0\x0c" + FIELDS[:-2],
    "data that go beyond the message": lambda header, question: header + question + b"\xc0\x0c" + FIELDS + b"\xff\xff",
    "data that are too short for their type": lambda header, question: (
        header + question + b"\xc0\x0c" + FIELDS + b"\0\2" + bytes(2)
    ),
    "an OPT record with wrong lengths": lambda header, question: (
        _counting(header, 0, 1) + question + OPT + b"\0\4\0\3\0\x10"
    ),
    "random octets": _noise,
}
"""By what is wrong with them."""


def garble(response: bytes, kind: int) -> bytes:
    """Make of a response, which has a question, one of a kind that cannot be parsed; its ID stays if there is any."""
    octets = dns.name.from_wire(response, HEADER_OCTETS)[1] + 4
    question = response[HEADER_OCTETS : HEADER_OCTETS + octets]
    make = list(KINDS.values())[kind % len(KINDS)]
    return make(_counting(response[:HEADER_OCTETS], 1, 0), question)
