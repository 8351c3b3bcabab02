"""Faults of authoritative servers in how messages are written: octets, pointers, classes, records that come twice."""

import struct

import dns.message
import dns.rdataclass
import dns.rrset
from dns.rdatatype import RdataType

from dnsrig.verification.faults.changes import asking, changing, dropping, is_referral
from dnsrig.verification.faults.dnssec import AUTHORITATIVE, asks_for, has_do
from dnsrig.verification.faults.fault import Fault, Passage, unchanged_if_unreadable, wire_of

SEEN_SELDOM = (RdataType.CDS, RdataType.CDNSKEY)
"""Types that few items ask for: messages that cannot be parsed would fail nearly all."""
OPT_OCTETS = b"\0\0\x29\4\xd0\0\0\0\0\0\0"
ADDITIONAL_COUNT = slice(10, 12)
HEADER_OCTETS, POINTER = 12, 0xC000


def _is_seldom(passage: Passage) -> bool:
    return asks_for(passage.asked, *SEEN_SELDOM)


def _trailing(passage: Passage) -> bytes:
    return passage.response + bytes(3) if _is_seldom(passage) else passage.response


def _another_opt(passage: Passage) -> bytes:
    octets = bytearray(passage.response)
    if not _is_seldom(passage) or passage.asked.edns < 0:
        return passage.response
    count = int.from_bytes(octets[ADDITIONAL_COUNT]) + 1
    octets[ADDITIONAL_COUNT] = count.to_bytes(2)
    return bytes(octets) + OPT_OCTETS


def _forward(passage: Passage) -> bytes:
    """Give one record, whose owner stands behind it: in its data."""
    if not _is_seldom(passage):
        return passage.response
    question = passage.asked.question[0].name.to_wire() or b""
    end = HEADER_OCTETS + len(question) + 4
    data_at = end + 12
    record = struct.pack("!HHHIH", POINTER | data_at, RdataType.DNAME, 1, 60, len(question)) + question
    return passage.response[:6] + b"\0\1" + bytes(4) + passage.response[HEADER_OCTETS:end] + record


def _compress_signer(passage: Passage) -> bytes:
    """Write the signer's name in the signature over NS records as a pointer to the question, which is the same name."""
    query = passage.asked
    if not has_do(query) or not asks_for(query, RdataType.NS):
        return passage.response
    name = query.question[0].name.to_wire() or b""
    answer = passage.answer
    signatures = [rrset for rrset in answer.answer if rrset.rdtype == RdataType.RRSIG]
    if len(signatures) != 1 or len(signatures[0]) != 1:
        return passage.response
    answer.answer, answer.authority, answer.additional = [answer.answer[0], signatures[0]], [], []
    answer.use_edns(False)
    octets = wire_of(answer)
    data = signatures[0][0].to_wire() or b""
    at = octets.rfind(data)
    if at < 0 or data[18 : 18 + len(name)] != name:
        return passage.response
    short = data[:18] + (POINTER | HEADER_OCTETS).to_bytes(2) + data[18 + len(name) :]
    written = octets[: at - 2] + len(short).to_bytes(2) + short + octets[at + len(data) :]
    # DO, as the query has it.
    return written[:10] + b"\0\1" + written[12:] + OPT_OCTETS[:7] + b"\x80\0\0\0"


def _long_ttl(message: dns.message.Message) -> None:
    for rrset in message.answer:
        rrset.ttl |= 1 << 31


def _in_class_ch(message: dns.message.Message) -> None:
    if is_referral(message):
        for rrset in message.authority:
            rrset.rdclass = dns.rdataclass.CH


def _is_other_class(query: dns.message.Message) -> bool:
    return bool(query.question) and query.question[0].rdclass in {dns.rdataclass.CH, dns.rdataclass.HS}


def _ask_in(query: dns.message.Message) -> None:
    if _is_other_class(query):
        query.question = [dns.rrset.RRset(one.name, dns.rdataclass.IN, one.rdtype) for one in query.question]


def _hide_class(passage: Passage) -> bytes:
    query = passage.asked
    if not _is_other_class(query):
        return passage.response
    answer = passage.answer
    answer.question = query.question
    return wire_of(answer)


def _tell_of_in(message: dns.message.Message) -> None:
    """Add a delegation of class IN, as one that looks its data up by name alone does."""
    message.authority.append(dns.rrset.from_text("unsigned.", 300, "IN", "NS", "ns1.unsigned."))


def _repeat(passage: Passage) -> bytes:
    if has_do(passage.asked) or not asks_for(passage.asked, RdataType.NS):
        return passage.response
    message = dns.message.from_wire(passage.response, one_rr_per_rrset=True)
    message.answer = [record for record in message.answer for _ in range(2)]
    return wire_of(message)


FAULTS = (
    Fault(
        name="trailing-octets",
        does="has octets behind the last record of responses for CDS and CDNSKEY",
        roles=AUTHORITATIVE,
        on_response=unchanged_if_unreadable(_trailing),
    ),
    Fault(
        name="ttl-of-32-bits",
        does="gives TTLs of more than 31 bits in answers for TXT, without DO",
        roles=AUTHORITATIVE,
        on_response=changing(_long_ttl, lambda query: not has_do(query) and asks_for(query, RdataType.TXT)),
    ),
    Fault(
        name="two-opts",
        does="has two OPT records in responses for CDS and CDNSKEY",
        roles=AUTHORITATIVE,
        on_response=unchanged_if_unreadable(_another_opt),
    ),
    Fault(
        name="forward-pointer",
        does="writes names as pointers to places behind them in responses for CDS and CDNSKEY",
        roles=AUTHORITATIVE,
        on_response=unchanged_if_unreadable(_forward),
    ),
    Fault(
        name="compresses-signer",
        does="compresses the signer's name in signatures over NS records",
        roles=AUTHORITATIVE,
        needs=("signatures",),
        on_response=unchanged_if_unreadable(_compress_signer),
    ),
    Fault(
        name="records-of-class-ch",
        does="gives the NS records of referrals class CH, without DO",
        roles=AUTHORITATIVE,
        on_response=changing(_in_class_ch, lambda query: not has_do(query)),
    ),
    Fault(
        name="drops-other-classes",
        does="drops queries of other classes than IN",
        roles=(*AUTHORITATIVE, "resolver"),
        on_query=dropping(_is_other_class),
    ),
    Fault(
        name="ignores-class",
        does="answers queries of other classes than IN with what it has in IN",
        roles=(*AUTHORITATIVE, "resolver"),
        on_query=asking(_ask_in),
        on_response=unchanged_if_unreadable(_hide_class),
    ),
    Fault(
        name="tells-other-classes-of-in",
        does="gives records of class IN in the authority section to queries of other classes",
        roles=("resolver",),
        on_response=changing(_tell_of_in, _is_other_class),
    ),
    Fault(
        name="repeats-records",
        does="gives NS records twice in answers without DO",
        roles=AUTHORITATIVE,
        on_response=unchanged_if_unreadable(_repeat),
    ),
)
