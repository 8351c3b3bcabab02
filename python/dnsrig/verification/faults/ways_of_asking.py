"""Faults of authoritative servers that show in one way of asking alone: with DO or without, by TCP, for an alias."""

from collections.abc import Callable

import dns.edns
import dns.flags
import dns.message
import dns.opcode
import dns.rcode
import dns.rrset
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.DNSKEY import DNSKEY
from dns.rdtypes.ANY.RRSIG import RRSIG
from dns.rdtypes.IN.A import A

from dnsrig.verification.faults.changes import (
    changing,
    changing_by_tcp,
    dropping,
    error,
    is_denial,
    is_referral,
    of_type,
    replace_rdatas,
)
from dnsrig.verification.faults.dnssec import AUTHORITATIVE, asks_for, has_do
from dnsrig.verification.faults.fault import Change, Fault, Passage, unchanged_if_unreadable, wire_of
from dnsrig.verification.queries import Z_BIT

SEP = 0x0001
EDNS_FLAG = 0x0001
CLIENT_COOKIE_OCTETS = 8
NSID = dns.edns.OptionType.NSID
LONGEST_STRING = 255


def _by_tcp(change_message: Callable[[dns.message.Message], None]) -> Change:
    """Change responses by TCP, and no zone transfers."""
    return changing_by_tcp(change_message, lambda query: not asks_for(query, RdataType.AXFR, RdataType.IXFR))


def _drop_question(message: dns.message.Message) -> None:
    message.question.clear()


def _lower_case(message: dns.message.Message) -> None:
    for rrset in message.question:
        rrset.name = rrset.name.canonicalize()


def _lower_case_of_referral(message: dns.message.Message) -> None:
    if is_referral(message):
        _lower_case(message)


def _set_opcode(message: dns.message.Message) -> None:
    message.set_opcode(dns.opcode.STATUS)


def _set_z(message: dns.message.Message) -> None:
    message.flags |= Z_BIT


def _set_edns_flag(message: dns.message.Message) -> None:
    if message.edns >= 0:
        message.ednsflags |= EDNS_FLAG


def _old_serial(message: dns.message.Message) -> None:
    # With DO the signature would be wrong as well.
    for rrset in [] if has_do(message) else of_type(message.answer, RdataType.SOA):
        replace_rdatas(rrset, [record.replace(serial=record.serial - 1) for record in rrset])


def _without_do(change_message: Callable[[dns.message.Message], None]) -> Change:
    def is_plain(query: dns.message.Message) -> bool:
        return not has_do(query) and not asks_for(query, RdataType.AXFR, RdataType.IXFR)

    return changing(change_message, is_plain)


def _keep_sep_keys(message: dns.message.Message) -> None:
    for rrset in of_type(message.answer, RdataType.DNSKEY):
        kept = [record for record in rrset if isinstance(record, DNSKEY) and record.flags & SEP]
        replace_rdatas(rrset, kept or [*rrset])


def _join_strings(message: dns.message.Message) -> None:
    """Join the strings of TXT records as far as one string goes."""
    for rrset in of_type(message.answer, RdataType.TXT):
        joined = []
        for record in rrset:
            text = b"".join(record.strings)
            parts = [text[at : at + LONGEST_STRING] for at in range(0, len(text), LONGEST_STRING)]
            joined.append(record.replace(strings=parts or record.strings))
        replace_rdatas(rrset, joined)


def _nxdomain_at_alias(message: dns.message.Message) -> None:
    if of_type(message.answer, RdataType.CNAME) and asks_for(message, RdataType.AAAA):
        message.set_rcode(dns.rcode.NXDOMAIN)


def _nxdomain_for_aaaa(message: dns.message.Message) -> None:
    if is_denial(message) and asks_for(message, RdataType.AAAA):
        message.set_rcode(dns.rcode.NXDOMAIN)


def _live_longer(message: dns.message.Message) -> None:
    if of_type(message.answer, RdataType.DNAME):
        for rrset in of_type(message.answer, RdataType.CNAME):
            rrset.ttl += 3600


def _other_address_beside(message: dns.message.Message) -> None:
    for rrset in of_type(message.additional, RdataType.A) if message.answer else ():
        replace_rdatas(rrset, [A(rrset.rdclass, RdataType.A, "192.0.2.251")])  # type: ignore[no-untyped-call]


def _has_client_subnet(query: dns.message.Message) -> bool:
    return any(isinstance(option, dns.edns.ECSOption) and option.srclen > 0 for option in query.options)


def _of_another_name(message: dns.message.Message) -> None:
    if asks_for(message, RdataType.ANY):
        # Some servers truncate by UDP.
        message.flags &= ~int(dns.flags.TC)
        message.answer = [dns.rrset.from_text("www.bank.dnsrig-elsewhere.", 300, "IN", "A", "192.0.2.66")]


def _echo_nsid(passage: Passage) -> bytes:
    answer = passage.answer
    if answer.edns < 0 or not any(option.otype == NSID for option in passage.asked.options):
        return passage.response
    others = [option for option in answer.options if option.otype != NSID]
    flags = answer.ednsflags
    answer.use_edns(answer.edns, 0, answer.payload, options=[*others, dns.edns.GenericOption(NSID, b"")])
    # They hold the upper bits of the response code too.
    answer.ednsflags = flags
    return wire_of(answer)


def _cookies(message: dns.message.Message) -> list[bytes]:
    """Give the cookies of a server that a message has."""
    found = [option.to_wire() or b"" for option in message.options if option.otype == dns.edns.OptionType.COOKIE]
    return [cookie[CLIENT_COOKIE_OCTETS:] for cookie in found if len(cookie) > CLIENT_COOKIE_OCTETS]


def _drop_strange_cookie(passage: Passage) -> bytes | None:
    is_strange = any(("cookie", cookie) not in passage.cache for cookie in _cookies(passage.asked))
    return None if is_strange else passage.query


def _remember_cookie(passage: Passage) -> bytes:
    passage.cache.update({("cookie", cookie): (b"", 0.0) for cookie in _cookies(passage.answer)})
    return passage.response


def _fail_at_wildcards(passage: Passage) -> bytes:
    """Give SERVFAIL in place of what a signature says to be made from a wildcard."""
    signatures = [one for rrset in passage.answer.answer for one in rrset if isinstance(one, RRSIG)]
    name = passage.asked.question[0].name if passage.asked.question else None
    is_made = name is not None and not name.is_wild() and any(one.labels < len(name) - 1 for one in signatures)
    is_of_name = bool(of_type(passage.answer.answer, RdataType.CNAME, RdataType.DNAME))
    if not has_do(passage.asked) or not is_made or is_of_name:
        return passage.response
    return error(passage.asked, dns.rcode.SERVFAIL)


def _fault(name: str, does: str, change: Change, *needs: str) -> Fault:
    return Fault(name=name, does=does, roles=AUTHORITATIVE, needs=needs, on_response=change)


FAULTS = (
    _fault("drops-question-with-do", "leaves the question out of responses with DO", changing(_drop_question, has_do)),
    _fault("drops-question-by-tcp", "leaves the question out of responses by TCP", _by_tcp(_drop_question)),
    _fault(
        "lower-cases-with-do",
        "gives the question back in lower case to queries with DO",
        changing(_lower_case, has_do),
    ),
    _fault("lower-cases-by-tcp", "gives the question back in lower case by TCP", _by_tcp(_lower_case)),
    _fault(
        "lower-cases-in-referrals",
        "gives the question back in lower case in referrals",
        changing(_lower_case_of_referral),
    ),
    _fault("other-opcode", "gives every response the opcode STATUS", changing(_set_opcode)),
    _fault(
        "other-opcode-with-do",
        "gives responses to queries with DO the opcode STATUS",
        changing(_set_opcode, has_do),
    ),
    _fault("sets-z-with-do", "sets the reserved bit Z in responses to queries with DO", changing(_set_z, has_do)),
    _fault("sets-edns-flag", "sets an EDNS flag that has no meaning", changing(_set_edns_flag)),
    _fault("old-serial-by-tcp", "gives an old SOA record by TCP, without DO", _by_tcp(_old_serial)),
    _fault(
        "keys-missing-without-do",
        "gives keys that are no entry points to queries with DO alone",
        _without_do(_keep_sep_keys),
        "signed",
    ),
    _fault("joins-strings-without-do", "joins the strings of TXT records without DO", _without_do(_join_strings)),
    _fault(
        "nxdomain-for-aaaa-of-aliases",
        "gives NXDOMAIN for AAAA at aliases",
        changing(_nxdomain_at_alias),
        "alias",
    ),
    _fault(
        "nxdomain-for-aaaa-with-do",
        "gives NXDOMAIN to queries for AAAA with DO where only the type is not there",
        changing(_nxdomain_for_aaaa, has_do),
    ),
    _fault(
        "dname-alias-lives-longer",
        "gives CNAME records that it makes from DNAME records a longer TTL than these",
        changing(_live_longer),
        "dname",
    ),
    _fault(
        "other-address-beside",
        "gives other addresses than the zone has in the additional section of answers",
        changing(_other_address_beside),
    ),
    Fault(
        name="drops-client-subnets",
        does="drops queries with a client subnet that says anything",
        roles=AUTHORITATIVE,
        on_query=dropping(_has_client_subnet),
    ),
    _fault("any-of-another-name", "answers queries for ANY with another name's address", changing(_of_another_name)),
    _fault("echoes-nsid", "gives the option NSID back as it came", unchanged_if_unreadable(_echo_nsid)),
    Fault(
        name="drops-strange-cookies",
        does="drops queries with a server's cookie that it has not given",
        roles=AUTHORITATIVE,
        on_query=unchanged_if_unreadable(_drop_strange_cookie),
        on_response=unchanged_if_unreadable(_remember_cookie),
    ),
    _fault(
        "servfail-to-wildcards",
        "answers with SERVFAIL from wildcards, if DO is set",
        unchanged_if_unreadable(_fail_at_wildcards),
        "signatures",
    ),
)
