"""What the upstream answers, by the name: responses of a resolver that has validated them."""

import ipaddress
import itertools
from collections.abc import Iterator

import dns.edns
import dns.flags
import dns.message
import dns.name
import dns.opcode
import dns.rcode
import dns.rdata
import dns.rdataclass
import dns.rrset
import dns.tsig
from dns.rdatatype import RdataType

from dnsrig.verification.denial import beyond, wildcard_of
from dnsrig.verification.exchange import Transport
from dnsrig.verification.upstream import names
from dnsrig.verification.upstream.names import ORIGIN, TTL_S
from dnsrig.verification.upstream.signer import Signer

UPSTREAM_PAYLOAD = 4096
OLD_LIMIT = 512
UNASSIGNED_OPTION = dns.edns.OptionType.make(65_001)
"""EDNS option code for local use (RFC 6891 section 9)."""
OPTION_OCTETS = b"dnsrig"
EXPLANATION = dns.edns.EDEOption(dns.edns.EDECode.NO_REACHABLE_AUTHORITY, "as the rig asks")
DATA = {
    RdataType.A: "198.18.2.53",
    RdataType.AAAA: "2001:2::53",
    RdataType.TXT: '"dnsrig" "" "Several Strings"',
    RdataType.MX: "10 Mail.Rig.example.",
    RdataType.NS: "ns.rig.example.",
    RdataType.CAA: '0 issue "ca.example"',
    RdataType.DS: f"12345 13 2 {'5a' * 32}",
    RdataType.CDS: f"12345 13 2 {'5a' * 32}",
    RdataType.CDNSKEY: f"257 3 13 {'ZG5z' * 21}ZA==",
    RdataType.DNSKEY: f"257 3 13 {'ZG5z' * 21}ZA==",
    RdataType.NSEC3PARAM: "1 0 0 -",
    RdataType.TLSA: f"3 1 1 {'a5' * 32}",
    RdataType.SVCB: "1 svc.rig.example. alpn=h2",
    RdataType.HTTPS: "1 . alpn=h2 port=8443 ipv4hint=198.18.2.53 ech=AAZkbnNyaWc= ipv6hint=2001:2::53",
    RdataType.SRV: "0 0 53 ns.rig.example.",
    RdataType.PTR: "host.rig.example.",
    RdataType.NAPTR: '10 20 "u" "E2U+sip" "!^.*$!sip:info@rig.example!" .',
    RdataType.SSHFP: f"4 2 {'a5' * 32}",
    RdataType.OPENPGPKEY: "ZG5zcmln",
    RdataType.URI: '10 1 "https://rig.example/"',
}
"""A record of each type; other types have one in the form of RFC 3597."""
OTHER_DATA = r"\# 6 646e73726967"
SOA = "ns.rig.example. hostmaster.rig.example. 1 7200 3600 604800"
"""Without its last field, the TTL of denials."""
PRIVATE_DATA = {
    RdataType.A: ("10.53.0.1", "172.16.53.1", "192.168.53.1", "100.64.53.1", "169.254.53.1", "127.0.0.1"),
    RdataType.AAAA: ("fd53::1", "fe80::53", "::1"),
}
MANY_DATA = {
    RdataType.A: tuple(f"198.18.2.{host}" for host in range(101, 113)),
    RdataType.AAAA: tuple(f"2001:2::{host}" for host in range(101, 113)),
}
HOPS = (b"Hop1", b"Hop2", b"Hop3")
"""The labels of what the aliases of a chain point to, one after the other."""
FORGED_ADDRESS = "198.18.2.66"
"""What forged responses say; the right ones have `DATA`."""
STRING_OCTETS = 255
FEW_RECORDS_OCTETS, STRINGS = 16_384, 4
"""Beyond so many octets, records have so many strings: servers may take no more than 100 records of a type."""
TARGET = b"target"
"""The label of what an alias points to, below it."""
HOST_IN_SUBNET = 53
TEXTS = ("first", "second", "third", "fourth")


class Answering:
    """Makes responses; the same question, at the same time, has the same response."""

    def __init__(self, signer: Signer, tsig_key: dns.tsig.Key) -> None:
        self._signer = signer
        self._tsig_key = tsig_key

    def respond(self, wire: bytes, transport: Transport) -> bytes | None:
        """Give the message that answers a query, or nothing to what is none."""
        query = dns.message.from_wire(
            wire, keyring=self._tsig_key, continue_on_error=True, ignore_trailing=True, one_rr_per_rrset=False
        )
        if query.flags & dns.flags.QR:
            return None
        response = self._response(query)
        if query.had_tsig:
            response.use_tsig(self._tsig_key)
            response.request_mac = query.mac or b""
        if query.edns > 0:
            response.set_rcode(dns.rcode.BADVERS)
        elif query.opcode() != dns.opcode.QUERY or len(query.question) != 1:
            response.set_rcode(dns.rcode.NOTIMP)
        else:
            self._fill(query, response)
        return _within_limit(query, response, transport)

    @staticmethod
    def _response(query: dns.message.Message) -> dns.message.Message:
        response = dns.message.Message(query.id)
        kept = query.flags & (dns.flags.RD | dns.flags.CD)
        response.flags = dns.flags.QR | dns.flags.RA | kept | dns.opcode.to_flags(query.opcode())
        response.question = list(query.question)
        if query.edns >= 0:
            response.use_edns(0, query.ednsflags & dns.flags.DO, UPSTREAM_PAYLOAD)
        return response

    def _fill(self, query: dns.message.Message, response: dns.message.Message) -> None:
        name, rtype = query.question[0].name, query.question[0].rdtype
        word, number = names.said(name)
        wants_ad = query.flags & dns.flags.AD or (query.edns >= 0 and query.ednsflags & dns.flags.DO)
        is_refused = {
            names.SERVFAIL: dns.rcode.SERVFAIL,
            names.EXPLAINED: dns.rcode.SERVFAIL,
            names.REFUSED: dns.rcode.REFUSED,
        }.get(word)
        if word == names.BOGUS and not query.flags & dns.flags.CD:
            is_refused = dns.rcode.SERVFAIL
        if is_refused is not None:
            response.set_rcode(is_refused)
            self._explain(response, word)
            return
        if word != names.BOGUS and wants_ad and not name.is_subdomain(names.UNSIGNED):
            response.flags |= dns.flags.AD
        self._add_records(query, response, word, number)
        if word == names.OPTIONS and response.edns >= 0:
            _add_option(response, dns.edns.GenericOption(UNASSIGNED_OPTION, OPTION_OCTETS))
        if word == names.SUBNET:
            _tailor(query, response)
        if word == names.CASE:
            for rrset in response.answer:
                rrset.name = dns.name.Name([label.upper() for label in rrset.name.labels])
        if word == "size":
            self._grow(response, name, RdataType.make(rtype), number)

    @staticmethod
    def _explain(response: dns.message.Message, word: str) -> None:
        if word == names.EXPLAINED and response.edns >= 0:
            _add_option(response, EXPLANATION)

    def _add_records(self, query: dns.message.Message, response: dns.message.Message, word: str, number: int) -> None:
        question = query.question[0]
        name, rtype, rdclass = question.name, RdataType.make(question.rdtype), question.rdclass
        signed = _is_signed(query, name) and rdclass == dns.rdataclass.IN
        is_of_signed = rtype in {RdataType.DNSKEY, RdataType.RRSIG}
        lacks_type = (is_of_signed and name.is_subdomain(names.UNSIGNED)) or (
            word == names.ADDRESS and rtype != RdataType.A
        )
        if word in {names.ABSENT, names.EMPTY} or lacks_type:
            response.set_rcode(dns.rcode.NXDOMAIN if word == names.ABSENT else dns.rcode.NOERROR)
            self._deny(response, name, number or TTL_S, signed=signed)
            return
        if rtype == RdataType.ANY:
            for found in (RdataType.A, RdataType.TXT):
                self._add(response.answer, _rrset(name, found, _data(name, found)), signed=signed)
            return
        if rtype == RdataType.RRSIG:
            found_sets = [_rrset(name, found, _data(name, found)) for found in (RdataType.A, RdataType.TXT)]
            response.answer += [self._signer.signatures(rrset) for rrset in found_sets]
            return
        if name == ORIGIN and rtype == RdataType.DNSKEY:
            self._add(response.answer, self._signer.keys, signed=signed)
            return
        if word == names.ALIAS and rtype != RdataType.CNAME and name.labels[0].lower() != TARGET:
            target = dns.name.Name((TARGET, *name.labels))
            self._add(response.answer, _rrset(name, RdataType.CNAME, (target.to_text(),)), signed=signed)
            name = target
        if word == names.CHAIN and rtype != RdataType.CNAME:
            name = self._add_chain(response, name, signed=signed)
        ttl_s = number if word == "ttl" else TTL_S
        texts = TEXTS if word == names.TRUNCATED and rtype == RdataType.TXT else _data(name, rtype)
        texts = {names.PRIVATE: PRIVATE_DATA, names.MANY: MANY_DATA}.get(word, {}).get(rtype, texts)
        if word != "size":
            self._add(response.answer, _rrset(name, rtype, texts, ttl_s, rdclass), signed=signed)
        if word == names.SECTIONS:
            server = dns.name.from_text("ns", ORIGIN)
            self._add(response.authority, _rrset(ORIGIN, RdataType.NS, (server.to_text(),)), signed=signed)
            self._add(response.additional, _rrset(server, RdataType.A, _data(server, RdataType.A)), signed=signed)

    def _add_chain(self, response: dns.message.Message, name: dns.name.Name, *, signed: bool) -> dns.name.Name:
        """Add the CNAME records from a name on, and give what the last points to."""
        at = next((at for at, hop in enumerate(HOPS, 1) if name.labels[0].lower() == hop.lower()), 0)
        base = dns.name.Name(name.labels[1 if at else 0 :])
        for hop in HOPS[at:]:
            target = dns.name.Name((hop, *base.labels))
            self._add(response.answer, _rrset(name, RdataType.CNAME, (target.to_text(),)), signed=signed)
            name = target
        return name

    def _deny(self, response: dns.message.Message, name: dns.name.Name, ttl_s: int, *, signed: bool) -> None:
        zone = names.zone_of(name)
        self._add(response.authority, _rrset(zone, RdataType.SOA, (f"{SOA} {ttl_s}",), ttl_s), signed=signed)
        if signed:
            for owner, following in _proof(name, is_absent=response.rcode() == dns.rcode.NXDOMAIN):
                self._add(response.authority, _rrset(owner, RdataType.NSEC, (f"{following} RRSIG NSEC",)), signed=True)

    def _grow(self, response: dns.message.Message, name: dns.name.Name, rtype: RdataType, octets: int) -> None:
        """Fill the answer with TXT records, or one record of another type, to so many octets exactly, if they fit."""
        signed = _is_signed(response, name)
        if rtype != RdataType.TXT:
            self._add(response.answer, _rrset(name, rtype, _data(name, rtype)), signed=signed)
            return
        rrset = _rrset(name, rtype, ('"0"',))
        self._add(response.answer, rrset, signed=signed)
        left = octets - len(response.to_wire(max_size=65_535))
        strings = 1 if octets <= FEW_RECORDS_OCTETS else STRINGS
        per_record = 12 + strings * (1 + STRING_OCTETS)
        texts = ['"0"']
        more = "".join(f' "{"x" * STRING_OCTETS}"' for _ in range(strings - 1))
        while left >= per_record + 20:
            texts.append(f'"{len(texts):03d}{"x" * (STRING_OCTETS - 3)}"{more}')
            left -= per_record
        texts[0] = _text_of(max(left, 0))
        response.answer.clear()
        self._add(response.answer, _rrset(name, rtype, tuple(texts)), signed=signed)

    def _add(self, section: list[dns.rrset.RRset], rrset: dns.rrset.RRset, *, signed: bool) -> None:
        section.append(rrset)
        if signed:
            section.append(self._signer.signatures(rrset))


def _proof(name: dns.name.Name, *, is_absent: bool) -> Iterator[tuple[dns.name.Name, dns.name.Name]]:
    """Give owner and next name of the NSEC records that deny a name, or a type of it: made for it alone (RFC 4470)."""
    if not is_absent:
        yield name, dns.name.Name((b"\x00", *name.labels))
        return
    for denied in (name, wildcard_of(name.parent())):
        label, *above = denied.labels
        before = dns.name.Name((label[:-1] + bytes([label[-1] - 1]), *above))
        # Where there is no room for one octet more, the last one is raised.
        yield before, beyond(denied) or dns.name.Name((label[:-1] + bytes([label[-1] + 1]), *above))


def _is_signed(message: dns.message.Message, name: dns.name.Name) -> bool:
    """Say whether records of a name come with signatures: to queries with DO, in the zone that is signed."""
    has_do = message.edns >= 0 and bool(message.ednsflags & dns.flags.DO)
    return has_do and not name.is_subdomain(names.UNSIGNED)


def _text_of(more: int) -> str:
    """Give TXT data of so many octets more than a string of one octet has."""
    found = [f'"{"0" * (1 + min(more, STRING_OCTETS - 1))}"']
    left = more - (STRING_OCTETS - 1)
    while left > 0:
        octets = min(left - 1, STRING_OCTETS)
        found.append(f'"{"1" * octets}"')
        left -= octets + 1
    return " ".join(found)


def _rrset(
    name: dns.name.Name,
    rtype: RdataType,
    texts: tuple[str, ...],
    ttl_s: int = TTL_S,
    rdclass: dns.rdataclass.RdataClass = dns.rdataclass.IN,
) -> dns.rrset.RRset:
    rdatas = [dns.rdata.from_text(rdclass, rtype, text) for text in texts]
    return dns.rrset.from_rdata_list(name, ttl_s, rdatas)


def _data(name: dns.name.Name, rtype: RdataType) -> tuple[str, ...]:
    if rtype == RdataType.SOA:
        return (f"{SOA} {TTL_S}",)
    if rtype == RdataType.NSEC:
        return (f"{name} A RRSIG NSEC",)
    return (DATA.get(rtype, OTHER_DATA),)


def _add_option(response: dns.message.Message, option: dns.edns.Option) -> None:
    response.use_edns(0, response.ednsflags & dns.flags.DO, UPSTREAM_PAYLOAD, options=[*response.options, option])


def _tailor(query: dns.message.Message, response: dns.message.Message) -> None:
    """Give clients of a subnet an address in it, for it alone."""
    found = [option for option in query.options if isinstance(option, dns.edns.ECSOption) and option.family == 1]
    for option, rrset in itertools.product(found[:1], response.answer):
        if rrset.rdtype == RdataType.A:
            address = str(ipaddress.IPv4Address(option.address) + HOST_IN_SUBNET)
            response.answer[0] = _rrset(rrset.name, RdataType.A, (address,))
            _add_option(response, dns.edns.ECSOption(option.address, option.srclen, option.srclen))


def _within_limit(query: dns.message.Message, response: dns.message.Message, transport: Transport) -> bytes:
    """Give the response as the transport carries it; TC and fewer records where it is too long (RFC 2181 section 9)."""
    wire = response.to_wire(max_size=65_535)
    word = names.said(query.question[0].name)[0] if query.question else ""
    limit = OLD_LIMIT if query.edns < 0 else max(OLD_LIMIT, query.payload)
    if transport == "tcp" or (len(wire) <= limit and word != names.TRUNCATED):
        return wire
    response.flags |= dns.flags.TC
    del response.answer[1:]
    kept = list(response.answer[0])[:1] if word == names.TRUNCATED and response.answer else []
    if kept:
        first = response.answer[0]
        response.answer = [dns.rrset.from_rdata_list(first.name, first.ttl, kept)]
    else:
        response.answer, response.authority, response.additional = [], [], []
    return response.to_wire(max_size=65_535)


def forged(query: bytes) -> tuple[str, bytes] | None:
    """Give what a name says is to be forged, and the message that says something else than the upstream does.

    The forged message has the ID and the question of the query but for what is wrong with it.
    """
    asked = dns.message.from_wire(query, keyring=False, continue_on_error=True, ignore_trailing=True)
    if len(asked.question) != 1 or asked.question[0].rdtype != RdataType.A:
        return None
    name = asked.question[0].name
    word = names.said(name)[0]
    if word not in names.FORGED:
        return None
    made = dns.message.Message(asked.id ^ 1 if word == names.FORGED_ID else asked.id)
    made.flags = dns.flags.QR | dns.flags.RA | (asked.flags & (dns.flags.RD | dns.flags.CD))
    of = dns.name.Name((b"other", *name.labels)) if word == names.FORGED_QUESTION else name
    made.question = [dns.rrset.RRset(of, dns.rdataclass.IN, RdataType.A)]
    made.answer = [_rrset(name, RdataType.A, (FORGED_ADDRESS,))]
    if asked.edns >= 0:
        made.use_edns(0, asked.ednsflags & dns.flags.DO, UPSTREAM_PAYLOAD)
    return word, made.to_wire(max_size=65_535)
