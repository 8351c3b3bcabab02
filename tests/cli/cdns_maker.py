"""C-DNS files (RFC 8618), made by cbor2 of messages of dnspython: what they say is not dnsrig's reading of the RFC.

Numbers are the keys of the maps in the RFC's appendix A, in its order.
"""

import ipaddress
from dataclasses import dataclass

import cbor2
import dns.flags
import dns.message
import dns.rdatatype

ADDRESSES, CLASS_TYPES, NAMES, SIGNATURES, QUESTION_LISTS, QUESTIONS, RECORD_LISTS, RECORDS, MALFORMED = range(9)
TRANSPORTS = {"udp": 0, "tcp": 1, "tls": 2, "dtls": 3, "https": 4, "other": 15}
FLAGS = (dns.flags.CD, dns.flags.AD, 0x40, dns.flags.RA, dns.flags.RD, dns.flags.TC, dns.flags.AA)
"""Flags of a header in the order of `qr-dns-flags`; 0x40 is the reserved one."""
NS = 10**9


@dataclass(frozen=True)
class Item:
    """A query and its answer, or one of them, of dnspython. Ends are address and port, times ns since 1970."""

    client: tuple[str, int]
    server: tuple[str, int]
    transport: str
    query_ns: int | None
    answer_ns: int | None
    query: dns.message.Message | None
    answer: dns.message.Message | None
    sizes: tuple[int | None, int | None] = (None, None)
    """What the file tells of the sizes of both."""


@dataclass(frozen=True)
class Bad:
    """What was no message."""

    client: tuple[str, int]
    server: tuple[str, int]
    time_ns: int
    octets: bytes


class Tables:
    """The tables of a block, each thing once."""

    def __init__(self):
        self.lists = {}
        self.places = {}

    def place(self, table, thing):
        """Give the index of `thing`, which is appended if it is new."""
        found = self.lists.setdefault(table, [])
        place = self.places.setdefault((table, cbor2.dumps(thing)), len(found))
        if place == len(found):
            found.append(thing)
        return place

    def address(self, address, prefix=None):
        """Give the index of an address, of which the first `prefix` octets are stored."""
        return self.place(ADDRESSES, ipaddress.ip_address(address).packed[:prefix])

    def class_type(self, rdtype, rdclass):
        return self.place(CLASS_TYPES, {0: int(rdtype), 1: int(rdclass)})

    def questions(self, message):
        """Give the index of the list of all questions but the first."""
        others = []
        for one in message.question[1:]:
            name, class_type = self.place(NAMES, one.name.to_wire()), self.class_type(one.rdtype, one.rdclass)
            others.append(self.place(QUESTIONS, {0: name, 1: class_type}))
        return self.place(QUESTION_LISTS, others) if others else None

    def records(self, section, opt=None):
        """Give the index of a section's list of records; `opt` is a message whose OPT record is in it."""
        places = [
            self._record(rrset.name.to_wire(), rrset.rdtype, rrset.rdclass, rrset.ttl, rdata)
            for rrset in section
            for rdata in rrset
        ]
        if opt is not None and opt.opt is not None:
            places.append(self._record(b"\0", dns.rdatatype.OPT, opt.payload, opt.ednsflags, opt.opt[0]))
        return self.place(RECORD_LISTS, places) if places else None

    def _record(self, name, rdtype, rdclass, ttl, rdata):
        data = self.place(NAMES, rdata.to_wire())
        return self.place(RECORDS, {0: self.place(NAMES, name), 1: self.class_type(rdtype, rdclass), 2: ttl, 3: data})


def block(items, bad=(), *, ticks_per_second, parameters=None, has_sections=True, client_prefix=None):
    """Make a block of `items` and of messages that are `bad`; times are whole ticks."""
    tables, tick_ns = Tables(), NS // ticks_per_second
    times = [first_ns(item) for item in items] + [one.time_ns for one in bad]
    earliest = min(times) // NS * NS
    preamble = {0: [earliest // NS, 0]} | ({} if parameters is None else {1: parameters})
    responses = [_response(item, tables, (earliest, tick_ns), has_sections, client_prefix) for item in items]
    made = {0: preamble, 1: {0: 2 * len(items), 1: len(items), 4: 0}}
    malformed = [_malformed(one, tables, earliest, tick_ns) for one in bad]
    if items:
        # A reset and an unreachable port, which are no messages.
        client = tables.address(items[0].client[0])
        made[4] = [{0: 0, 3: client, 4: 7}, {0: 2, 1: 3, 2: 0, 3: client, 4: 1}]
        made[3] = responses
    if malformed:
        made[5] = malformed
    # What is no part of the RFC has negative keys (section 8).
    made[-1] = {"private": [1, 2.5, None]}
    made[2] = tables.lists
    return made


def first_ns(item):
    """Give the time of an item: that of its query, if it has one."""
    return item.answer_ns if item.query_ns is None else item.query_ns


def _transport(item_or_bad, transport):
    return TRANSPORTS[transport] << 1 | (ipaddress.ip_address(item_or_bad.client[0]).version == 6)


def _response(item, tables, times, has_sections, client_prefix):
    earliest, tick_ns = times
    asked, answered = item.query, item.answer
    one = asked if asked is not None else answered
    made = {
        0: (first_ns(item) - earliest) // tick_ns,
        1: tables.address(item.client[0], client_prefix),
        2: item.client[1],
        3: one.id,
        4: tables.place(SIGNATURES, _signature(item, tables)),
        5: 61,
        10: {1: 1},
    }
    if asked is not None and answered is not None:
        made[6] = item.answer_ns // tick_ns - item.query_ns // tick_ns
    if one.question:
        made[7] = tables.place(NAMES, one.question[0].name.to_wire())
    made |= {8 + place: size for place, size in enumerate(item.sizes) if size is not None}
    if has_sections:
        for key, message, opt in ((11, asked, None), (12, answered, answered)):
            if message is None:
                continue
            lists = {
                0: tables.questions(message),
                1: tables.records(message.answer),
                2: tables.records(message.authority),
                3: tables.records(message.additional, opt),
            }
            if lists := {section: place for section, place in lists.items() if place is not None}:
                made[key] = lists
    return made


def _signature(item, tables):
    asked, answered = item.query, item.answer
    one = asked if asked is not None else answered
    both = [(message, shift) for message, shift in ((asked, 0), (answered, 8)) if message is not None]
    bits = sum(bool(message.flags & flag) << shift + bit for message, shift in both for bit, flag in enumerate(FLAGS))
    made = {
        0: tables.address(item.server[0]),
        1: item.server[1],
        2: _transport(item, item.transport),
        3: 1,
        4: sum(
            is_set << bit
            for bit, is_set in enumerate(
                (
                    asked is not None,
                    answered is not None,
                    asked is not None and asked.opt is not None,
                    answered is not None and answered.opt is not None,
                    asked is not None and not asked.question,
                    answered is not None and not answered.question,
                )
            )
        ),
        5: int(one.opcode()),
        9: len(one.question),
    }
    if one.question:
        made[8] = tables.class_type(one.question[0].rdtype, one.question[0].rdclass)
    if asked is not None:
        made |= {7: int(asked.rcode()), 10: 0, 11: 0, 12: int(asked.opt is not None)}
        if asked.opt is not None:
            bits |= bool(asked.ednsflags & dns.flags.DO) << 7
            made |= {13: asked.edns, 14: asked.payload, 15: tables.place(NAMES, asked.opt[0].to_wire())}
    if answered is not None:
        made[16] = int(answered.rcode())
    return made | {6: bits}


def _malformed(one, tables, earliest, tick_ns):
    data = {0: tables.address(one.server[0]), 1: one.server[1], 2: _transport(one, "udp"), 3: one.octets}
    return {
        0: (one.time_ns - earliest) // tick_ns,
        1: tables.address(one.client[0]),
        2: one.client[1],
        3: tables.place(MALFORMED, data),
    }


def write(path, blocks, ticks_per_second):
    """Write a file with a set of parameters for each of `ticks_per_second`; blocks are an array without a length."""
    parameters = [
        {
            # All is stored but the hop limit.
            0: {0: ticks, 1: 5000, 2: {0: 0x3FFDF, 1: 0x1FFFF, 2: 3, 3: 3}, 3: [0, 4, 5], 4: list(range(1, 260)), 5: 0},
            1: {0: 5000, 1: 10, 2: 65535, 3: True, 4: ["eth0"], 5: [bytes(4)], 7: "port 53", 8: "made", 9: "here"},
        }
        for ticks in ticks_per_second
    ]
    preamble = {0: 1, 1: 0, 2: 1, 3: parameters}
    octets = b"\x83" + cbor2.dumps("C-DNS") + cbor2.dumps(preamble)
    path.write_bytes(octets + b"\x9f" + b"".join(cbor2.dumps(one) for one in blocks) + b"\xff")
    return path
