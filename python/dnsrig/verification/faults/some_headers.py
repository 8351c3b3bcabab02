"""Faults that show in some responses only: flags, OPT records, TTLs, payload sizes, TCP."""

import dns.flags
import dns.message
import dns.rcode
import dns.rrset
from dns.rdatatype import RdataType

from dnsrig.verification.faults.changes import Test, changing, dropping_by_tcp, is_denial, is_referral, refusing
from dnsrig.verification.faults.dnssec import AUTHORITATIVE, asks_for, has_do, is_signature_of, spoil
from dnsrig.verification.faults.fault import Change, Fault, Passage, unchanged_if_unreadable, wire_of
from dnsrig.verification.faults.messages import OLD_LIMIT

PADDING = dns.rrset.from_text("padding.invalid.", 60, "IN", "TXT", " ".join([f'"{"x" * 250}"'] * 3))


def _clear_aa(message: dns.message.Message) -> None:
    if message.answer and not asks_for(message, RdataType.SOA, RdataType.DS, RdataType.AXFR):
        message.flags &= ~int(dns.flags.AA)


def _set(flag: dns.flags.Flag) -> Change:
    def change(message: dns.message.Message) -> None:
        message.flags |= flag

    return changing(change)


def clear_rd(message: dns.message.Message) -> None:
    """Clear RD."""
    message.flags &= ~int(dns.flags.RD)


def _set_ra(message: dns.message.Message) -> None:
    message.flags |= dns.flags.RA


def _add_opt(message: dns.message.Message) -> None:
    message.use_edns(0, 0, 1232)


def _set_do(message: dns.message.Message) -> None:
    if message.edns >= 0:
        message.ednsflags |= dns.flags.DO


def _offer_nothing(message: dns.message.Message) -> None:
    if message.edns >= 0:
        flags = message.ednsflags
        message.use_edns(message.edns, 0, 0, options=list(message.options))
        message.ednsflags = flags


def _lower_second_ttl(passage: Passage) -> bytes:
    """Take a second off the TTL of the second record; not of signed responses, whose TTLs items on signatures see."""
    if has_do(passage.asked) or asks_for(passage.asked, RdataType.AXFR):
        return passage.response
    message = dns.message.from_wire(passage.response, one_rr_per_rrset=True)
    for record in message.answer[1:2]:
        first = message.answer[0]
        if (record.name, record.rdtype) == (first.name, first.rdtype):
            record.ttl = first.ttl - 1
    return wire_of(message)


def _padding(is_meant: Test) -> Change:
    def change(passage: Passage) -> bytes:
        answer = passage.answer
        if passage.transport != "udp" or passage.asked.edns >= 0 or not is_meant(answer):
            return passage.response
        answer.additional.append(PADDING)
        return wire_of(answer)

    return unchanged_if_unreadable(change)


def _spoil_by_tcp(passage: Passage) -> bytes:
    if passage.transport != "tcp" or not asks_for(passage.asked, RdataType.SOA):
        return passage.response
    answer = passage.answer
    for rrset in answer.answer:
        if is_signature_of(rrset, RdataType.SOA):
            spoil(rrset)
    return wire_of(answer)


def _strip_by_tcp(passage: Passage) -> bytes:
    if passage.transport != "tcp" or not asks_for(passage.asked, RdataType.SOA):
        return passage.response
    answer = passage.answer
    answer.answer[:] = [rrset for rrset in answer.answer if rrset.rdtype != RdataType.RRSIG]
    return wire_of(answer)


def _with_do(passage: Passage) -> bytes:
    """Ask with DO wherever there is EDNS."""
    query = passage.asked
    if query.edns == 0 and not asks_for(query, RdataType.AXFR):
        query.ednsflags |= dns.flags.DO
    return wire_of(query)


def _hide_do(passage: Passage) -> bytes:
    if passage.asked.edns < 0 or has_do(passage.asked):
        return passage.response
    answer = passage.answer
    answer.ednsflags &= ~int(dns.flags.DO)
    return wire_of(answer)


def _fault(name: str, does: str, change: Change, *needs: str) -> Fault:
    return Fault(name=name, does=does, roles=AUTHORITATIVE, needs=needs, on_response=change)


FAULTS = (
    _fault("clears-aa-of-answers", "clears AA in answers for other types than SOA and DS", changing(_clear_aa)),
    _fault("sets-ad", "sets the AD flag of all its responses", _set(dns.flags.AD)),
    _fault("sets-rd", "sets the RD flag of all its responses", _set(dns.flags.RD)),
    _fault("clears-rd", "does not copy the RD flag into its responses", changing(clear_rd)),
    _fault(
        "sets-ra-without-rd",
        "sets the RA flag where the query has not RD",
        changing(_set_ra, lambda query: not query.flags & dns.flags.RD),
    ),
    _fault(
        "opt-unasked", "gives an OPT record to those without EDNS", changing(_add_opt, lambda query: query.edns < 0)
    ),
    _fault(
        "do-unasked",
        "sets DO in responses to queries without it",
        changing(_set_do, lambda query: not has_do(query)),
    ),
    _fault("opt-payload-0", "offers a payload size of 0", changing(_offer_nothing)),
    _fault("ttls-differ", "gives the records of an RRset different TTLs", unchanged_if_unreadable(_lower_second_ttl)),
    _fault(
        "formerr-to-small-payloads",
        "answers queries with FORMERR that offer less than 512 octets",
        refusing(lambda query: query.edns >= 0 and query.payload < OLD_LIMIT, dns.rcode.FORMERR),
    ),
    _fault(
        "exceeds-512-in-denials",
        "sends denials of more than 512 octets by UDP to those without EDNS",
        _padding(is_denial),
    ),
    _fault(
        "exceeds-512-in-referrals",
        "sends referrals of more than 512 octets by UDP to those without EDNS",
        _padding(is_referral),
    ),
    _fault(
        "strips-rrsig-of-soa-by-tcp",
        "leaves the SOA record's signatures out by TCP",
        unchanged_if_unreadable(_strip_by_tcp),
        "signed",
    ),
    _fault(
        "spoils-signatures-by-tcp",
        "gives the SOA record's signature with an octet changed by TCP",
        unchanged_if_unreadable(_spoil_by_tcp),
        "signed",
    ),
    Fault(
        name="drops-do-for-soa-by-tcp",
        does="drops queries with DO for the SOA record by TCP",
        roles=AUTHORITATIVE,
        on_query=dropping_by_tcp(lambda query: asks_for(query, RdataType.SOA) and has_do(query)),
    ),
    Fault(
        name="answers-twice",
        does="sends every response by UDP twice",
        roles=AUTHORITATIVE,
        answers_twice=True,
    ),
    Fault(
        name="rrsig-with-edns",
        does="gives RRSIG records to all queries with EDNS",
        roles=AUTHORITATIVE,
        needs=("signed",),
        on_query=unchanged_if_unreadable(_with_do),
        on_response=unchanged_if_unreadable(_hide_do),
    ),
)
