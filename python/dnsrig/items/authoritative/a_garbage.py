"""A-garbage: messages that are none."""

import random
from collections.abc import Iterator

import dns.name

from dnsrig.items.authoritative._probes import soa_query
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Evidence, Outcome, Severity, failed, inconclusive, passed

ITEM = Item(
    id="A-garbage",
    role="authoritative",
    group="Robustness",
    requirement="Messages that cannot be parsed do not keep the server from answering others.",
    references=("RFC 1035 section 7.3", "RFC 8906 section 3.2"),
    severity=Severity.CRITICAL,
    consequence="Anyone can silence the server with one datagram.",
    procedure=(
        "Datagrams are sent that are empty, cut, have wrong counts, endless names or random octets; after each "
        "kind the SOA record is asked for and comes. What the server answers to them does not matter."
    ),
    dig=("# dig sends no such messages",),
    faults=("silenced-by-garbage",),
    runs_alone=True,
)


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


def check(subject: AuthoritativeSubject) -> Outcome:
    """Send what no client sends, and see whether the server goes on."""
    before = subject.asker.udp(soa_query(subject))
    if before.response is None:
        return subject.unanswered(before)
    for words, messages in garbage(subject.origin):
        subject.asker.send(messages)
        after = subject.asker.udp(soa_query(subject))
        if after.response is None:
            sent = Evidence("sent before", "\n".join(message.hex(" ", 2) or "(empty)" for message in messages))
            if not subject.silence():
                continue
            if subject.asker.tcp(soa_query(subject)).response is not None:
                reason = f"After {words} only TCP is answered; the server may limit its rate of responses."
                return inconclusive(reason, before, sent, after)
            return failed(f"After {words} the server answers no more.", before, sent, after)
    return passed("The server answers after each kind.", after)
