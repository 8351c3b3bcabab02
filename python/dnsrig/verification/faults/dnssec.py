"""Faults in the signatures of responses to queries with DO."""

import base64

import dns.message
import dns.name
import dns.rcode
import dns.rdataclass
import dns.rrset
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.RRSIG import RRSIG
from dns.rdtypes.IN.A import A

from dnsrig.verification.faults.changes import changing, of_type, replace_rdatas, without_types
from dnsrig.verification.faults.fault import Fault, Passage, unchanged_if_unreadable, wire_of
from dnsrig.verification.item import Role
from dnsrig.verification.queries import Z_BIT
from dnsrig.verification.signatures import signed_rrsets

AUTHORITATIVE: tuple[Role, ...] = ("authoritative",)
OLD_LIMIT = 512
"""Octets by UDP without EDNS (RFC 1035 section 4.2.1)."""
DENIALS = (RdataType.NSEC, RdataType.NSEC3)
MADE_SIGNATURE = base64.b64encode(bytes(64)).decode()


def has_do(query: dns.message.Message) -> bool:
    """Whether a query asks for DNSSEC, and for no zone transfer."""
    return query.edns >= 0 and bool(query.ednsflags & 0x8000) and not asks_for(query, RdataType.AXFR)


def asks_for(query: dns.message.Message, *types: RdataType) -> bool:
    """Whether a query is for one of some types."""
    return bool(query.question) and query.question[0].rdtype in types


def is_signature_of(rrset: dns.rrset.RRset, *types: RdataType) -> bool:
    """Whether an RRset has the signatures of RRsets of some types."""
    return rrset.rdtype == RdataType.RRSIG and rrset.covers in types


def without_signatures_of(section: list[dns.rrset.RRset], *types: RdataType) -> list[dns.rrset.RRset]:
    """Leave out the signatures of RRsets of some types."""
    return [rrset for rrset in section if not is_signature_of(rrset, *types)]


def made_signature(rrset: dns.rrset.RRset, signer: dns.name.Name) -> dns.rrset.RRset:
    """Make a signature that looks like one and is none."""
    covered = RdataType.make(rrset.rdtype).name
    labels = len(rrset.name) - 1
    text = f"{covered} 13 {labels} {rrset.ttl} 20380101000000 20200101000000 4711 {signer} {MADE_SIGNATURE}"
    return dns.rrset.from_text(rrset.name, rrset.ttl, dns.rdataclass.IN, RdataType.RRSIG, text)


def _strip(answer: dns.message.Message) -> None:
    for section in (answer.answer, answer.authority, answer.additional):
        section[:] = without_types(section, RdataType.RRSIG)


def _strip_of_denials(answer: dns.message.Message) -> None:
    answer.authority[:] = without_signatures_of(answer.authority, *DENIALS)


def _strip_of_dname(answer: dns.message.Message) -> None:
    answer.answer[:] = without_signatures_of(answer.answer, RdataType.DNAME)


def _add_unasked(passage: Passage) -> bytes:
    """Add signatures where they are not asked for, as long as the response stays as small as it must."""
    query, answer = passage.asked, passage.answer
    if query.edns >= 0 or asks_for(query, RdataType.AXFR) or query.flags & Z_BIT or len(answer.answer) != 1:
        return passage.response
    first = answer.answer[0]
    answer.answer.append(made_signature(first, first.name))
    larger = wire_of(answer)
    return larger if len(larger) <= OLD_LIMIT or passage.transport == "tcp" else passage.response


def spoil(rrset: dns.rrset.RRset) -> None:
    """Change an octet of each signature."""
    spoilt = [
        one.replace(signature=one.signature[:-1] + bytes([one.signature[-1] ^ 1])) if isinstance(one, RRSIG) else one
        for one in rrset
    ]
    replace_rdatas(rrset, spoilt)


def _spoil_data_signatures(answer: dns.message.Message) -> None:
    for rrset in (*answer.answer, *answer.authority):
        if rrset.rdtype == RdataType.RRSIG and rrset.covers != RdataType.DNSKEY:
            spoil(rrset)


def _spoil_key_signatures(answer: dns.message.Message) -> None:
    for rrset in answer.answer:
        if is_signature_of(rrset, RdataType.DNSKEY):
            spoil(rrset)


def _change_addresses(answer: dns.message.Message) -> None:
    for rrset in of_type(answer.answer, RdataType.A):
        replace_rdatas(rrset, [A(rrset.rdclass, RdataType.A, "192.0.2.250")])  # type: ignore[no-untyped-call]


def _halve_signature_ttl(answer: dns.message.Message) -> None:
    for rrset in of_type(answer.answer, RdataType.RRSIG):
        rrset.ttl //= 2


def _raise_ttl(answer: dns.message.Message) -> None:
    for rrset in answer.answer:
        rrset.ttl = 2 * rrset.ttl


def _sign_synthesised(answer: dns.message.Message) -> None:
    redirections = of_type(answer.answer, RdataType.DNAME)
    for one in signed_rrsets(answer, ("answer",)):
        above = [other.name for other in redirections if one.rrset.name.is_subdomain(other.name)]
        if one.rrset.rdtype == RdataType.CNAME and above:
            answer.answer.append(made_signature(one.rrset, above[0].parent()))


def _servfail_to_denials(answer: dns.message.Message) -> None:
    if answer.rcode() == dns.rcode.NXDOMAIN:
        answer.set_rcode(dns.rcode.SERVFAIL)
        answer.authority.clear()


FAULTS = (
    Fault(
        name="strips-rrsig",
        does="leaves RRSIG records out of responses",
        roles=AUTHORITATIVE,
        needs=("signed",),
        seen_in="firewalls and load balancers that answer from a copy of the zone",
        on_response=changing(_strip, has_do),
    ),
    Fault(
        name="strips-rrsig-of-denials",
        does="leaves the signatures of NSEC and NSEC3 records out",
        roles=AUTHORITATIVE,
        needs=("signed",),
        on_response=changing(_strip_of_denials, has_do),
    ),
    Fault(
        name="strips-rrsig-of-dname",
        does="leaves the signatures of DNAME records out",
        roles=AUTHORITATIVE,
        needs=("signed", "dname"),
        on_response=changing(_strip_of_dname, has_do),
    ),
    Fault(
        name="rrsig-without-do",
        does="gives RRSIG records to queries without EDNS",
        roles=AUTHORITATIVE,
        needs=("signed",),
        on_response=unchanged_if_unreadable(_add_unasked),
    ),
    Fault(
        name="bad-signatures",
        does="gives signatures with an octet changed",
        roles=AUTHORITATIVE,
        needs=("signed",),
        on_response=changing(_spoil_data_signatures, has_do),
    ),
    Fault(
        name="bad-dnskey-signature",
        does="gives the DNSKEY RRset with a signature that has an octet changed",
        roles=AUTHORITATIVE,
        needs=("signed",),
        on_response=changing(_spoil_key_signatures, has_do),
    ),
    Fault(
        name="changes-data",
        does="changes addresses after they were signed",
        roles=AUTHORITATIVE,
        needs=("signed",),
        seen_in="load balancers that answer with the address of the nearest host",
        on_response=changing(_change_addresses, has_do),
    ),
    Fault(
        name="rrsig-ttl-differs",
        does="gives signatures half the TTL of their RRset",
        roles=AUTHORITATIVE,
        needs=("signed",),
        on_response=changing(_halve_signature_ttl, has_do),
    ),
    Fault(
        name="raised-ttl",
        does="doubles the TTL of answers after they were signed",
        roles=AUTHORITATIVE,
        needs=("signed",),
        on_response=changing(_raise_ttl, has_do),
    ),
    Fault(
        name="signs-synthesised-cname",
        does="gives a signature for CNAME records that it makes from DNAME records",
        roles=AUTHORITATIVE,
        needs=("signed", "dname"),
        on_response=changing(_sign_synthesised, has_do),
    ),
    Fault(
        name="servfail-to-denials",
        does="answers with SERVFAIL where a name does not exist, if DO is set",
        roles=AUTHORITATIVE,
        needs=("signed",),
        on_response=changing(_servfail_to_denials, has_do),
    ),
)
