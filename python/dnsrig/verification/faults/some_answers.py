"""Faults that show in some answers only: of some types, of some names, without DO."""

import dns.message
import dns.name
import dns.rcode
import dns.rrset
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.RRSIG import RRSIG
from dns.rdtypes.IN.A import A

from dnsrig.verification.faults.changes import (
    changing,
    dropping,
    is_denial,
    is_referral,
    of_type,
    replace_rdatas,
    without_types,
)
from dnsrig.verification.faults.dnssec import AUTHORITATIVE, asks_for, has_do
from dnsrig.verification.faults.dnssec_denials import without_denial
from dnsrig.verification.faults.fault import Change, Fault, Passage, unchanged_if_unreadable, wire_of

NEWER_TYPES = (RdataType.SRV, RdataType.CAA, RdataType.TLSA, RdataType.SVCB, RdataType.HTTPS)
RANDOM = b"dnsrig-"


def _set_addresses(rrsets: list[dns.rrset.RRset]) -> None:
    for rrset in rrsets:
        replace_rdatas(rrset, [A(rrset.rdclass, RdataType.A, "192.0.2.251")])  # type: ignore[no-untyped-call]


def _other_address(message: dns.message.Message) -> None:
    _set_addresses(of_type(message.answer, RdataType.A))


def _other_glue(message: dns.message.Message) -> None:
    if is_referral(message):
        _set_addresses(of_type(message.additional, RdataType.A))


def _leave_server_out(message: dns.message.Message) -> None:
    """Leave one of several servers, with its addresses, out of referrals."""
    for rrset in of_type(message.authority, RdataType.NS) if is_referral(message) else ():
        if len(rrset) > 1:
            *kept, gone = sorted(rrset)
            replace_rdatas(rrset, kept)
            message.additional = [one for one in message.additional if one.name != gone.target]


def _nxdomain(message: dns.message.Message) -> None:
    if is_denial(message):
        message.set_rcode(dns.rcode.NXDOMAIN)


def _servfail(message: dns.message.Message) -> None:
    message.answer, message.authority, message.additional = [], [], []
    message.set_rcode(dns.rcode.SERVFAIL)


def _servfail_if_referral(message: dns.message.Message) -> None:
    if is_referral(message):
        _servfail(message)


def _hide_cname(message: dns.message.Message) -> None:
    if of_type(message.answer, RdataType.CNAME) and not asks_for(message, RdataType.A, RdataType.CNAME):
        message.answer = []


def _is_behind_alias(message: dns.message.Message) -> bool:
    """Whether a response says that the name which an alias leads to has not the type."""
    return bool(of_type(message.answer, RdataType.CNAME) and of_type(message.authority, RdataType.SOA))


def _no_soa_behind_alias(message: dns.message.Message) -> None:
    if _is_behind_alias(message):
        message.authority = without_types(message.authority, RdataType.SOA)


def _flatten(message: dns.message.Message) -> None:
    """Give the addresses that an alias leads to as if they were its own."""
    found = of_type(message.answer, RdataType.A)
    if found and of_type(message.answer, RdataType.CNAME) and not of_type(message.answer, RdataType.DNAME):
        message.answer = [dns.rrset.from_rdata_list(message.question[0].name, found[0].ttl, [*found[0]])]


def _nxdomain_elsewhere(message: dns.message.Message) -> None:
    """Deny what an alias leads to outside of the zone, as servers do that look it up among their own names."""
    is_alias = bool(of_type(message.answer, RdataType.CNAME)) and not asks_for(message, RdataType.CNAME, RdataType.ANY)
    is_denied = bool(of_type(message.authority, RdataType.SOA))
    if is_alias and not is_denied and not of_type(message.answer, message.question[0].rdtype):
        message.set_rcode(dns.rcode.NXDOMAIN)


def _no_proof_behind_alias(message: dns.message.Message) -> None:
    if _is_behind_alias(message):
        without_denial(message)


def _is_random(message: dns.message.Message) -> bool:
    return bool(message.question) and message.question[0].name.labels[0].startswith(RANDOM)


def _noerror_below(message: dns.message.Message) -> None:
    soas = of_type(message.authority, RdataType.SOA)
    is_deep = bool(soas) and _is_random(message) and len(message.question[0].name) > len(soas[0].name) + 1
    if is_deep and message.rcode() == dns.rcode.NXDOMAIN:
        message.set_rcode(dns.rcode.NOERROR)


def _expand_below(message: dns.message.Message) -> None:
    """Answer for names that do not exist below others, as if a wildcard at the apex went so far."""
    soas = of_type(message.authority, RdataType.SOA) if is_denial(message) else []
    is_deep = bool(soas) and _is_random(message) and len(message.question[0].name) > len(soas[0].name) + 1
    if is_deep and message.rcode() == dns.rcode.NXDOMAIN and asks_for(message, RdataType.A):
        message.set_rcode(dns.rcode.NOERROR)
        message.answer = [dns.rrset.from_text(message.question[0].name, 300, "IN", "A", "192.0.2.7")]
        message.authority = []


def _add_text(message: dns.message.Message) -> None:
    """Answer for TXT at names that have other types, as if a wildcard gave it to them."""
    if is_denial(message) and message.rcode() == dns.rcode.NOERROR and not _is_random(message):
        message.answer = [dns.rrset.from_text(message.question[0].name, 300, "IN", "TXT", '"everything"')]
        message.authority = []


def _add_address(message: dns.message.Message) -> None:
    """Answer with an IPv4 address where a name has no IPv6 one."""
    if is_denial(message) and message.rcode() == dns.rcode.NOERROR and not _is_random(message):
        message.answer = [dns.rrset.from_text(message.question[0].name, 300, "IN", "A", "192.0.2.7")]
        message.authority = []


def _nxdomain_at_wildcard(message: dns.message.Message) -> None:
    if _is_random(message):
        _nxdomain(message)


def _spoil_transfer(passage: Passage) -> bytes:
    """Change an octet of the signatures over addresses, in zone transfers only."""
    if not asks_for(passage.asked, RdataType.AXFR):
        return passage.response
    part = dns.message.from_wire(passage.response, one_rr_per_rrset=True)
    for rrset in part.answer:
        for one in [*rrset]:
            if isinstance(one, RRSIG) and one.type_covered == RdataType.A:
                replace_rdatas(rrset, [one.replace(signature=bytes([one.signature[0] ^ 1]) + one.signature[1:])])
    return wire_of(part)


def _fault(name: str, does: str, change: Change) -> Fault:
    return Fault(name=name, does=does, roles=AUTHORITATIVE, on_response=change)


FAULTS = (
    _fault(
        "other-address",
        "gives other addresses than the zone has to queries without DO",
        changing(_other_address, lambda query: not has_do(query)),
    ),
    _fault("other-glue", "gives other glue than the zone has", changing(_other_glue)),
    _fault("referrals-lack-server", "leaves one of several servers out of referrals", changing(_leave_server_out)),
    Fault(
        name="drops-aaaa",
        does="drops queries for AAAA",
        roles=AUTHORITATIVE,
        seen_in="load balancers of RFC 4074 section 4.1",
        on_query=dropping(lambda query: asks_for(query, RdataType.AAAA)),
    ),
    Fault(
        name="nxdomain-for-aaaa",
        does="gives NXDOMAIN for AAAA at names that have other types",
        roles=AUTHORITATIVE,
        seen_in="load balancers of RFC 4074 section 4.2",
        on_response=changing(_nxdomain, lambda query: asks_for(query, RdataType.AAAA)),
    ),
    Fault(
        name="drops-newer-types",
        does="drops queries for SRV, CAA, TLSA, SVCB and HTTPS",
        roles=AUTHORITATIVE,
        on_query=dropping(lambda query: asks_for(query, *NEWER_TYPES)),
    ),
    _fault(
        "servfail-to-mx",
        "answers queries for MX with SERVFAIL",
        changing(_servfail, lambda query: asks_for(query, RdataType.MX)),
    ),
    _fault("cname-for-a-only", "gives CNAME records to queries for A and CNAME only", changing(_hide_cname)),
    _fault(
        "servfail-to-ns-of-delegations",
        "answers queries for NS at a delegation with SERVFAIL",
        changing(_servfail_if_referral, lambda query: asks_for(query, RdataType.NS)),
    ),
    _fault(
        "no-soa-behind-aliases",
        "gives no SOA record where an alias leads to a name without the type, to queries without DO",
        changing(_no_soa_behind_alias, lambda query: not has_do(query)),
    ),
    _fault(
        "flattens-aliases",
        "gives addresses in place of an alias's CNAME record, without DO",
        changing(_flatten, lambda query: not has_do(query)),
    ),
    _fault(
        "nxdomain-for-targets-elsewhere",
        "gives NXDOMAIN for aliases of names in other zones",
        changing(_nxdomain_elsewhere),
    ),
    Fault(
        name="strips-denial-behind-aliases",
        does="does not prove that the name has not the type which an alias leads to",
        roles=AUTHORITATIVE,
        needs=("signed", "alias"),
        on_response=changing(_no_proof_behind_alias, has_do),
    ),
    _fault(
        "noerror-below-names",
        "gives NOERROR for names that do not exist below others, without DO",
        changing(_noerror_below, lambda query: not has_do(query)),
    ),
    _fault(
        "wildcard-below-names",
        "answers by a wildcard for names below others, without DO",
        changing(_expand_below, lambda query: not has_do(query)),
    ),
    Fault(
        name="wildcard-below-names-with-do",
        does="answers by a wildcard for names below others, with DO",
        roles=AUTHORITATIVE,
        needs=("signed",),
        on_response=changing(_expand_below, has_do),
    ),
    _fault(
        "wildcard-adds-types",
        "answers by a wildcard for types that a name has not, without EDNS",
        changing(_add_text, lambda query: query.edns < 0 and asks_for(query, RdataType.TXT)),
    ),
    Fault(
        name="address-for-aaaa",
        does="answers queries for AAAA with A records where a name has no AAAA records",
        roles=AUTHORITATIVE,
        on_response=changing(_add_address, lambda query: asks_for(query, RdataType.AAAA)),
    ),
    _fault(
        "nxdomain-for-wildcard-nodata",
        "gives NXDOMAIN for types that a wildcard has not, without DO",
        changing(_nxdomain_at_wildcard, lambda query: not has_do(query)),
    ),
    Fault(
        name="axfr-spoils-signatures",
        does="spoils signatures in zone transfers",
        roles=AUTHORITATIVE,
        changes_transfers=True,
        needs=("transfer", "signed"),
        on_response=unchanged_if_unreadable(_spoil_transfer),
    ),
)
