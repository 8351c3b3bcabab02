"""Messages that are none, which items of several roles send."""

import random
from collections.abc import Callable, Iterator, Sequence

import dns.name

from dnsrig.verification.asker import Asker
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.queries import Query
from dnsrig.verification.verdicts import Evidence, Outcome, Shown, failed, inconclusive


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


def shown(messages: Sequence[bytes]) -> Evidence:
    """Show messages that were sent, in hexadecimal digits."""
    return Evidence("sent before", "\n".join(message.hex(" ", 2) or "(empty)" for message in messages))


def still_answers(
    asker: Asker, query: Query, silence: Callable[[], str], words: str, *evidence: Shown, who: str
) -> Exchange | Outcome:
    """Ask by UDP after such messages, which `words` are for; give the exchange, or what its silence means."""
    after = asker.udp(query)
    if after.response is not None or not silence():
        return after
    if asker.tcp(query).response is not None:
        reason = f"After {words} only TCP is answered; {who} may limit its rate of responses."
        return inconclusive(reason, *evidence, after)
    return failed(f"After {words} {who} answers no more.", *evidence, after)
