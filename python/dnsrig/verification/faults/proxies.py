"""Faults of DNS proxies, as broadband routers have shown them (RFC 5625, JPRS-2010 case 7), without those of caches."""

import itertools
from collections.abc import Callable

import dns.edns
import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdataclass
import dns.rdatatype
import dns.rrset
from dns.rdatatype import RdataType

from dnsrig.verification.faults.changes import (
    asking,
    changing,
    clear_do,
    dropping,
    move_aliases,
    of_type,
    refusing,
    replace_rdatas,
    without_types,
)
from dnsrig.verification.faults.fault import Change, Fault, Passage, unchanged_if_unreadable, wire_of
from dnsrig.verification.item import Role
from dnsrig.verification.queries import Z_BIT

PROXY: tuple[Role, ...] = ("proxy",)
OLD_LIMIT = 512
FLAG_DAY_LIMIT = 1232
ADVERTISEMENT = "203.0.113.80"
AT_ONCE = 10
TSIG_TYPE = 250
_ids = itertools.count(1)


def _has_tsig(message: dns.message.Message) -> bool:
    return bool(message.had_tsig)


def _parsed(wire: bytes) -> dns.message.Message:
    return dns.message.from_wire(wire, keyring=False)


def _without_flag(flag: int) -> Callable[[dns.message.Message], None]:
    def change(message: dns.message.Message) -> None:
        message.flags = dns.flags.Flag(int(message.flags) & ~flag)

    return change


def _clear_edns_flags(message: dns.message.Message) -> None:
    if message.edns >= 0:
        message.ednsflags &= ~0x7FFF


def _without_options(message: dns.message.Message) -> None:
    rcode = message.rcode()
    if message.edns >= 0:
        message.use_edns(message.edns, message.ednsflags & 0xFFFF, message.payload)
        message.set_rcode(rcode)


def _without_ede(message: dns.message.Message) -> None:
    rcode = message.rcode()
    kept = [option for option in message.options if option.otype != dns.edns.OptionType.EDE]
    if message.edns >= 0:
        message.use_edns(message.edns, message.ednsflags & 0xFFFF, message.payload, options=kept)
        message.set_rcode(rcode)


def _add_opt(message: dns.message.Message) -> None:
    if message.edns < 0:
        message.use_edns(0, 0, FLAG_DAY_LIMIT)


def _cut_octets(passage: Passage) -> bytes:
    """Copy no more octets than an old buffer has, as they come; the counts in the header stay."""
    return passage.response[:OLD_LIMIT] if passage.transport == "udp" else passage.response


def _cut_tcp(passage: Passage) -> bytes:
    answer = passage.answer
    while passage.transport == "tcp" and len(wire_of(answer)) > OLD_LIMIT and answer.answer:
        rrset = answer.answer[-1]
        if len(rrset) > 1:
            replace_rdatas(rrset, list(rrset)[:-1])
        else:
            answer.answer.pop()
    return wire_of(answer)


def _truncate_by_tcp(passage: Passage) -> bytes:
    answer = passage.answer
    answer.flags |= dns.flags.TC if passage.transport == "tcp" else 0
    return wire_of(answer)


def _drop_over_flag_day(passage: Passage) -> bytes | None:
    return None if passage.transport == "udp" and len(passage.response) > FLAG_DAY_LIMIT else passage.response


def _drop_tcp(passage: Passage) -> bytes | None:
    return None if passage.transport == "tcp" else passage.query


def _advertise(message: dns.message.Message) -> None:
    if message.rcode() != dns.rcode.NXDOMAIN or not message.question:
        return
    name = message.question[0].name
    message.set_rcode(dns.rcode.NOERROR)
    message.answer = [dns.rrset.from_text(name, 60, dns.rdataclass.IN, RdataType.A, ADVERTISEMENT)]
    message.authority = []


def _hide(rcode: dns.rcode.Rcode) -> Callable[[dns.message.Message], None]:
    def change(message: dns.message.Message) -> None:
        if message.rcode() == rcode:
            message.set_rcode(dns.rcode.NOERROR if rcode == dns.rcode.NXDOMAIN else dns.rcode.NXDOMAIN)

    return change


def _drop_servfail(passage: Passage) -> bytes | None:
    return None if passage.answer.rcode() == dns.rcode.SERVFAIL else passage.response


def _rewrite_addresses(message: dns.message.Message) -> None:
    for at, rrset in enumerate(message.answer):
        if rrset.rdtype == RdataType.A:
            message.answer[at] = dns.rrset.from_text(rrset.name, rrset.ttl, rrset.rdclass, RdataType.A, ADVERTISEMENT)


def _remove_aliases(message: dns.message.Message) -> None:
    message.answer = without_types(message.answer, RdataType.CNAME)


def _drop_private(message: dns.message.Message) -> None:
    texts = ("10.", "192.168.", "127.", "fd", "::1")
    for rrset in of_type(message.answer, RdataType.A, RdataType.AAAA):
        if any(rdata.to_text().startswith(texts) for rdata in rrset):
            message.answer.remove(rrset)


def _drop_section(section: str) -> Callable[[dns.message.Message], None]:
    return lambda message: getattr(message, section).clear()


def _raise_ttl(message: dns.message.Message) -> None:
    for rrset in message.answer:
        # As one that cannot keep less than an hour.
        rrset.ttl = max(rrset.ttl, 3600) if rrset.ttl else 0


def _lower_case_query(passage: Passage) -> bytes:
    query = passage.asked
    for rrset in query.question:
        rrset.name = rrset.name.canonicalize()
    return wire_of(query)


def _own_case(passage: Passage) -> bytes:
    """Give the client's spelling back, as what remembers its clients' questions does."""
    answer = passage.answer
    spelt = passage.asked.question[0].name if passage.asked.question else None
    for rrset in answer.question:
        rrset.name = rrset.name if spelt is None else spelt
    return wire_of(answer)


def _asks_svcb(message: dns.message.Message) -> bool:
    return any(rrset.rdtype in {RdataType.SVCB, RdataType.HTTPS} for rrset in message.question)


def _asks_other_class(message: dns.message.Message) -> bool:
    known = {dns.rdataclass.IN, dns.rdataclass.CH, dns.rdataclass.HS, dns.rdataclass.ANY}
    return any(rrset.rdclass not in known for rrset in message.question)


def _has_z(message: dns.message.Message) -> bool:
    return bool(int(message.flags) & Z_BIT)


def _has_options(message: dns.message.Message) -> bool:
    return message.edns >= 0 and bool(message.options)


def _has_opt(query: bytes) -> bool:
    """Say whether a query has EDNS; what cannot be read has not."""
    try:
        return dns.message.from_wire(query).edns >= 0
    except dns.exception.DNSException:
        return False


def _next_id(passage: Passage) -> bytes:
    return (next(_ids) % 65_536).to_bytes(2) + passage.query[2:]


def _own_id(passage: Passage) -> bytes:
    return passage.query[:2] + passage.response[2:]


def _strip_tsig(passage: Passage) -> bytes:
    """Take the last additional record away, which TSIG is (RFC 8945 section 5.1)."""
    query = _parsed(passage.query)
    if not _has_tsig(query):
        return passage.query
    plain = dns.message.make_query(query.question[0].name, query.question[0].rdtype, use_edns=False)
    plain.flags, plain.id = query.flags, query.id
    return wire_of(plain)


def _spoil_signed(passage: Passage) -> bytes:
    """Set RD in what is signed, as one that rebuilds the header does."""
    if not _has_tsig(_parsed(passage.query)):
        return passage.query
    octets = bytearray(passage.query)
    octets[2] ^= 0x01
    return bytes(octets)


def _fault(name: str, does: str, on_query: Change | None = None, on_response: Change | None = None) -> Fault:
    return Fault(name=f"proxy-{name}", does=does, roles=PROXY, on_query=on_query, on_response=on_response)


_read = unchanged_if_unreadable

FAULTS = (
    _fault("clears-ad", "clears AD in queries", asking(_without_flag(dns.flags.AD))),
    _fault("clears-cd", "clears CD in queries", asking(_without_flag(dns.flags.CD))),
    _fault("clears-z", "clears the header's reserved bit", asking(_without_flag(Z_BIT))),
    _fault("drops-z", "drops queries with the header's reserved bit", dropping(_has_z)),
    _fault("clears-ad-in-responses", "clears AD in responses", None, changing(_without_flag(dns.flags.AD))),
    _fault("clears-cd-in-responses", "clears CD in responses", None, changing(_without_flag(dns.flags.CD))),
    _fault("clears-do-in-responses", "clears DO in responses", None, changing(clear_do)),
    _fault("clears-edns-flags", "clears EDNS flags but DO", asking(_clear_edns_flags)),
    _fault("adds-opt", "adds OPT to responses of clients without EDNS", None, changing(_add_opt)),
    _fault("strips-options", "takes EDNS options out of queries", asking(_without_options)),
    _fault("strips-options-of-responses", "takes EDNS options out of responses", None, changing(_without_options)),
    _fault("drops-options", "drops queries with EDNS options", dropping(_has_options)),
    _fault("strips-ede", "takes extended DNS errors out of responses", None, changing(_without_ede)),
    _fault("cuts-octets", "copies 512 octets of responses by UDP", None, _cut_octets),
    _fault("cuts-tcp", "cuts responses by TCP to 512 octets", None, _read(_cut_tcp)),
    _fault("sets-tc-by-tcp", "sets TC in responses by TCP", None, _read(_truncate_by_tcp)),
    _fault("drops-over-1232", "drops responses by UDP beyond 1232 octets", None, _drop_over_flag_day),
    _fault("drops-tcp", "takes TCP connections and answers nothing", _drop_tcp),
    _fault("rewrites-nxdomain", "answers with its own address for names that do not exist", None, changing(_advertise)),
    _fault("hides-nxdomain", "turns NXDOMAIN into NOERROR", None, changing(_hide(dns.rcode.NXDOMAIN))),
    _fault("drops-servfail", "drops SERVFAIL", None, _read(_drop_servfail)),
    _fault("hides-servfail", "turns SERVFAIL into NXDOMAIN", None, changing(_hide(dns.rcode.SERVFAIL))),
    _fault("rewrites-addresses", "changes IPv4 addresses", None, changing(_rewrite_addresses)),
    _fault("removes-aliases", "takes CNAME records out of answers", None, changing(_remove_aliases)),
    _fault("moves-aliases", "puts CNAME records behind what they lead to", None, changing(move_aliases)),
    _fault("drops-private", "takes addresses for private use out of answers", None, changing(_drop_private)),
    _fault("drops-authority", "empties the authority section", None, changing(_drop_section("authority"))),
    _fault("drops-additional", "empties the additional section", None, changing(_drop_section("additional"))),
    _fault("raises-ttl", "raises TTLs to an hour", None, changing(_raise_ttl)),
    _fault("lower-cases-queries", "lower-cases names in queries", _read(_lower_case_query), _read(_own_case)),
    _fault("drops-svcb", "drops queries for SVCB and HTTPS", dropping(_asks_svcb)),
    _fault("refuses-classes", "refuses unknown classes", None, refusing(_asks_other_class, dns.rcode.NOTIMP)),
    _fault("sequential-ids", "counts the IDs of its queries", _next_id, _own_id),
    _fault("strips-tsig", "takes TSIG out of queries", _strip_tsig),
    _fault("adds-to-signed", "changes the header of signed messages", _spoil_signed),
    Fault(name="proxy-fixed-source-port", does="asks from one port", roles=PROXY, fixed_source_port=True),
    Fault(name="proxy-answers-wan", does="answers on its outer side", roles=PROXY, listens_everywhere=True),
    Fault(
        name="proxy-answers-wan-by-ipv6",
        does="answers on its outer side by IPv6",
        roles=PROXY,
        answers_outside=lambda query, is_ipv6: is_ipv6,
    ),
    Fault(
        name="proxy-answers-wan-with-edns",
        does="answers queries with EDNS on its outer side",
        roles=PROXY,
        answers_outside=lambda query, is_ipv6: _has_opt(query),
    ),
    Fault(
        name="proxy-few-at-once",
        does="serves ten queries at a time",
        roles=PROXY,
        most_at_once=AT_ONCE,
        # A database of one's own answers at once, which would hide it.
        delay_s=0.2,
    ),
)
