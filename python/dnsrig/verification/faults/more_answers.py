"""Faults of authoritative servers that show with DO only, for one type only, or in zone transfers."""

import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rrset
from dns.edns import OptionType
from dns.rdatatype import RdataType

from dnsrig.verification.faults.changes import changing, dropping, is_denial, of_type
from dnsrig.verification.faults.dnssec import AUTHORITATIVE, asks_for, has_do
from dnsrig.verification.faults.fault import Change, Fault, Passage, unchanged_if_unreadable, wire_of
from dnsrig.verification.faults.some_answers import RANDOM

OTHER_ID = b"\x12\x34"


def _noerror(message: dns.message.Message) -> None:
    if is_denial(message):
        message.set_rcode(dns.rcode.NOERROR)


def _one_label(message: dns.message.Message) -> None:
    """Deny names that a wildcard covers with two labels more."""
    labels = message.question[0].name.labels if message.question else ()
    is_deeper = any(label.startswith(RANDOM) for label in labels[1:])
    if is_deeper and message.answer and not of_type(message.answer, RdataType.DNAME):
        message.answer = []
        message.set_rcode(dns.rcode.NXDOMAIN)


def _set_ad(message: dns.message.Message) -> None:
    message.flags |= dns.flags.AD


def _has_ad(query: dns.message.Message) -> bool:
    return bool(query.flags & dns.flags.AD)


def _set_ra(message: dns.message.Message) -> None:
    message.flags |= dns.flags.RA


def _of_transfer(change: Change) -> Change:
    def changed(passage: Passage) -> bytes | None:
        return change(passage) if asks_for(passage.asked, RdataType.AXFR) else passage.response

    return unchanged_if_unreadable(changed)


def _add_foreign(passage: Passage) -> bytes:
    part = passage.answer
    if len(part.answer) > 1:
        part.answer.insert(1, dns.rrset.from_text("www.bank.dnsrig-elsewhere.", 300, "IN", "A", "192.0.2.66"))
    return wire_of(part)


def _without_aa(passage: Passage) -> bytes:
    part = passage.answer
    part.flags &= ~int(dns.flags.AA)
    return wire_of(part)


def _without_question(passage: Passage) -> bytes:
    part = passage.answer
    part.question = []
    return wire_of(part)


def _leave_out_glue(passage: Passage) -> bytes:
    part = passage.answer
    cuts = [rrset.name for rrset in part.answer if rrset.rdtype == RdataType.DS]
    part.answer = [
        rrset
        for rrset in part.answer
        if rrset.rdtype not in {RdataType.A, RdataType.AAAA} or not any(rrset.name.is_subdomain(cut) for cut in cuts)
    ]
    return wire_of(part)


def _fault(name: str, does: str, change: Change) -> Fault:
    return Fault(name=name, does=does, roles=AUTHORITATIVE, on_response=change)


def _in_transfers(name: str, does: str, change: Change) -> Fault:
    return Fault(
        name=name,
        does=does,
        roles=AUTHORITATIVE,
        needs=("transfer",),
        changes_transfers=True,
        on_response=_of_transfer(change),
    )


FAULTS = (
    _fault(
        "noerror-for-mx",
        "gives NOERROR to queries for MX at names that do not exist",
        changing(_noerror, lambda query: not has_do(query) and asks_for(query, RdataType.MX)),
    ),
    _fault("wildcards-of-one-label", "takes a wildcard for one label only", changing(_one_label)),
    _fault("sets-ad-with-do", "sets AD in responses to queries with DO", changing(_set_ad, has_do)),
    _fault("copies-ad", "sets AD in responses to queries with AD", changing(_set_ad, _has_ad)),
    _fault("sets-ra-with-do", "sets RA in responses to queries with DO", changing(_set_ra, has_do)),
    Fault(
        name="drops-rd-with-do",
        does="drops queries with both RD and DO",
        roles=AUTHORITATIVE,
        on_query=dropping(lambda query: bool(query.flags & dns.flags.RD) and has_do(query)),
    ),
    Fault(
        name="drops-cookie-with-do",
        does="drops queries with both a cookie and DO",
        roles=AUTHORITATIVE,
        on_query=dropping(lambda query: has_do(query) and any(one.otype == OptionType.COOKIE for one in query.options)),
    ),
    _in_transfers("axfr-adds-foreign", "transfers a record of another zone too", _add_foreign),
    _in_transfers(
        "axfr-leaves-out-glue", "leaves the glue of secure delegations out of zone transfers", _leave_out_glue
    ),
    _in_transfers("axfr-without-aa", "clears AA in the messages of zone transfers", _without_aa),
    _in_transfers("axfr-without-question", "leaves the question out of zone transfers", _without_question),
    _in_transfers(
        "axfr-other-id", "gives messages of zone transfers another ID", lambda passage: OTHER_ID + passage.response[2:]
    ),
)
