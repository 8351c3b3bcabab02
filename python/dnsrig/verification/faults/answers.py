"""Faults of authoritative servers in what they answer: lameness, other zones, aliases, wildcards, ANY, transfers."""

import dns.flags
import dns.message
import dns.name
import dns.opcode
import dns.rcode
import dns.rrset
from dns.rdatatype import RdataType

from dnsrig.verification.faults.changes import changing, dropping, error, of_type, refusing
from dnsrig.verification.faults.fault import Fault, Passage, unchanged_if_unreadable, wire_of
from dnsrig.verification.item import Role

AUTHORITATIVE: tuple[Role, ...] = ("authoritative",)
TTL_S = 3600
RANDOM = b"dnsrig-"
DNAME = "DNAME"
"""Begins what is kept of DNAME records."""


def _is_query(message: dns.message.Message) -> bool:
    return message.opcode() == dns.opcode.QUERY and len(message.question) == 1


def _asks_any(message: dns.message.Message) -> bool:
    return _is_query(message) and message.question[0].rdtype == RdataType.ANY


def _is_outside(message: dns.message.Message) -> bool:
    """Whether it asks for a name in a top-level domain that items make up (`random_label`)."""
    return _is_query(message) and any(label.startswith(RANDOM) for label in message.question[0].name.labels[-2:-1])


def _is_random(name: dns.name.Name) -> bool:
    """Whether a name is one that items make up (`random_label`): if it has records, then by a wildcard or DNAME."""
    return name.labels[0].startswith(RANDOM)


def _upward(query: dns.message.Message) -> bytes:
    referral = dns.message.make_response(query)
    referral.authority.append(dns.rrset.from_text(dns.name.root, TTL_S, "IN", "NS", "a.root-servers.net."))
    return wire_of(referral)


def _always_upward(passage: Passage) -> bytes:
    query = passage.asked
    return _upward(query) if _is_query(query) else passage.response


def _upward_outside(passage: Passage) -> bytes:
    query = passage.asked
    return _upward(query) if _is_outside(query) else passage.response


def _resolve_outside(passage: Passage) -> bytes:
    query = passage.asked
    if not _is_outside(query):
        return passage.response
    answer = dns.message.make_response(query, recursion_available=True)
    answer.answer.append(dns.rrset.from_text(query.question[0].name, TTL_S, "IN", "A", "192.0.2.66"))
    return wire_of(answer)


def _deny_outside(passage: Passage) -> bytes:
    query = passage.asked
    return error(query, dns.rcode.NXDOMAIN) if _is_outside(query) else passage.response


def _hide_cname(message: dns.message.Message) -> None:
    if message.question and of_type(message.answer, RdataType.CNAME) and not of_type(message.answer, RdataType.DNAME):
        message.answer = []


def _only_first_cname(message: dns.message.Message) -> None:
    if message.answer and message.answer[0].rdtype == RdataType.CNAME:
        alias = message.answer[0].name
        message.answer = [rrset for rrset in message.answer if rrset.name == alias]


def _no_dname(message: dns.message.Message) -> None:
    if of_type(message.answer, RdataType.DNAME):
        message.answer = []
        message.set_rcode(dns.rcode.NXDOMAIN)


def _no_dname_cname(message: dns.message.Message) -> None:
    if of_type(message.answer, RdataType.DNAME):
        message.answer = [rrset for rrset in message.answer if RdataType.DNAME in {rrset.rdtype, rrset.covers}]


def _dname_at_owner(passage: Passage) -> bytes:
    """Make a CNAME record at the owner of a DNAME record, once that was seen, for plain queries for A."""
    answer = passage.answer
    for rrset in of_type(answer.answer, RdataType.DNAME):
        passage.cache[DNAME, rrset.name] = rrset[0].target.to_text().encode(), 0.0
    name, rtype = (answer.question[0].name, answer.question[0].rdtype) if answer.question else (dns.name.root, 0)
    seen = passage.cache.get((DNAME, name))
    if seen is None or rtype != RdataType.A or passage.asked.edns >= 0:
        return passage.response
    answer.answer = [dns.rrset.from_text(name, TTL_S, "IN", "CNAME", seen[0].decode())]
    answer.authority = []
    return wire_of(answer)


def _no_wildcards(message: dns.message.Message) -> None:
    is_synthesised = message.answer and message.question and _is_random(message.question[0].name)
    if is_synthesised and not of_type(message.answer, RdataType.DNAME):
        message.answer = []
        message.set_rcode(dns.rcode.NXDOMAIN)


def _wildcard_owner(message: dns.message.Message) -> None:
    if of_type(message.answer, RdataType.DNAME):
        return
    for rrset in message.answer:
        if _is_random(rrset.name):
            rrset.name = dns.name.Name((b"*", *rrset.name.labels[1:]))


def _empty_any(message: dns.message.Message) -> None:
    message.answer = []
    message.flags &= ~int(dns.flags.TC)


def _transfer(passage: Passage) -> bytes:
    query = passage.asked
    if not _is_query(query) or query.question[0].rdtype != RdataType.AXFR:
        return passage.response
    return wire_of(_whole(query))


def _whole(query: dns.message.Message) -> dns.message.Message:
    origin = query.question[0].name
    transfer = dns.message.make_response(query)
    transfer.flags |= dns.flags.AA
    soa = dns.rrset.from_text(origin, TTL_S, "IN", "SOA", ". . 1 7200 900 1209600 300")
    transfer.answer += [soa, dns.rrset.from_text(origin, TTL_S, "IN", "NS", "."), soa]
    return transfer


def _transfer_increments(passage: Passage) -> bytes:
    """Give the whole zone to clients that have its version 0, by TCP."""
    query = passage.asked
    soas = of_type(query.authority, RdataType.SOA)
    if passage.transport != "tcp" or query.question[0].rdtype != RdataType.IXFR or not soas or soas[0][0].serial:
        return passage.response
    return wire_of(_whole(query))


def _is_upper(name: dns.name.Name) -> bool:
    return any(label != label.lower() for label in name.labels)


def _deny_upper_case(passage: Passage) -> bytes:
    query = passage.asked
    if _is_query(query) and _is_upper(query.question[0].name):
        return error(query, dns.rcode.NXDOMAIN)
    return passage.response


FAULTS = (
    Fault(
        name="lame",
        does="refuses every query",
        roles=AUTHORITATIVE,
        on_response=refusing(_is_query, dns.rcode.REFUSED),
    ),
    Fault(
        name="lame-upward",
        does="answers every query with a referral to the root",
        roles=AUTHORITATIVE,
        on_response=unchanged_if_unreadable(_always_upward),
    ),
    Fault(
        name="refers-upward",
        does="answers queries for other zones with a referral to the root",
        roles=AUTHORITATIVE,
        on_response=unchanged_if_unreadable(_upward_outside),
    ),
    Fault(
        name="recurses",
        does="resolves names of other zones for anyone",
        roles=AUTHORITATIVE,
        on_response=unchanged_if_unreadable(_resolve_outside),
    ),
    Fault(
        name="denies-outside",
        does="denies names of other zones",
        roles=AUTHORITATIVE,
        on_response=unchanged_if_unreadable(_deny_outside),
    ),
    Fault(
        name="drops-outside",
        does="drops queries for names of other zones",
        roles=AUTHORITATIVE,
        on_query=dropping(_is_outside),
    ),
    Fault(
        name="drops-any",
        does="drops queries for ANY",
        roles=(*AUTHORITATIVE, "resolver"),
        on_query=dropping(_asks_any),
    ),
    Fault(
        name="notimp-to-any",
        does="answers queries for ANY with NOTIMP",
        roles=AUTHORITATIVE,
        on_response=refusing(_asks_any, dns.rcode.NOTIMP),
    ),
    Fault(
        name="empty-any",
        does="answers queries for ANY without records",
        roles=AUTHORITATIVE,
        on_response=changing(_empty_any, _asks_any),
    ),
    Fault(
        name="hides-cname",
        does="gives no answer for aliases",
        roles=AUTHORITATIVE,
        on_response=changing(_hide_cname),
    ),
    Fault(
        name="no-cname-target",
        does="gives the CNAME record of an alias and nothing of its target",
        roles=AUTHORITATIVE,
        on_response=changing(_only_first_cname),
    ),
    Fault(
        name="no-dname",
        does="does not know what DNAME records mean",
        roles=AUTHORITATIVE,
        on_response=changing(_no_dname),
    ),
    Fault(
        name="no-dname-cname",
        does="makes no CNAME record of a DNAME record",
        roles=AUTHORITATIVE,
        on_response=changing(_no_dname_cname),
    ),
    Fault(
        name="dname-at-owner",
        does="takes a DNAME record for one of its owner, too",
        roles=AUTHORITATIVE,
        needs=("dname",),
        on_response=unchanged_if_unreadable(_dname_at_owner),
    ),
    Fault(
        name="no-wildcards",
        does="does not know what wildcards mean",
        roles=AUTHORITATIVE,
        on_response=changing(_no_wildcards),
    ),
    Fault(
        name="wildcard-owner",
        does="gives a wildcard's records with the asterisk",
        roles=AUTHORITATIVE,
        on_response=changing(_wildcard_owner),
    ),
    Fault(
        name="allows-axfr",
        does="transfers the zone to anyone",
        roles=AUTHORITATIVE,
        changes_transfers=True,
        on_response=unchanged_if_unreadable(_transfer),
    ),
    Fault(
        name="allows-ixfr",
        does="transfers the zone to anyone who asks by IXFR",
        roles=AUTHORITATIVE,
        seen_in="servers whose access list is for AXFR alone",
        on_response=unchanged_if_unreadable(_transfer_increments),
    ),
    Fault(
        name="case-sensitive",
        does="takes upper case letters in names for others",
        roles=AUTHORITATIVE,
        on_response=unchanged_if_unreadable(_deny_upper_case),
    ),
)
