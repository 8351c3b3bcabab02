"""Faults of authoritative servers that show with unusual questions, or with the same question asked again."""

import time

import dns.edns
import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rrset
from dns.rdatatype import RdataType
from dns.rdtypes.IN.A import A

from dnsrig.verification.faults.changes import (
    changing,
    dropping,
    dropping_by_tcp,
    error,
    is_denial,
    is_referral,
    of_type,
    refusing,
    replace_rdatas,
    without_types,
)
from dnsrig.verification.faults.dnssec import AUTHORITATIVE, asks_for, has_do
from dnsrig.verification.faults.fault import Change, Fault, Passage, unchanged_if_unreadable, wire_of
from dnsrig.verification.item import Role

MANY = 2
"""Records of a response to IXFR that is more than the SOA record."""
META_TYPES = (RdataType.MAILA, RdataType.MAILB, RdataType.TKEY, RdataType.TSIG)
RARE_TYPES = (RdataType.SSHFP, RdataType.URI, RdataType.OPENPGPKEY)
LONG_NAME_OCTETS, MANY_LABELS = 200, 30
PADDING_OCTETS = 16
KEEPALIVE, ECS = dns.edns.OptionType.make(11), dns.edns.OptionType.make(8)
LONG_ROW, NOW_AND_THEN = 12, 3
IN_A_ROW = "in a row"
BEGAN = "began"
UNDERSCORED = b"_25"
"""The port of mail, as TLSA records have it."""


def _first_name(query: dns.message.Message) -> dns.name.Name:
    return query.question[0].name if query.question else dns.name.root


def _is_long(query: dns.message.Message) -> bool:
    return len(_first_name(query).to_wire() or b"") > LONG_NAME_OCTETS


def _is_odd(query: dns.message.Message) -> bool:
    return any(octet <= 0x20 or octet > 0x7E for label in _first_name(query).labels for octet in label)


def _is_of_mail(query: dns.message.Message) -> bool:
    return _first_name(query).labels[0] == UNDERSCORED


def _has_many_labels(query: dns.message.Message) -> bool:
    # Long ones are another fault.
    return len(_first_name(query)) > MANY_LABELS and not _is_long(query)


def _asks_plainly_for_soa(query: dns.message.Message) -> bool:
    return query.edns < 0 and asks_for(query, RdataType.SOA)


def _is_late_in_a_row(passage: Passage) -> bool:
    """Whether it is one of each few plain queries by UDP for the SOA record that come after many of them and no other.

    So items that ask a few times see nothing of it.
    """
    is_meant = passage.transport == "udp" and _asks_plainly_for_soa(passage.asked)
    in_a_row = int(passage.cache.get(IN_A_ROW, (b"0", 0.0))[0]) + 1 if is_meant else 0
    passage.cache[IN_A_ROW] = str(in_a_row).encode(), 0.0
    return in_a_row > LONG_ROW and in_a_row % NOW_AND_THEN == 0


def _fail_now_and_then(passage: Passage) -> bytes:
    return error(passage.asked, dns.rcode.SERVFAIL) if _is_late_in_a_row(passage) else passage.response


def _go_back(passage: Passage) -> bytes:
    if not _is_late_in_a_row(passage):
        return passage.response
    answer = passage.answer
    for rrset in of_type(answer.answer, RdataType.SOA):
        replace_rdatas(rrset, [record.replace(serial=record.serial - 1) for record in rrset])
    return wire_of(answer)


def _count_down(passage: Passage) -> bytes:
    """Take what has passed since the first query off the TTLs of NS records."""
    _, began = passage.cache.setdefault(BEGAN, (b"", time.monotonic()))
    query = passage.asked
    if has_do(query) or not asks_for(query, RdataType.NS):
        return passage.response
    answer = passage.answer
    for rrset in answer.answer:
        rrset.ttl = max(rrset.ttl - int(time.monotonic() - began), 0)
    return wire_of(answer)


def _add_option(message: dns.message.Message, option: dns.edns.Option) -> None:
    flags = message.ednsflags
    message.use_edns(message.edns, 0, message.payload, options=[*message.options, option])
    # They hold the upper bits of the response code too.
    message.ednsflags = flags


def _add_ecs(message: dns.message.Message) -> None:
    if message.edns >= 0:
        _add_option(message, dns.edns.GenericOption(ECS, bytes.fromhex("00010000")))


def _add_padding(message: dns.message.Message) -> None:
    if message.edns >= 0:
        _add_option(message, dns.edns.GenericOption(dns.edns.OptionType.PADDING, bytes(PADDING_OCTETS)))


def _add_keepalive(passage: Passage) -> bytes:
    answer = passage.answer
    if passage.transport == "udp" and answer.edns >= 0:
        _add_option(answer, dns.edns.GenericOption(KEEPALIVE, bytes.fromhex("0064")))
    return wire_of(answer)


def _unrelated(rtype: str, data: str) -> dns.rrset.RRset:
    owner = "bank.dnsrig-elsewhere." if rtype == "NS" else "www.bank.dnsrig-elsewhere."
    return dns.rrset.from_text(owner, 300, "IN", rtype, data)


def _add_answer(message: dns.message.Message) -> None:
    if message.answer:
        message.answer.append(_unrelated("A", "192.0.2.66"))


def _add_authority(message: dns.message.Message) -> None:
    if message.answer:
        message.authority.append(_unrelated("NS", "www.bank.dnsrig-elsewhere."))


def _add_additional(message: dns.message.Message) -> None:
    if message.answer:
        message.additional.append(_unrelated("A", "192.0.2.66"))


def _asks_plainly_for_ns(query: dns.message.Message) -> bool:
    return not has_do(query) and asks_for(query, RdataType.NS)


def _has_upper_case(query: dns.message.Message) -> bool:
    return any(label != label.lower() for label in _first_name(query).labels)


def _other_address(message: dns.message.Message) -> None:
    for rrset in of_type(message.answer, RdataType.A):
        replace_rdatas(rrset, [A(rrset.rdclass, RdataType.A, "192.0.2.251")])  # type: ignore[no-untyped-call]


def _other_address_by_tcp(passage: Passage) -> bytes:
    answer = passage.answer
    if passage.transport == "tcp" and not has_do(passage.asked):
        _other_address(answer)
    return wire_of(answer)


def _lower_ttl(message: dns.message.Message) -> None:
    for rrset in message.answer:
        if RdataType.A in {rrset.rdtype, rrset.covers}:
            rrset.ttl -= 1


def _empty_ixfr(passage: Passage) -> bytes:
    query = passage.asked
    return error(query, dns.rcode.NOERROR) if asks_for(query, RdataType.IXFR) else passage.response


def _change_another_version(passage: Passage) -> bytes:
    """Put in place of the zone, which a client with another version gets, changes of a version that it has not."""
    message = passage.answer
    if not asks_for(passage.asked, RdataType.IXFR) or len(message.answer) < MANY or not message.answer[0]:
        return passage.response
    newest = message.answer[0]
    if newest.rdtype == RdataType.SOA:
        record = newest[0].replace(serial=(newest[0].serial - 100) % (1 << 32))
        oldest = dns.rrset.from_rdata_list(newest.name, newest.ttl, [record])
        message.answer = [newest, oldest, newest, newest]
    return wire_of(message)


def _no_soa(message: dns.message.Message) -> None:
    if is_denial(message):
        message.authority = without_types(message.authority, RdataType.SOA)


def _other_serial(message: dns.message.Message) -> None:
    for rrset in of_type(message.authority, RdataType.SOA):
        replace_rdatas(rrset, [record.replace(serial=record.serial - 1) for record in rrset])


def _long_ttl(message: dns.message.Message) -> None:
    for rrset in of_type(message.authority, RdataType.SOA):
        rrset.ttl = 86_400


def _asks_plainly_for_mx(query: dns.message.Message) -> bool:
    return not has_do(query) and asks_for(query, RdataType.MX)


def _refer_in_answer(message: dns.message.Message) -> None:
    if is_referral(message):
        message.answer += of_type(message.authority, RdataType.NS)


def _refer_with_aa(message: dns.message.Message) -> None:
    if is_referral(message):
        message.flags |= dns.flags.AA


def _no_glue(message: dns.message.Message) -> None:
    if is_referral(message):
        message.additional = []


def _fault(name: str, does: str, change: Change) -> Fault:
    return Fault(name=name, does=does, roles=AUTHORITATIVE, on_response=change)


def _dropping(name: str, does: str, *types: RdataType, roles: tuple[Role, ...] = AUTHORITATIVE) -> Fault:
    return Fault(name=name, does=does, roles=roles, on_query=dropping(lambda query: asks_for(query, *types)))


FAULTS = (
    _dropping("drops-meta-types", "drops queries for MAILA, MAILB, TKEY and TSIG", *META_TYPES),
    _dropping("drops-ixfr", "drops queries for IXFR", RdataType.IXFR),
    Fault(
        name="drops-ixfr-by-tcp",
        does="drops queries for IXFR by TCP",
        roles=AUTHORITATIVE,
        on_query=dropping_by_tcp(lambda query: asks_for(query, RdataType.IXFR)),
    ),
    Fault(
        name="drops-any-by-tcp",
        does="drops queries for ANY by TCP",
        roles=AUTHORITATIVE,
        on_query=dropping_by_tcp(lambda query: asks_for(query, RdataType.ANY)),
    ),
    _fault("empty-ixfr", "answers queries for IXFR with nothing", unchanged_if_unreadable(_empty_ixfr)),
    Fault(
        name="ixfr-of-another-version",
        does="answers queries for IXFR with changes of a version that the client has not",
        roles=AUTHORITATIVE,
        needs=("transfer",),
        changes_transfers=True,
        on_response=unchanged_if_unreadable(_change_another_version),
    ),
    Fault(
        name="servfail-to-ixfr",
        does="answers queries for IXFR with SERVFAIL",
        roles=AUTHORITATIVE,
        on_response=refusing(lambda query: asks_for(query, RdataType.IXFR), dns.rcode.SERVFAIL),
    ),
    _dropping(
        "drops-rare-types",
        "drops queries for SSHFP, URI and OPENPGPKEY",
        *RARE_TYPES,
        roles=(*AUTHORITATIVE, "resolver"),
    ),
    Fault(
        name="drops-nsec-queries",
        does="drops queries for NSEC and RRSIG without DO",
        roles=AUTHORITATIVE,
        on_query=dropping(lambda query: not has_do(query) and asks_for(query, RdataType.NSEC, RdataType.RRSIG)),
    ),
    Fault(
        name="servfail-to-uri",
        does="answers queries for URI with SERVFAIL",
        roles=(*AUTHORITATIVE, "resolver"),
        on_response=refusing(lambda query: asks_for(query, RdataType.URI), dns.rcode.SERVFAIL),
    ),
    Fault(
        name="drops-long-names",
        does=f"drops queries for names of more than {LONG_NAME_OCTETS} octets",
        roles=(*AUTHORITATIVE, "resolver"),
        on_query=dropping(_is_long),
    ),
    Fault(
        name="drops-many-labels",
        does=f"drops queries for names of more than {MANY_LABELS} labels",
        roles=(*AUTHORITATIVE, "resolver"),
        on_query=dropping(_has_many_labels),
    ),
    Fault(
        name="drops-odd-names",
        does="drops queries for names with other octets than printable ones",
        roles=(*AUTHORITATIVE, "resolver"),
        on_query=dropping(_is_odd),
    ),
    Fault(
        name="servfail-to-underscores",
        does="answers queries for names that begin with _25 with SERVFAIL",
        roles=(*AUTHORITATIVE, "resolver"),
        on_response=refusing(_is_of_mail, dns.rcode.SERVFAIL),
    ),
    Fault(
        name="servfail-now-and-then",
        does="answers each third plain query for the SOA record with SERVFAIL when many come in a row",
        roles=(*AUTHORITATIVE, "resolver"),
        seen_in="pools of servers behind one address, of which one has not the zone",
        on_response=unchanged_if_unreadable(_fail_now_and_then),
    ),
    Fault(
        name="serial-goes-back",
        does="gives an older serial to each third plain query for the SOA record when many come in a row",
        roles=AUTHORITATIVE,
        seen_in="pools of servers behind one address, of which one is behind",
        on_response=unchanged_if_unreadable(_go_back),
    ),
    Fault(
        name="ttls-count-down",
        does="lets the TTLs of NS records count down",
        roles=AUTHORITATIVE,
        seen_in="caches in the place of servers",
        on_response=unchanged_if_unreadable(_count_down),
    ),
    Fault(
        name="ecs-unasked",
        does="gives a client subnet to everyone who uses EDNS",
        roles=AUTHORITATIVE,
        on_response=changing(_add_ecs),
    ),
    Fault(
        name="padding-unasked",
        does="pads responses to everyone who uses EDNS, by UDP and TCP without encryption",
        roles=AUTHORITATIVE,
        on_response=changing(_add_padding),
    ),
    Fault(
        name="keepalive-by-udp",
        does="gives the EDNS option for TCP keepalive by UDP",
        roles=AUTHORITATIVE,
        on_response=unchanged_if_unreadable(_add_keepalive),
    ),
    Fault(
        name="slow",
        does="takes 0.8 s for each response by UDP",
        roles=AUTHORITATIVE,
        delay_s=0.8,
    ),
    Fault(
        name="unrelated-answer",
        does="adds another name's address to the answer for NS",
        roles=AUTHORITATIVE,
        on_response=changing(_add_answer, _asks_plainly_for_ns),
    ),
    Fault(
        name="unrelated-authority",
        does="adds another zone's NS records to the answer for NS",
        roles=AUTHORITATIVE,
        on_response=changing(_add_authority, _asks_plainly_for_ns),
    ),
    Fault(
        name="unrelated-additional",
        does="adds another name's address to the additional section for NS",
        roles=AUTHORITATIVE,
        on_response=changing(_add_additional, _asks_plainly_for_ns),
    ),
    _fault(
        "other-address-by-tcp",
        "gives other addresses by TCP than by UDP",
        unchanged_if_unreadable(_other_address_by_tcp),
    ),
    _fault(
        "other-address-in-upper-case",
        "gives other addresses for names in upper case",
        changing(_other_address, _has_upper_case),
    ),
    _fault(
        "other-address-with-edns",
        "gives other addresses to queries with EDNS and without DO",
        changing(_other_address, lambda query: query.edns >= 0 and not has_do(query)),
    ),
    _fault("other-ttl-with-do", "gives addresses with DO another TTL", changing(_lower_ttl, has_do)),
    _fault("no-soa-for-mx", "denies MX without SOA record", changing(_no_soa, _asks_plainly_for_mx)),
    _fault(
        "other-serial-in-denials",
        "gives an old serial in denials of MX",
        changing(_other_serial, _asks_plainly_for_mx),
    ),
    _fault("long-ttl-for-mx", "gives denials of MX a TTL of a day", changing(_long_ttl, _asks_plainly_for_mx)),
    _fault(
        "referral-in-answer-with-do",
        "gives referrals in the answer section too, with DO",
        changing(_refer_in_answer, has_do),
    ),
    _fault("referral-with-aa-with-do", "sets AA in referrals with DO", changing(_refer_with_aa, has_do)),
    _fault("no-glue-with-do", "gives referrals without glue with DO", changing(_no_glue, has_do)),
)
