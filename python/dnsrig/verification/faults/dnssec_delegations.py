"""Faults in referrals, in DS records, and in zone transfers."""

from collections.abc import Callable

import dns.message
import dns.rcode
import dns.rdataclass
import dns.rrset
from dns.rdatatype import RdataType

from dnsrig.verification.faults.changes import asking, changing, is_referral, of_type, without_types
from dnsrig.verification.faults.dnssec import (
    AUTHORITATIVE,
    asks_for,
    has_do,
    made_signature,
    without_signatures_of,
)
from dnsrig.verification.faults.dnssec_denials import without_denial
from dnsrig.verification.faults.fault import Change, Fault, Passage, unchanged_if_unreadable, wire_of


def _asks_ds(query: dns.message.Message) -> bool:
    return has_do(query) and asks_for(query, RdataType.DS)


def _changing_transfer(change_message: Callable[[dns.message.Message], None]) -> Change:
    """Change the messages of zone transfers in place, their records one by one: the SOA record is there twice."""

    def change(passage: Passage) -> bytes:
        if not asks_for(passage.asked, RdataType.AXFR):
            return passage.response
        part = dns.message.from_wire(passage.response, one_rr_per_rrset=True)
        change_message(part)
        return wire_of(part)

    return unchanged_if_unreadable(change)


def _is_at_apex(answer: dns.message.Message) -> bool:
    return any(soa.name == answer.question[0].name for soa in of_type(answer.authority, RdataType.SOA))


def _answer_for_child(answer: dns.message.Message) -> None:
    """Say that there is no DS, as the child zone would."""
    if _is_at_apex(answer) or answer.rcode() != dns.rcode.NOERROR:
        return
    name = answer.question[0].name
    answer.answer.clear()
    soa = dns.rrset.from_text(name, 300, dns.rdataclass.IN, RdataType.SOA, f"ns.{name} h.{name} 1 7200 900 604800 300")
    answer.authority[:] = [soa]


def _ask_address(query: dns.message.Message) -> None:
    if _asks_ds(query):
        query.question[0].rdtype = RdataType.A


def _restore_question(answer: dns.message.Message) -> None:
    answer.question[0].rdtype = RdataType.DS


def strip_referral(answer: dns.message.Message) -> None:
    """Leave DS records, or the proof that there are none, out of a referral."""
    if is_referral(answer):
        without_denial(answer)
        section = without_types(answer.authority, RdataType.DS)
        answer.authority[:] = without_signatures_of(section, RdataType.DS)


def _sign_referral(answer: dns.message.Message) -> None:
    """Add a signature over a delegation's NS records, in the name of the zone that signs the rest."""
    if not is_referral(answer):
        return
    signers = [one.signer for rrset in of_type(answer.authority, RdataType.RRSIG) for one in rrset]
    for rrset in of_type(answer.authority, RdataType.NS):
        answer.authority += [made_signature(rrset, signer) for signer in signers[:1]]


def _servfail_at_apex(answer: dns.message.Message) -> None:
    if _is_at_apex(answer):
        answer.set_rcode(dns.rcode.SERVFAIL)
        answer.authority.clear()


def _leaving_out(rtype: RdataType) -> Callable[[dns.message.Message], None]:
    """Leave out records of a type, and the signatures over them."""

    def leave_out(answer: dns.message.Message) -> None:
        answer.answer[:] = without_signatures_of(without_types(answer.answer, rtype), rtype)

    return leave_out


def _leave_out_end(passage: Passage) -> bytes:
    """Leave out the second SOA record, also where each of the two is alone in its message."""
    if not asks_for(passage.asked, RdataType.AXFR):
        return passage.response
    part = dns.message.from_wire(passage.response, one_rr_per_rrset=True)
    key = f"transfer {passage.query[:2].hex()}"
    is_first = key not in passage.memory
    passage.memory.add(key)
    if part.answer[int(is_first) :] and part.answer[-1].rdtype == RdataType.SOA:
        part.answer.pop()
    return wire_of(part)


FAULTS = (
    Fault(
        name="ds-from-child",
        does="answers queries for DS at a delegation as the child zone would",
        roles=AUTHORITATIVE,
        needs=("signed",),
        seen_in="servers that have the child zone too and do not know DS",
        on_response=changing(_answer_for_child, _asks_ds),
    ),
    Fault(
        name="refers-ds-queries",
        does="refers queries for DS to the child zone",
        roles=AUTHORITATIVE,
        needs=("signed",),
        seen_in="servers without DNSSEC",
        on_query=asking(_ask_address),
        on_response=changing(_restore_question, _asks_ds),
    ),
    Fault(
        name="referral-without-ds",
        does="leaves DS records, or the proof that there are none, out of referrals",
        roles=AUTHORITATIVE,
        needs=("signed",),
        on_response=changing(strip_referral, has_do),
    ),
    Fault(
        name="signed-delegation",
        does="gives signatures over the NS records of delegations",
        roles=AUTHORITATIVE,
        needs=("signed",),
        on_response=changing(_sign_referral, has_do),
    ),
    Fault(
        name="servfail-to-ds-at-apex",
        does="answers queries for DS at the zone's own apex with SERVFAIL",
        roles=AUTHORITATIVE,
        needs=("signed",),
        on_response=changing(_servfail_at_apex, _asks_ds),
    ),
    Fault(
        name="axfr-leaves-out",
        does="leaves addresses out of zone transfers",
        roles=AUTHORITATIVE,
        changes_transfers=True,
        needs=("transfer",),
        on_response=_changing_transfer(_leaving_out(RdataType.A)),
    ),
    Fault(
        name="axfr-strips-rrsig",
        does="leaves RRSIG records out of zone transfers",
        roles=AUTHORITATIVE,
        changes_transfers=True,
        needs=("transfer", "signed"),
        on_response=_changing_transfer(_leaving_out(RdataType.RRSIG)),
    ),
    Fault(
        name="axfr-strips-nsec",
        does="leaves NSEC records out of zone transfers",
        roles=AUTHORITATIVE,
        changes_transfers=True,
        needs=("transfer", "nsec"),
        on_response=_changing_transfer(_leaving_out(RdataType.NSEC)),
    ),
    Fault(
        name="axfr-ends-early",
        does="leaves out the end of zone transfers",
        roles=AUTHORITATIVE,
        changes_transfers=True,
        needs=("transfer",),
        on_response=unchanged_if_unreadable(_leave_out_end),
    ),
)
