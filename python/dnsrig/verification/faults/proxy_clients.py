"""Faults of DNS proxies that show with some clients: of IPv6, with options, at the same time, or none that asked."""

import math
import time
from collections.abc import Callable

import dns.edns
import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdata
import dns.rdataclass
import dns.rrset
from dns.rdatatype import RdataType

from dnsrig.verification.faults.changes import (
    changing,
    changing_by_tcp,
    changing_denials,
    dropping,
    has_edns,
    of_type,
    refusing,
    replace_rdatas,
)
from dnsrig.verification.faults.fault import Change, Fault, Passage, unchanged_if_unreadable, wire_of
from dnsrig.verification.item import Role

PROXY: tuple[Role, ...] = ("proxy",)
ADVERTISEMENTS = {RdataType.A: "203.0.113.80", RdataType.AAAA: "2001:db8:80::80"}
MOST_LABELS = 20
MOST_RECORDS = 8
SIGNED_LENGTH = 32_767
"""The most that a length of 16 bits with a sign can say."""
LARGE_PAYLOAD = 4096
HINTS = ("ech=", "ipv4hint=", "ipv6hint=", "port=")
ASCII = range(0x2A, 0x7F)
PENDING_S = 0.2


def _type(message: dns.message.Message) -> int:
    return int(message.question[0].rdtype) if message.question else 0


def _advertise(message: dns.message.Message) -> None:
    rtype = RdataType.make(_type(message))
    if message.rcode() != dns.rcode.NXDOMAIN or rtype not in ADVERTISEMENTS:
        return
    message.set_rcode(dns.rcode.NOERROR)
    name = message.question[0].name
    message.answer = [dns.rrset.from_text(name, 60, dns.rdataclass.IN, rtype, ADVERTISEMENTS[rtype])]
    message.authority = []


def _asks_www(query: dns.message.Message) -> bool:
    return any(one.name.labels[0].lower() == b"www" for one in query.question)


def _asks_aaaa(query: dns.message.Message) -> bool:
    return _type(query) == RdataType.AAAA


def _deny_name(message: dns.message.Message) -> None:
    if message.rcode() == dns.rcode.NOERROR and not message.answer and not message.flags & dns.flags.TC:
        message.set_rcode(dns.rcode.NXDOMAIN)


def _hide_servfail(message: dns.message.Message) -> None:
    if message.rcode() == dns.rcode.SERVFAIL:
        message.set_rcode(dns.rcode.NXDOMAIN)


def _drop_refused(passage: Passage) -> bytes | None:
    return None if passage.answer.rcode() == dns.rcode.REFUSED else passage.response


def _has_many_labels(query: dns.message.Message) -> bool:
    return any(len(one.name.labels) > MOST_LABELS for one in query.question)


def _is_binary(query: dns.message.Message) -> bool:
    return any(octet not in ASCII for one in query.question for label in one.name.labels for octet in label)


def _set_ad(message: dns.message.Message) -> None:
    message.flags |= dns.flags.AD


def _clear_tc(message: dns.message.Message) -> None:
    message.flags &= ~dns.flags.TC


def _cut_to_signed(message: dns.message.Message) -> None:
    while len(wire_of(message)) > SIGNED_LENGTH:
        rrset = message.answer[-1]
        replace_rdatas(rrset, list(rrset)[: len(rrset) // 2])


def _strip_parameters(message: dns.message.Message) -> None:
    for rrset in of_type(message.answer, RdataType.SVCB, RdataType.HTTPS):
        words = [word for word in rrset[0].to_text().split() if not word.startswith(HINTS)]
        replace_rdatas(rrset, [dns.rdata.from_text(rrset.rdclass, rrset.rdtype, " ".join(words))])


def _keep_first_string(message: dns.message.Message) -> None:
    for rrset in of_type(message.answer, RdataType.TXT):
        replace_rdatas(rrset, [rdata.replace(strings=rdata.strings[:1]) for rdata in rrset])


def _keep_eight(message: dns.message.Message) -> None:
    for rrset in of_type(message.answer, RdataType.A, RdataType.AAAA):
        replace_rdatas(rrset, list(rrset)[:MOST_RECORDS])


def _cut_chain(message: dns.message.Message) -> None:
    if len(of_type(message.answer, RdataType.CNAME)) > 1:
        del message.answer[1:]


def _raise_zero(message: dns.message.Message) -> None:
    for rrset in message.answer:
        rrset.ttl = rrset.ttl or 1


def _has_option(code: int) -> Callable[[dns.message.Message], bool]:
    return lambda query: any(int(option.otype) == code for option in query.options)


def _ask_with_edns(passage: Passage) -> bytes:
    query = passage.asked
    if query.edns < 0:
        query.use_edns(0, 0, LARGE_PAYLOAD)
    return wire_of(query)


def _without_edns(passage: Passage) -> bytes:
    answer = passage.answer
    if passage.asked.edns < 0:
        answer.use_edns(False)
    return wire_of(answer)


def _drop_first(passage: Passage) -> bytes | None:
    name = passage.asked.question[0].name.canonicalize().to_text() if passage.asked.question else ""
    if passage.transport != "udp" or name in passage.memory:
        return passage.query
    passage.memory.add(name)
    return None


def _drop_repeated(passage: Passage) -> bytes | None:
    """Take what was asked just now for what the upstream has not answered yet."""
    if passage.transport != "udp" or not passage.asked.question:
        return passage.query
    question, now_s = passage.asked.question[0], time.monotonic()
    key = ("asked", question.name.canonicalize(), question.rdtype)
    _, before_s = passage.cache.get(key, (b"", -math.inf))
    passage.cache[key] = b"", now_s
    return None if now_s - before_s < PENDING_S else passage.query


def _fault(name: str, does: str, on_query: Change | None = None, on_response: Change | None = None) -> Fault:
    return Fault(name=f"proxy-{name}", does=does, roles=PROXY, on_query=on_query, on_response=on_response)


_read = unchanged_if_unreadable

FAULTS = (
    _fault(
        "rewrites-nxdomain-by-ipv6",
        "answers with its own IPv6 address for names that do not exist",
        None,
        changing(_advertise, _asks_aaaa),
    ),
    _fault(
        "rewrites-nxdomain-of-www",
        "answers with its own address for names with www that do not exist",
        None,
        changing(_advertise, _asks_www),
    ),
    _fault("denies-names-without-aaaa", "gives NXDOMAIN for want of AAAA", None, changing(_deny_name, _asks_aaaa)),
    _fault(
        "hides-servfail-by-ipv6", "turns SERVFAIL into NXDOMAIN for AAAA", None, changing(_hide_servfail, _asks_aaaa)
    ),
    _fault("drops-refused", "drops REFUSED", None, _read(_drop_refused)),
    _fault("drops-many-labels", "drops queries for names of more than 20 labels", dropping(_has_many_labels)),
    _fault("drops-binary-names", "drops queries for names with unusual octets", dropping(_is_binary)),
    _fault("sets-ad", "sets AD in responses", None, changing(_set_ad)),
    _fault("sets-ad-in-denials", "sets AD in denials", None, changing_denials(_set_ad)),
    _fault("clears-tc-with-edns", "clears TC for clients with EDNS", None, changing(_clear_tc, has_edns)),
    _fault("cuts-tcp-at-32767", "cuts responses by TCP to 32767 octets", None, changing_by_tcp(_cut_to_signed)),
    _fault("strips-svcb-parameters", "takes ECH and hints out of SVCB and HTTPS", None, changing(_strip_parameters)),
    _fault("keeps-first-strings", "gives the first string of TXT records alone", None, changing(_keep_first_string)),
    _fault("keeps-eight-records", "gives eight addresses at most", None, changing(_keep_eight)),
    _fault("cuts-chains", "gives the first record of chains of aliases alone", None, changing(_cut_chain)),
    _fault("raises-ttl-zero", "raises TTL 0 to 1", None, changing(_raise_zero)),
    _fault("drops-cookies", "drops queries with COOKIE", dropping(_has_option(dns.edns.OptionType.COOKIE))),
    _fault(
        "refuses-padding",
        "answers FORMERR to padding",
        None,
        refusing(_has_option(dns.edns.OptionType.PADDING), dns.rcode.FORMERR),
    ),
    _fault(
        "ignores-512",
        "sends more than 512 octets to clients without EDNS",
        _read(_ask_with_edns),
        _read(_without_edns),
    ),
    _fault("drops-first", "drops the first query for each name", _read(_drop_first)),
    _fault("drops-repeated", "drops queries for what it is asking for already", _read(_drop_repeated)),
    Fault(
        name="proxy-mixes-clients",
        does="sends responses to the client that used their ID last",
        roles=PROXY,
        mixes_clients=True,
        # Responses of one's own at once would come before the next query.
        delay_s=0.2,
    ),
    Fault(name="proxy-believes-any-id", does="takes responses with any ID", roles=PROXY, believes="id"),
    Fault(
        name="proxy-believes-any-question",
        does="takes responses with any question",
        roles=PROXY,
        believes="question",
    ),
    Fault(name="proxy-believes-any-source", does="takes responses from anywhere", roles=PROXY, believes="source"),
    Fault(
        name="proxy-believes-any-address",
        does="takes responses from any address that have the right port",
        roles=PROXY,
        believes="address",
    ),
)
