"""Faults of authoritative servers in transport: size, truncation, TCP, sockets, messages that are none."""

import dns.exception
import dns.message
from dns.rdatatype import RdataType

from dnsrig.verification.faults.changes import asking, changing, of_type, replace_rdatas
from dnsrig.verification.faults.fault import Fault, Passage, unchanged_if_unreadable, wire_of
from dnsrig.verification.faults.messages import OLD_LIMIT
from dnsrig.verification.item import Role

AUTHORITATIVE: tuple[Role, ...] = ("authoritative",)
LARGEST_PAYLOAD = 65_535
COUNTS = slice(6, 8)
"""Octets of the header with the number of records in the answer section."""
SILENCED = "silenced"
HUGE = 16_384
"""Octets beyond which some buffers do not go."""


def _ask_for_more(passage: Passage) -> bytes:
    """Ask with EDNS where the client did not, so that more than 512 octets come by UDP."""
    query = passage.asked
    if passage.transport != "udp" or query.edns >= 0:
        return passage.query
    query.use_edns(0, 0, LARGEST_PAYLOAD)
    return wire_of(query)


def _hide_opt(passage: Passage) -> bytes:
    if passage.transport != "udp" or passage.asked.edns >= 0:
        return passage.response
    answer = passage.answer
    answer.use_edns(False)
    return wire_of(answer)


def _raise_payload(query: dns.message.Message) -> None:
    if query.edns >= 0:
        query.use_edns(query.edns, query.ednsflags & 0xFFFF, LARGEST_PAYLOAD, options=list(query.options))


def _cut_raggedly(passage: Passage) -> bytes:
    """Say that a record follows which has been cut off."""
    octets = bytearray(passage.response)
    if passage.transport != "udp" or not octets[2] & 0x02:
        return passage.response
    octets[COUNTS] = (int.from_bytes(octets[COUNTS]) + 1).to_bytes(2)
    return bytes(octets)


def set_tc(passage: Passage) -> bytes:
    """Set TC in a response by UDP."""
    octets = bytearray(passage.response)
    octets[2] |= 0x02 if passage.transport == "udp" else 0
    return bytes(octets)


def _cut_by_tcp(passage: Passage) -> bytes:
    if passage.transport != "tcp" or len(passage.response) <= OLD_LIMIT:
        return passage.response
    answer = passage.answer
    while len(wire_of(answer)) > OLD_LIMIT:
        section = next((part for part in (answer.additional, answer.authority, answer.answer) if part), None)
        if section is None:
            break
        section.pop()
    return wire_of(answer)


def _drop_large_by_tcp(passage: Passage) -> bytes | None:
    return None if passage.transport == "tcp" and len(passage.response) > OLD_LIMIT else passage.response


def _cut_huge_by_tcp(passage: Passage) -> bytes:
    """Leave out records from the end, and do not say so."""
    if passage.transport != "tcp" or len(passage.response) <= HUGE:
        return passage.response
    answer = passage.answer
    for rrset in answer.answer:
        replace_rdatas(rrset, list(rrset)[: len(rrset) // 2] or list(rrset))
    return wire_of(answer)


def _drop_huge_by_tcp(passage: Passage) -> bytes | None:
    return None if passage.transport == "tcp" and len(passage.response) > HUGE else passage.response


def _drop_tcp(passage: Passage) -> bytes | None:
    return None if passage.transport == "tcp" else passage.query


def _drop_plain(passage: Passage) -> bytes | None:
    return None if passage.transport == "udp" and passage.asked.edns < 0 else passage.query


def _fall_silent(passage: Passage) -> bytes | None:
    try:
        dns.message.from_wire(passage.query)
    except (dns.exception.DNSException, ValueError):
        passage.memory.add(SILENCED)
    return None if SILENCED in passage.memory else passage.query


def _keep_first_strings(message: dns.message.Message) -> None:
    for rrset in of_type(message.answer, RdataType.TXT):
        replace_rdatas(rrset, [rdata.replace(strings=rdata.strings[:1]) for rdata in rrset])


FAULTS = (
    Fault(
        name="exceeds-512",
        does="sends more than 512 octets by UDP to clients without EDNS",
        roles=(*AUTHORITATIVE, "resolver"),
        on_query=unchanged_if_unreadable(_ask_for_more),
        on_response=unchanged_if_unreadable(_hide_opt),
    ),
    Fault(
        name="ignores-payload-size",
        does="does not keep to the client's payload size",
        roles=(*AUTHORITATIVE, "resolver"),
        on_query=asking(_raise_payload),
    ),
    Fault(
        name="cuts-ragged",
        does="cuts what is too long in the middle of a record",
        roles=AUTHORITATIVE,
        on_response=_cut_raggedly,
    ),
    Fault(name="sets-tc", does="sets TC in every response by UDP", roles=AUTHORITATIVE, on_response=set_tc),
    Fault(
        name="cuts-tcp",
        does="cuts responses by TCP to 512 octets",
        roles=AUTHORITATIVE,
        on_response=unchanged_if_unreadable(_cut_by_tcp),
    ),
    Fault(
        name="cuts-huge-by-tcp",
        does="leaves records out of responses by TCP beyond 16 KiB",
        roles=AUTHORITATIVE,
        on_response=unchanged_if_unreadable(_cut_huge_by_tcp),
    ),
    Fault(
        name="drops-huge-by-tcp",
        does="gives no responses by TCP beyond 16 KiB",
        roles=AUTHORITATIVE,
        on_response=_drop_huge_by_tcp,
    ),
    Fault(
        name="drops-large-by-tcp",
        does="drops responses by TCP beyond 512 octets",
        roles=AUTHORITATIVE,
        on_response=_drop_large_by_tcp,
    ),
    Fault(
        name="drops-tcp",
        does="takes TCP connections and answers nothing",
        roles=AUTHORITATIVE,
        on_query=_drop_tcp,
    ),
    Fault(
        name="drops-plain",
        does="drops queries without EDNS by UDP",
        roles=AUTHORITATIVE,
        on_query=unchanged_if_unreadable(_drop_plain),
    ),
    Fault(
        name="closes-tcp-after-one",
        does="closes a TCP connection after the first response",
        roles=(*AUTHORITATIVE, "proxy"),
        closes_tcp_after_one=True,
    ),
    Fault(
        name="discards-pipelined",
        does="throws away what comes by TCP before its last response has gone",
        roles=(*AUTHORITATIVE, "proxy"),
        discards_pipelined=True,
    ),
    Fault(
        name="serves-one-connection",
        does="lets TCP connections wait until another one is closed",
        roles=(*AUTHORITATIVE, "resolver"),
        serves_one_connection=True,
    ),
    Fault(
        name="needs-whole-queries",
        does="closes TCP connections by which a query comes in more than one segment, or with others in one",
        roles=(*AUTHORITATIVE, "proxy", "resolver"),
        needs_whole_queries=True,
    ),
    Fault(
        name="answers-from-other-port",
        does="sends responses by UDP from another port",
        roles=(*AUTHORITATIVE, "proxy"),
        other_source_port=True,
    ),
    Fault(
        name="silenced-by-garbage",
        does="answers nothing more after a message that cannot be parsed",
        roles=(*AUTHORITATIVE, "resolver"),
        on_query=_fall_silent,
    ),
    Fault(
        name="keeps-first-string",
        does="gives only the first string of TXT records",
        roles=AUTHORITATIVE,
        on_response=changing(_keep_first_strings),
    ),
)
