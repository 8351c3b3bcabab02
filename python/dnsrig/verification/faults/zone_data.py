"""Faults of authoritative servers in the zone's own data: apex, delegations, denials."""

import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdata
import dns.rrset
from dns.rdatatype import RdataType

from dnsrig.dates import DAY_S
from dnsrig.verification.faults.changes import changing, is_denial, is_referral, of_type, replace_rdatas, without_types
from dnsrig.verification.faults.dnssec import asks_for, has_do
from dnsrig.verification.faults.fault import Change, Fault, Passage, unchanged_if_unreadable, wire_of
from dnsrig.verification.item import Role

AUTHORITATIVE: tuple[Role, ...] = ("authoritative",)
TTL_S = 3600
HALF_AN_ADDRESS = bytes(range(8))
LONG_TTL_S = DAY_S
EMPTY_LABELS = (b"ent", b"empty")
"""How empty non-terminals are called in the rig's zones: that they are empty cannot be seen in a response."""
SERVER_LABELS = (b"ns1", b"ns2")
"""How the servers of the rig's zones are called."""
OTHER_NAME = dns.name.from_text("dnsrig.invalid.")


def _older_serial(message: dns.message.Message) -> None:
    for rrset in of_type([*message.answer, *message.authority], RdataType.SOA):
        replace_rdatas(rrset, [rrset[0].replace(serial=rrset[0].serial - 1)])


def _other_ns(message: dns.message.Message) -> None:
    if message.flags & dns.flags.AA:
        for rrset in of_type(message.answer, RdataType.NS):
            rrset.add(dns.rdata.from_text("IN", "NS", OTHER_NAME.to_text()), rrset.ttl)


def _no_ns(message: dns.message.Message) -> None:
    if message.flags & dns.flags.AA:
        message.answer = without_types(message.answer, RdataType.NS)


def _two_soas(passage: Passage) -> bytes:
    answer = dns.message.from_wire(passage.response, one_rr_per_rrset=True)
    for rrset in of_type(list(answer.answer), RdataType.SOA):
        second = dns.rrset.from_rdata(rrset.name, rrset.ttl, rrset[0].replace(refresh=rrset[0].refresh + 1))
        answer.answer.append(second)
    return wire_of(answer)


def _apex_of(message: dns.message.Message) -> dns.name.Name | None:
    """Give the zone's name from a response that has its SOA record."""
    soa = of_type([*message.answer, *message.authority], RdataType.SOA)
    return soa[0].name if soa else None


def _cname_at_apex(message: dns.message.Message) -> None:
    if message.question and is_denial(message) and message.question[0].name == _apex_of(message):
        cname = dns.rrset.from_text(message.question[0].name, TTL_S, "IN", "CNAME", OTHER_NAME.to_text())
        message.answer, message.authority = [cname], []


def _two_cnames(passage: Passage) -> bytes:
    answer = dns.message.from_wire(passage.response, one_rr_per_rrset=True)
    # Those made of a DNAME record are no data of the zone.
    is_made = bool(of_type(answer.answer, RdataType.DNAME)) and passage.asked.question[0].rdtype != RdataType.AXFR
    other = dns.rdata.from_text("IN", "CNAME", OTHER_NAME.to_text())
    for rrset in () if is_made else of_type(answer.answer, RdataType.CNAME):
        answer.answer.append(dns.rrset.from_rdata(rrset.name, rrset.ttl, other))
    return wire_of(answer)


def _half_addresses(message: dns.message.Message) -> None:
    for rrset in of_type(message.answer, RdataType.AAAA):
        half = dns.rdata.GenericRdata(rrset.rdclass, rrset.rdtype, HALF_AN_ADDRESS)
        replace_rdatas(rrset, [half])


def _asks_server(message: dns.message.Message) -> bool:
    """Whether it asks for an address of a server of a zone."""
    if not message.question or message.question[0].rdtype not in {RdataType.A, RdataType.AAAA}:
        return False
    return message.question[0].name.labels[0].lower() in SERVER_LABELS and bool(message.flags & dns.flags.AA)


def _server_alias(message: dns.message.Message) -> None:
    if _asks_server(message):
        name = message.question[0].name
        message.answer = [dns.rrset.from_text(name, TTL_S, "IN", "CNAME", OTHER_NAME.to_text())]


def _no_server_address(message: dns.message.Message) -> None:
    if _asks_server(message):
        message.answer = []


def _referral_in_answer(message: dns.message.Message) -> None:
    if is_referral(message):
        message.answer, message.authority = of_type(message.authority, RdataType.NS), []


def _referral_with_aa(message: dns.message.Message) -> None:
    if is_referral(message):
        message.flags |= dns.flags.AA


def _no_referral(message: dns.message.Message) -> None:
    if is_referral(message):
        message.flags |= dns.flags.AA
        message.set_rcode(dns.rcode.NXDOMAIN)
        message.authority, message.additional = [], []


def _no_glue(message: dns.message.Message) -> None:
    if is_referral(message):
        message.additional = []


def _no_ipv6_glue(message: dns.message.Message) -> None:
    if is_referral(message):
        message.additional = [rrset for rrset in message.additional if rrset.rdtype != RdataType.AAAA]


def _answer_glue(message: dns.message.Message) -> None:
    if not message.question or not is_referral(message):
        return
    question = message.question[0]
    glue = [rrset for rrset in message.additional if (rrset.name, rrset.rdtype) == (question.name, question.rdtype)]
    if glue:
        message.answer, message.authority, message.additional = glue, [], []
        message.flags |= dns.flags.AA


def _no_soa_in_denial(message: dns.message.Message) -> None:
    if is_denial(message):
        message.authority = without_types(message.authority, RdataType.SOA)


def _other_soa_in_denial(message: dns.message.Message) -> None:
    if is_denial(message):
        for rrset in of_type(message.authority, RdataType.SOA):
            rrset.name = rrset.name.parent()


def _long_soa_ttl(message: dns.message.Message) -> None:
    if is_denial(message):
        for rrset in message.authority:
            if RdataType.SOA in {rrset.rdtype, rrset.covers}:
                rrset.ttl = LONG_TTL_S


def _no_soa_ttl(message: dns.message.Message) -> None:
    if is_denial(message):
        for rrset in message.authority:
            if RdataType.SOA in {rrset.rdtype, rrset.covers}:
                rrset.ttl = 0


def _nxdomain_for_nodata(message: dns.message.Message) -> None:
    if is_denial(message):
        message.set_rcode(dns.rcode.NXDOMAIN)


def _noerror_for_nxdomain(message: dns.message.Message) -> None:
    if message.rcode() == dns.rcode.NXDOMAIN:
        message.set_rcode(dns.rcode.NOERROR)


def _nxdomain_for_empty(message: dns.message.Message) -> None:
    if is_denial(message) and message.question and message.question[0].name.labels[0].lower() in EMPTY_LABELS:
        message.set_rcode(dns.rcode.NXDOMAIN)


def _fault(name: str, does: str, change: Change) -> Fault:
    return Fault(name=name, does=does, roles=AUTHORITATIVE, on_response=change)


FAULTS = (
    _fault("old-serial", "serves an older version of the zone", changing(_older_serial)),
    _fault("other-ns", "serves other NS records than the other servers", changing(_other_ns)),
    _fault("no-ns", "has no NS records at the apex", changing(_no_ns)),
    _fault("two-soas", "has two SOA records", unchanged_if_unreadable(_two_soas)),
    _fault("cname-at-apex", "has a CNAME record at the apex", changing(_cname_at_apex)),
    Fault(
        name="half-addresses",
        does="gives AAAA records of eight octets",
        roles=AUTHORITATIVE,
        on_response=changing(_half_addresses),
        changes_transfers=True,
    ),
    Fault(
        name="two-cnames",
        does="has two CNAME records for each alias",
        roles=AUTHORITATIVE,
        on_response=unchanged_if_unreadable(_two_cnames),
        changes_transfers=True,
    ),
    _fault("ns-alias", "has aliases where NS records lead", changing(_server_alias)),
    _fault("no-ns-address", "has no addresses of the zone's servers", changing(_no_server_address)),
    _fault("referral-in-answer", "gives referrals in the answer section", changing(_referral_in_answer)),
    _fault("referral-with-aa", "sets AA in referrals", changing(_referral_with_aa)),
    _fault("no-referral", "denies delegated names", changing(_no_referral)),
    _fault("no-glue", "gives no glue", changing(_no_glue)),
    _fault("no-ipv6-glue", "gives no AAAA records as glue", changing(_no_ipv6_glue)),
    _fault("answers-below-cut", "answers from glue", changing(_answer_glue)),
    _fault("no-soa-in-denial", "leaves the SOA record out of denials", changing(_no_soa_in_denial)),
    _fault("other-soa-in-denial", "gives another zone's SOA record in denials", changing(_other_soa_in_denial)),
    _fault("soa-ttl-in-denial", "gives the SOA record of denials too long a TTL", changing(_long_soa_ttl)),
    _fault("denials-not-cached", "gives the SOA record of denials the TTL 0", changing(_no_soa_ttl)),
    _fault("nxdomain-for-nodata", "gives NXDOMAIN where only the type is not there", changing(_nxdomain_for_nodata)),
    _fault(
        "nxdomain-for-text-with-do",
        "gives NXDOMAIN to queries for TXT with DO where only the type is not there",
        changing(_nxdomain_for_nodata, lambda query: has_do(query) and asks_for(query, RdataType.TXT)),
    ),
    _fault("noerror-for-nxdomain", "gives NOERROR for names that do not exist", changing(_noerror_for_nxdomain)),
    _fault("nxdomain-for-empty", "gives NXDOMAIN for empty non-terminals", changing(_nxdomain_for_empty)),
)
