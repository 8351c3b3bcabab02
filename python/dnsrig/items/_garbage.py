"""Messages that are none, which items of several roles send."""

import random
from collections.abc import Iterator

import dns.name


def garbage(origin: dns.name.Name) -> Iterator[tuple[str, list[bytes]]]:
    """Give kinds of messages that cannot be parsed, with what they are."""
    name = origin.to_wire() or b""
    question = name + b"\0\6\0\1"
    header = bytes(2) + b"\0\0\0\1\0\0\0\0\0\0"
    yield "empty and cut datagrams", [b"", b"\0", header[:11], header, header + question[:-1]]
    yield "wrong counts", [header[:4] + b"\xff\xff" * 4 + question, header[:10] + b"\0\1" + question]
    yield "a name that points to itself", [header + b"\xc0\x0c\0\6\0\1"]
    yield "names that are too long", [header + (b"\x3f" + b"a" * 63) * 5 + question, header + b"\x80" + question]
    opt = b"\0\0\x29\4\xd0\0\0\0\0"
    counted = header[:10] + b"\0\1"
    yield (
        "OPT records with wrong lengths",
        [
            counted + question + opt + b"\xff\xff",
            counted + question + opt + b"\0\4\0\3\0\x10",
            header[:10] + b"\0\2" + question + (opt + b"\0\0") * 2,
        ],
    )
    noise = random.Random(8906)
    yield "random octets", [bytes([0, 0, 0]) + noise.randbytes(octets) for octets in (9, 20, 60, 200, 1200)]
