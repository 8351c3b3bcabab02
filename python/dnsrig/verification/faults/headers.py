"""Faults of authoritative servers in the header: flags, opcodes, IDs and the question."""

import dns.flags
import dns.message
import dns.opcode
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.verification.faults.changes import Test, changing, dropping, error, refusing
from dnsrig.verification.faults.fault import Fault, Passage, unchanged_if_unreadable, wire_of
from dnsrig.verification.item import Role
from dnsrig.verification.queries import Z_BIT

AUTHORITATIVE: tuple[Role, ...] = ("authoritative",)
FLAGS_OCTET, QR_BIT = 2, 0x80


def _has(flag: int) -> Test:
    return lambda message: bool(message.flags & flag)


def _has_unknown_opcode(message: dns.message.Message) -> bool:
    return message.opcode() not in {dns.opcode.QUERY, dns.opcode.NOTIFY, dns.opcode.UPDATE}


def _copy_z(passage: Passage) -> bytes:
    answer = passage.answer
    answer.flags |= passage.asked.flags & Z_BIT
    return wire_of(answer)


def wrong_id(passage: Passage) -> bytes:
    """Give a response another ID."""
    return (int.from_bytes(passage.response[:2]) ^ 0x0100).to_bytes(2) + passage.response[2:]


def _with_qr(message: bytes, *, qr: bool) -> bytes:
    octets = bytearray(message)
    if len(octets) > FLAGS_OCTET:
        octets[FLAGS_OCTET] = octets[FLAGS_OCTET] | QR_BIT if qr else octets[FLAGS_OCTET] & ~QR_BIT
    return bytes(octets)


def _as_query(passage: Passage) -> bytes:
    """Make a query of the question, for the server that is right to answer."""
    asked = passage.asked
    if asked.opcode() == dns.opcode.QUERY:
        return passage.query
    query = dns.message.QueryMessage(id=asked.id)
    query.flags = asked.flags & dns.flags.RD
    query.question = list(asked.question)
    return wire_of(query)


def _give_opcode_back(passage: Passage) -> bytes:
    answer = passage.answer
    answer.set_opcode(passage.asked.opcode())
    return wire_of(answer)


def _forget_opcode(message: dns.message.Message) -> None:
    message.set_opcode(dns.opcode.QUERY)


def _drop_question(message: dns.message.Message) -> None:
    message.question.clear()


def _other_question(message: dns.message.Message) -> None:
    if message.opcode() == dns.opcode.QUERY:
        for rrset in message.question:
            rrset.rdtype = RdataType.AAAA


def _formerr_to_response(passage: Passage) -> bytes:
    if not passage.query[FLAGS_OCTET] & QR_BIT:
        return passage.response
    return error(dns.message.from_wire(_with_qr(passage.query, qr=False)), dns.rcode.FORMERR)


def _first_question(passage: Passage) -> bytes:
    query = passage.asked
    if query.opcode() != dns.opcode.QUERY or len(query.question) < 2:
        return passage.query
    del query.question[1:]
    return wire_of(query)


FAULTS = (
    *(
        Fault(
            name=f"drops-{word}",
            does=f"drops queries with the {word.upper()} flag",
            roles=(*AUTHORITATIVE, "resolver") if word == "z" else AUTHORITATIVE,
            on_query=dropping(_has(flag)),
        )
        for word, flag in (("z", Z_BIT), ("cd", dns.flags.CD), ("ad", dns.flags.AD), ("rd", dns.flags.RD))
    ),
    *(
        Fault(
            name=f"formerr-to-{word}",
            does=f"answers queries with the {word.upper()} flag with FORMERR",
            roles=(*AUTHORITATIVE, "resolver") if word == "z" else AUTHORITATIVE,
            on_response=refusing(_has(flag), dns.rcode.FORMERR),
        )
        for word, flag in (("z", Z_BIT), ("cd", dns.flags.CD), ("ad", dns.flags.AD))
    ),
    Fault(
        name="copies-z",
        does="copies the reserved bit Z into the response",
        roles=(*AUTHORITATIVE, "resolver"),
        on_response=unchanged_if_unreadable(_copy_z),
    ),
    Fault(name="wrong-id", does="gives responses another ID", roles=AUTHORITATIVE, on_response=wrong_id),
    Fault(
        name="clears-qr",
        does="leaves the QR flag out of responses",
        roles=AUTHORITATIVE,
        on_response=lambda passage: _with_qr(passage.response, qr=False),
    ),
    Fault(
        name="answers-any-opcode",
        does="answers messages of any opcode as if they were queries",
        roles=(*AUTHORITATIVE, "resolver"),
        on_query=unchanged_if_unreadable(_as_query),
        on_response=unchanged_if_unreadable(_give_opcode_back),
    ),
    Fault(
        name="formerr-to-opcodes",
        does="answers messages of unknown opcodes with FORMERR",
        roles=AUTHORITATIVE,
        on_response=refusing(_has_unknown_opcode, dns.rcode.FORMERR),
    ),
    Fault(
        name="forgets-opcode",
        does="gives every response the opcode QUERY",
        roles=(*AUTHORITATIVE, "resolver"),
        on_response=changing(_forget_opcode),
    ),
    Fault(
        name="drops-question",
        does="leaves the question section out of responses",
        roles=AUTHORITATIVE,
        on_response=changing(_drop_question, lambda query: bool(query.question)),
    ),
    Fault(
        name="other-question",
        does="gives the question back with another type",
        roles=AUTHORITATIVE,
        on_response=changing(_other_question),
    ),
    Fault(
        name="answers-first-question",
        does="answers the first of several questions",
        roles=(*AUTHORITATIVE, "resolver", "proxy"),
        on_query=unchanged_if_unreadable(_first_question),
    ),
    Fault(
        name="answers-responses",
        does="answers messages that are responses",
        roles=(*AUTHORITATIVE, "resolver", "proxy"),
        seen_in="servers that CVE-2024-2169 names",
        on_query=lambda passage: _with_qr(passage.query, qr=False),
    ),
    Fault(
        name="formerr-to-responses",
        does="answers messages that are responses with FORMERR",
        roles=(*AUTHORITATIVE, "resolver", "proxy"),
        on_query=lambda passage: _with_qr(passage.query, qr=False),
        on_response=unchanged_if_unreadable(_formerr_to_response),
    ),
    Fault(
        name="accepts-updates",
        does="takes updates from anyone",
        roles=(*AUTHORITATIVE, "resolver"),
        on_response=refusing(lambda message: message.opcode() == dns.opcode.UPDATE, dns.rcode.NOERROR),
    ),
)
