"""Faults of DNS proxies that show in one way of asking alone: with EDNS or DO, by TCP, in mixed case, in denials."""

import io
import struct
from collections.abc import Callable

import dns.flags
import dns.message
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.verification.asker import LARGEST_MESSAGE
from dnsrig.verification.exchange import HEADER_OCTETS
from dnsrig.verification.faults.changes import (
    Test,
    asking_by_tcp,
    changing_by_tcp,
    changing_denials,
    dropping,
    dropping_by_tcp,
    has_edns,
)
from dnsrig.verification.faults.dnssec import has_do
from dnsrig.verification.faults.fault import Change, Fault, Passage, unchanged_if_unreadable, wire_of
from dnsrig.verification.faults.proxy_queries import PROXY
from dnsrig.verification.landmarks import UNUSED_TYPE

FAILURES = {dns.rcode.SERVFAIL, dns.rcode.REFUSED}


def _of_unknown_type(is_meant: Test) -> Test:
    return lambda query: bool(query.question) and query.question[0].rdtype >= UNUSED_TYPE and is_meant(query)


def _without_options(message: dns.message.Message) -> None:
    if message.edns >= 0 and not message.had_tsig:
        flags = message.ednsflags
        message.use_edns(message.edns, 0, message.payload)
        # They hold the upper bits of the response code too.
        message.ednsflags = flags


def _set_rd(message: dns.message.Message) -> None:
    message.flags |= dns.flags.RD


def _hide_servfail(message: dns.message.Message) -> None:
    if message.rcode() == dns.rcode.SERVFAIL:
        message.set_rcode(dns.rcode.NXDOMAIN)


def _drop_failures_with_edns(passage: Passage) -> bytes | None:
    answer = passage.answer
    return None if answer.edns >= 0 and answer.rcode() in FAILURES else passage.response


def _without_nsec(message: dns.message.Message) -> None:
    message.authority = [rrset for rrset in message.authority if RdataType.NSEC not in {rrset.rdtype, rrset.covers}]


def _spelling(respell: Callable[[bytes], bytes], *, first_alone: bool = False) -> Change:
    """Spell names in queries otherwise, or their first labels alone; the client's spelling comes back."""

    def change(passage: Passage) -> bytes:
        query = passage.asked
        if query.had_tsig or not query.question:
            return passage.query
        octets, at = bytearray(passage.query), HEADER_OCTETS
        while octets[at]:
            end = at + 1 + octets[at]
            octets[at + 1 : end] = respell(bytes(octets[at + 1 : end]))
            if first_alone:
                break
            at = end
        return bytes(octets)

    return unchanged_if_unreadable(change)


def _own_question(passage: Passage) -> bytes:
    answer = passage.answer
    answer.question = list(passage.asked.question)
    return wire_of(answer)


def _lower_case_owners(passage: Passage) -> bytes:
    """Write owner names of the answer in lower case, and each in full: a pointer to the question has its spelling."""
    answer = passage.answer
    if answer.had_tsig or not answer.answer:
        return passage.response
    for rrset in answer.answer:
        rrset.name = rrset.name.canonicalize()
    made = io.BytesIO()
    made.write(passage.response[:HEADER_OCTETS])
    for question in answer.question:
        question.name.to_wire(made)
        made.write(struct.pack("!HH", question.rdtype, question.rdclass))
    opt = [] if answer.opt is None else [answer.opt]
    for rrset in (*answer.answer, *answer.authority, *answer.additional, *opt):
        rrset.to_wire(made)
    # Without pointers the largest have no room.
    return made.getvalue() if made.tell() <= LARGEST_MESSAGE else passage.response


def _fault(name: str, does: str, on_query: Change | None = None, on_response: Change | None = None) -> Fault:
    return Fault(name=f"proxy-{name}", does=does, roles=PROXY, on_query=on_query, on_response=on_response)


FAULTS = (
    _fault(
        "drops-unknown-types-with-edns",
        "drops queries with EDNS and without DO for types from 65280 on",
        dropping(_of_unknown_type(lambda query: has_edns(query) and not has_do(query))),
    ),
    _fault(
        "drops-unknown-types-with-do",
        "drops queries with DO for types from 65280 on",
        dropping(_of_unknown_type(has_do)),
    ),
    _fault(
        "drops-unknown-types-by-tcp",
        "drops queries by TCP for types from 65280 on",
        dropping_by_tcp(_of_unknown_type(lambda _: True)),
    ),
    _fault("strips-options-by-tcp", "takes EDNS options out of queries by TCP", asking_by_tcp(_without_options)),
    _fault(
        "strips-options-of-responses-by-tcp",
        "takes EDNS options out of responses by TCP",
        None,
        changing_by_tcp(_without_options),
    ),
    _fault("hides-servfail-by-tcp", "turns SERVFAIL into NXDOMAIN by TCP", None, changing_by_tcp(_hide_servfail)),
    _fault("sets-rd-by-tcp", "sets RD in queries by TCP", asking_by_tcp(_set_rd)),
    _fault(
        "drops-failures-with-edns",
        "drops SERVFAIL and REFUSED with EDNS",
        None,
        unchanged_if_unreadable(_drop_failures_with_edns),
    ),
    _fault(
        "strips-nsec", "takes NSEC records and their signatures out of denials", None, changing_denials(_without_nsec)
    ),
    _fault(
        "upper-cases-queries",
        "upper-cases names in queries",
        _spelling(bytes.upper),
        unchanged_if_unreadable(_own_question),
    ),
    _fault(
        "lower-cases-first-labels",
        "lower-cases the first labels of names in queries",
        _spelling(bytes.lower, first_alone=True),
        unchanged_if_unreadable(_own_question),
    ),
    _fault(
        "lower-cases-owners", "lower-cases owner names of answers", None, unchanged_if_unreadable(_lower_case_owners)
    ),
)
