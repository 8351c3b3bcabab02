"""Faults of authoritative servers that show in a few responses only: at delegations, in what is cut, below a limit."""

import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rrset
from dns.rdatatype import RdataType

from dnsrig.verification.faults.changes import (
    asking,
    changing,
    has_edns,
    is_denial,
    is_referral,
    of_type,
    without_types,
)
from dnsrig.verification.faults.dnssec import asks_for, has_do
from dnsrig.verification.faults.fault import Change, Fault, Passage, unchanged_if_unreadable
from dnsrig.verification.faults.headers import wrong_id
from dnsrig.verification.faults.messages import OLD_LIMIT
from dnsrig.verification.faults.some_headers import clear_rd
from dnsrig.verification.faults.transport import set_tc
from dnsrig.verification.item import Role

AUTHORITATIVE: tuple[Role, ...] = ("authoritative",)
TTL_S = 3600
OWN_LIMIT = 1232
"""Octets that the faulty server takes for right, whatever the client offers."""


def _answer_ns(message: dns.message.Message) -> None:
    """Make of a referral an answer, as of the zone's own NS records."""
    servers = of_type(message.authority, RdataType.NS) if is_referral(message) else []
    if message.question and any(rrset.name == message.question[0].name for rrset in servers):
        message.answer, message.authority = servers, without_types(message.authority, RdataType.NS)
        message.flags |= dns.flags.AA


def _refer_upward(message: dns.message.Message) -> None:
    """Send those who ask for delegated names to the root."""
    if is_referral(message):
        message.authority = [dns.rrset.from_text(dns.name.root, TTL_S, "IN", "NS", "a.root-servers.net.")]
        message.additional = []


def _raise_payload(query: dns.message.Message) -> None:
    if has_edns(query) and OLD_LIMIT < query.payload < OWN_LIMIT:
        query.use_edns(query.edns, query.ednsflags & 0xFFFF, OWN_LIMIT, options=list(query.options))


def _set_tc_of_referrals(passage: Passage) -> bytes:
    return set_tc(passage) if is_referral(passage.answer) else passage.response


def _set_tc_of_denials(passage: Passage) -> bytes:
    return set_tc(passage) if is_denial(passage.answer) and has_do(passage.asked) else passage.response


def _drop_question_of_cut(message: dns.message.Message) -> None:
    if message.flags & dns.flags.TC:
        message.question = []


def _deny_name(message: dns.message.Message) -> None:
    if not message.answer and message.rcode() == dns.rcode.NOERROR and not is_referral(message):
        message.set_rcode(dns.rcode.NXDOMAIN)


def _give_another_id(passage: Passage) -> bytes:
    return wrong_id(passage) if passage.transport == "tcp" else passage.response


def _fault(name: str, does: str, on_response: Change) -> Fault:
    return Fault(name=name, does=does, roles=AUTHORITATIVE, on_response=unchanged_if_unreadable(on_response))


FAULTS = (
    _fault(
        "answers-ns-of-delegations",
        "answers queries for the NS records of a delegation from the parent zone",
        changing(_answer_ns, lambda query: asks_for(query, RdataType.NS)),
    ),
    _fault("upward-for-delegations", "answers for delegated names by a referral to the root", changing(_refer_upward)),
    _fault("sets-tc-in-referrals", "sets TC in referrals by UDP that fit", _set_tc_of_referrals),
    _fault("sets-tc-in-denials-with-do", "sets TC in denials with DO by UDP that fit", _set_tc_of_denials),
    _fault(
        "drops-question-of-truncated",
        "leaves the question out of truncated responses",
        changing(_drop_question_of_cut),
    ),
    _fault(
        "nxdomain-for-ds",
        "denies names without DS records when asked for these",
        changing(_deny_name, lambda query: asks_for(query, RdataType.DS)),
    ),
    _fault("wrong-id-by-tcp", "gives responses by TCP another ID", _give_another_id),
    _fault("clears-rd-with-edns", "clears RD in responses to queries with EDNS", changing(clear_rd, has_edns)),
    Fault(
        name="ignores-payload-size-above-512",
        does="takes every payload size between 512 and 1232 for 1232",
        roles=AUTHORITATIVE,
        on_query=asking(_raise_payload),
    ),
)
