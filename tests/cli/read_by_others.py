"""DNS messages of captures and dnstap files, as tshark and BIND's dnstap-read have them."""

import datetime
import json
import os
import re
import subprocess
from dataclasses import dataclass

import dns.flags
import dns.message

TAPPED = re.compile(
    r"(?P<time>\d\d-\w{3}-\d{4} [\d:.]+) (?P<kind>[A-Z]{2}) (?P<client>\S+) (?P<way>->|<-) (?P<server>\S+)"
    r" (?P<transport>UDP|TCP) (?P<size>\d+)b (?P<name>\S+)/(?P<class>[^/]+)/(?P<type>[^/]+)"
)
"""A message in dnstap-read's short form: `23-Nov-2026 22:57:07.736 AQ ::1:35097 -> ::1:53 TCP 50b test/IN/SOA`."""


@dataclass(frozen=True)
class Edns:
    """What an OPT record says."""

    udp_size: int
    version: int
    is_dnssec_ok: bool
    options: tuple[int, ...]


@dataclass(frozen=True)
class Message:
    """A message, and how it travelled; ends are address and port."""

    time_ns: int
    source: tuple[str, int]
    target: tuple[str, int]
    transport: str
    size: int
    id: int
    flags: int
    rcode: int
    name: str
    type: int
    class_: int
    edns: Edns | None

    @property
    def is_answer(self):
        return bool(self.flags & dns.flags.QR)

    @property
    def opcode(self):
        return self.flags >> 11 & 15

    @property
    def question(self):
        return self.name.lower(), self.type, self.class_


@dataclass(frozen=True)
class Transaction:
    """A query, and its answer if one came."""

    query: Message
    answer: Message | None


def transactions_of(messages):
    """Give the transactions in the order of their queries: an answer is that of the earliest query without one."""
    found, waiting = [], {}
    for message in messages:
        client = message.target if message.is_answer else message.source
        key = (client, message.transport, message.id, message.question)
        if not message.is_answer:
            waiting.setdefault(key, []).append(len(found))
            found.append(Transaction(message, None))
        elif waiting.get(key):
            place = waiting[key].pop(0)
            found[place] = Transaction(found[place].query, message)
    return found


def by_tshark(path):
    """Give the messages that tshark finds in a capture and can read, in its order."""
    command = ["tshark", "-n", "-r", path, "-Y", "dns and not _ws.malformed", "-T", "json", "--no-duplicate-keys"]
    command += ["-J", "frame ip ipv6 udp tcp dns"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    for packet in json.loads(done.stdout):
        layers = packet["_source"]["layers"]
        seconds, fraction = layers["frame"]["frame.time_epoch"].split(".")
        time_ns = int(seconds) * 10**9 + int(fraction.ljust(9, "0"))
        transport = "udp" if "udp" in layers else "tcp"
        source, target = (
            (_one(layers, f"ip.{end}", f"ipv6.{end}"), int(_one(layers[transport], f"{transport}.{end}port")))
            for end in ("src", "dst")
        )
        for message in _listed(layers["dns"]):
            size = int(layers["udp"]["udp.length"]) - 8 if transport == "udp" else int(message["dns.length"])
            edns = _edns_of(message)
            flags = int(message["dns.flags"], 16)
            upper = int(_one(message, "dns.resp.ext_rcode"), 16) if edns else 0
            yield Message(
                *(time_ns, source, target, transport, size, int(message["dns.id"], 16), flags),
                rcode=upper << 4 | flags & 15,
                name=_one(message, "dns.qry.name").removeprefix("<Root>") + ".",
                type=int(_one(message, "dns.qry.type")),
                class_=int(_one(message, "dns.qry.class"), 16),
                edns=edns,
            )


def _edns_of(message):
    sizes = list(_values(message, "dns.rr.udp_payload_size"))
    if not sizes:
        return None
    version, bits = _one(message, "dns.resp.edns0_version"), int(_one(message, "dns.resp.z"), 16)
    options = tuple(int(code) for code in _values(message, "dns.opt.code"))
    return Edns(int(sizes[0], 0), int(version, 0), bool(bits & 0x8000), options)


def _listed(value):
    return value if isinstance(value, list) else [value]


def _values(tree, *keys):
    """Give the values of fields, wherever they stand in what tshark writes."""
    if isinstance(tree, dict):
        for name, value in tree.items():
            if name in keys:
                yield from _listed(value)
            else:
                yield from _values(value, *keys)
    elif isinstance(tree, list):
        for value in tree:
            yield from _values(value, *keys)


def _one(tree, *keys):
    return next(_values(tree, *keys))


def by_dnstap_read(path):
    """Give the messages of a dnstap file with the kind of each, in its order; times are whole milliseconds."""
    done = subprocess.run(
        ["dnstap-read", "-x", path], capture_output=True, text=True, check=True, env=os.environ | {"TZ": "UTC"}
    )
    lines = iter(done.stdout.splitlines())
    for line in lines:
        tapped = TAPPED.fullmatch(line)
        assert tapped, line
        time = datetime.datetime.strptime(tapped["time"] + "+0000", "%d-%b-%Y %H:%M:%S.%f%z")
        ends = []
        for end in ("client", "server"):
            address, _, port = tapped[end].rpartition(":")
            ends.append((address, int(port)))
        octets = bytes.fromhex(next(lines))
        assert len(octets) == int(tapped["size"])
        message = dns.message.from_wire(octets)
        [question] = message.question
        assert question.name == dns.name.from_text(tapped["name"])
        edns = None
        if message.edns >= 0:
            is_dnssec_ok = bool(message.ednsflags & dns.flags.DO)
            options = tuple(int(option.otype) for option in message.options)
            edns = Edns(message.payload, message.edns, is_dnssec_ok, options)
        # To the microsecond: a float has not room for all digits.
        time_ns = int(time.timestamp()) * 10**9 + time.microsecond * 1000
        yield (
            tapped["kind"],
            Message(
                *(time_ns, *(ends if tapped["way"] == "->" else reversed(ends)), tapped["transport"].lower()),
                *(len(octets), message.id, int.from_bytes(octets[2:4]), int(message.rcode())),
                *(question.name.to_text(), int(question.rdtype), int(question.rdclass), edns),
            ),
        )
