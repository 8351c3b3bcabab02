"""Faults in how messages are carried: size, truncation, EDNS, flags, case."""

import dns.flags
import dns.message
import dns.opcode
import dns.rcode
import dns.rdatatype

from dnsrig.verification.faults.fault import Fault, Passage, unchanged_if_unreadable, wire_of
from dnsrig.verification.item import Role

OLD_LIMIT = 512
"""Octets by UDP without EDNS (RFC 1035 section 4.2.1)."""
ALL: tuple[Role, ...] = ("authoritative", "resolver", "proxy")


def _without_opt(passage: Passage) -> bytes:
    query = passage.asked
    query.use_edns(False)
    return wire_of(query)


def _strip_opt(passage: Passage) -> bytes:
    answer = passage.answer
    answer.use_edns(False)
    return wire_of(answer)


def _clear_do(passage: Passage) -> bytes:
    query = passage.asked
    query.ednsflags &= ~int(dns.flags.DO)
    return wire_of(query)


def _formerr_to_edns(passage: Passage) -> bytes:
    query = passage.asked
    if query.edns < 0:
        return passage.response
    refusal = dns.message.make_response(query)
    refusal.use_edns(False)
    refusal.set_rcode(dns.rcode.FORMERR)
    return wire_of(refusal)


def _drop_edns(passage: Passage) -> bytes | None:
    return None if passage.asked.edns >= 0 else passage.query


def _cut_without_tc(passage: Passage) -> bytes:
    """Leave out RRsets from the end until the rest fits, and do not say so."""
    answer = passage.answer
    is_whole = len(passage.response) <= OLD_LIMIT and not answer.flags & dns.flags.TC
    if passage.transport != "udp" or is_whole:
        return passage.response
    answer.flags &= ~int(dns.flags.TC)
    while len(wire_of(answer)) > OLD_LIMIT:
        section = next((part for part in (answer.additional, answer.authority, answer.answer) if part), None)
        if section is None:
            break
        section.pop()
    return wire_of(answer)


def _drop_large(passage: Passage) -> bytes | None:
    return None if passage.transport == "udp" and len(passage.response) > OLD_LIMIT else passage.response


def _no_truncation(passage: Passage) -> bytes:
    answer = passage.answer
    answer.flags &= ~int(dns.flags.TC)
    return wire_of(answer)


def _lower_case(passage: Passage) -> bytes:
    answer = passage.answer
    for rrset in answer.question:
        rrset.name = rrset.name.canonicalize()
    return wire_of(answer)


def _answer_bad_version(passage: Passage) -> bytes:
    """Answer queries of unknown EDNS versions as if they were of version 0."""
    query = passage.asked
    if query.edns > 0:
        query.use_edns(0, query.ednsflags, query.payload)
    return wire_of(query)


def _drop_opcodes(passage: Passage) -> bytes | None:
    return None if passage.asked.opcode() != dns.opcode.QUERY else passage.query


def _drop_unknown_types(passage: Passage) -> bytes | None:
    question = passage.asked.question
    return None if question and question[0].rdtype > 257 else passage.query


def _notimp_unknown_types(passage: Passage) -> bytes:
    query = passage.asked
    if not query.question or query.question[0].rdtype <= 257:
        return passage.response
    refusal = dns.message.make_response(query)
    refusal.set_rcode(dns.rcode.NOTIMP)
    return wire_of(refusal)


def _clear_aa(passage: Passage) -> bytes:
    answer = passage.answer
    answer.flags &= ~int(dns.flags.AA)
    return wire_of(answer)


def _set_ra(passage: Passage) -> bytes:
    answer = passage.answer
    answer.flags |= dns.flags.RA
    return wire_of(answer)


FAULTS = (
    Fault(
        name="strips-opt",
        does="leaves the OPT record out of responses",
        roles=ALL,
        on_response=unchanged_if_unreadable(_strip_opt),
    ),
    Fault(
        name="ignores-edns",
        does="treats queries with EDNS as if they had none",
        roles=ALL,
        on_query=unchanged_if_unreadable(_without_opt),
    ),
    Fault(name="drops-edns", does="drops queries with EDNS", roles=ALL, on_query=unchanged_if_unreadable(_drop_edns)),
    Fault(
        name="formerr-to-edns",
        does="answers queries with EDNS with FORMERR",
        roles=ALL,
        on_response=unchanged_if_unreadable(_formerr_to_edns),
    ),
    Fault(
        name="clears-do",
        does="clears the DO flag of queries",
        roles=ALL,
        on_query=unchanged_if_unreadable(_clear_do),
    ),
    Fault(
        name="cuts-without-tc",
        does="cuts responses by UDP to 512 octets with TC=0",
        roles=ALL,
        seen_in="JPRS-2010, case 7: broadband routers",
        on_response=unchanged_if_unreadable(_cut_without_tc),
    ),
    Fault(
        name="drops-large",
        does="drops responses by UDP beyond 512 octets",
        roles=ALL,
        on_response=_drop_large,
    ),
    Fault(
        name="clears-tc",
        does="clears the TC flag of responses",
        roles=ALL,
        on_response=unchanged_if_unreadable(_no_truncation),
    ),
    Fault(name="no-tcp", does="does not listen on TCP", roles=ALL, refuses_tcp=True),
    Fault(
        name="lower-cases",
        does="gives the question back in lower case",
        roles=ALL,
        on_response=unchanged_if_unreadable(_lower_case),
    ),
    Fault(
        name="answers-any-edns-version",
        does="answers queries of unknown EDNS versions as if they were of version 0",
        roles=ALL,
        on_query=unchanged_if_unreadable(_answer_bad_version),
    ),
    Fault(
        name="drops-opcodes",
        does="drops queries of other opcodes than QUERY",
        roles=ALL,
        on_query=unchanged_if_unreadable(_drop_opcodes),
    ),
    Fault(
        name="drops-unknown-types",
        does="drops queries for types that it does not know",
        roles=ALL,
        on_query=unchanged_if_unreadable(_drop_unknown_types),
    ),
    Fault(
        name="notimp-to-unknown-types",
        does="answers queries for types that it does not know with NOTIMP",
        roles=ALL,
        on_response=unchanged_if_unreadable(_notimp_unknown_types),
    ),
    Fault(
        name="clears-aa",
        does="clears the AA flag of its responses",
        roles=("authoritative",),
        on_response=unchanged_if_unreadable(_clear_aa),
    ),
    Fault(
        name="sets-ra",
        does="sets the RA flag of its responses",
        roles=("authoritative",),
        on_response=unchanged_if_unreadable(_set_ra),
    ),
)
