"""A-unrelated: nothing that was not asked for."""

import dns.message
import dns.name
import dns.rdata
import dns.rrset
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.RRSIG import RRSIG

from dnsrig.items.authoritative._looked_at import check_responses, of_usual_types
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity

DENIALS = {RdataType.NSEC, RdataType.NSEC3}
PREFIXES = 2
"""Labels before the host in the owner of TLSA records (RFC 6698 section 3)."""
ALIASES = {RdataType.CNAME, RdataType.DNAME}
ITEM = Item(
    id="A-unrelated",
    role="authoritative",
    group="Answers",
    requirement=(
        "The answer is about the name that was asked for and what it is an alias of, in the type that was asked for, "
        "the authority section about zones above them, and the additional section about names in the others."
    ),
    references=("RFC 1034 section 4.3.2", "RFC 2181 section 5.4.1", "RFC 5452 section 6"),
    severity=Severity.ERROR,
    consequence=(
        "Resolvers drop such records or the whole response, as this is how caches are poisoned; those that do not are "
        "given addresses of names that are others'."
    ),
    procedure=(
        "Answers, denials and referrals are asked for without EDNS, and with DO a sample of all names that are "
        "known; the owners of all records are followed from the question on. The types in use are asked for at a "
        "host, with DO and without EDNS: no answer has records of another type, but aliases and signatures."
    ),
    dig=("dig @{server} -p {port} {host} {type} +norec +noedns",),
    needs=("zone",),
    faults=(
        "unrelated-answer",
        "unrelated-authority",
        "unrelated-additional",
        "referral-in-answer-with-do",
        "exceeds-512-in-referrals",
        "exceeds-512-in-denials",
        "referral-in-answer",
        "wildcard-owner",
        "no-ns",
        "two-cnames",
        "address-for-aaaa",
    ),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Look for records that nothing leads to."""

    def trouble(exchange: Exchange) -> str:
        return _unrelated(exchange, subject.origin)

    held = "All records of {count} responses have to do with their questions."
    return check_responses(subject, trouble, held, of_usual_types(subject))


def _unrelated(exchange: Exchange, origin: dns.name.Name) -> str:
    message = exchange.message
    if message is None:
        return ""
    reached = _reached(exchange)
    for rrset in message.answer:
        is_dname = RdataType.DNAME in {rrset.rdtype, rrset.covers}
        if rrset.name not in reached and not (is_dname and _is_above(rrset.name, reached)):
            return f"has {_title(rrset.name, rrset.rdtype)} in its answer, which nothing leads to"
        if not _is_of_type(exchange.query.rtype, rrset):
            asked = RdataType.make(exchange.query.rtype).name
            return f"has {_title(rrset.name, rrset.rdtype)} in its answer, where {asked} was asked for"
    zones = {origin} | _signers(message, reached)
    for rrset in message.authority:
        # Denials have owners beside the name; those of zones that nothing leads to are none of this server's to give.
        is_denial = DENIALS & {rrset.rdtype, rrset.covers}
        is_below = is_denial and any(rrset.name.is_subdomain(zone) for zone in zones)
        if not is_below and not _is_above(rrset.name, reached):
            return f"has {_title(rrset.name, rrset.rdtype)} in its authority section, which is not above the name"
    named = set(reached)
    for rrset in (*message.answer, *message.authority, *message.additional):
        named.update(name for record in rrset for name in _names_in(record))
    for rrset in message.additional:
        # Knot DNS adds the proof where a target has no addresses.
        if DENIALS & {rrset.rdtype, rrset.covers}:
            continue
        # BIND adds the TLSA records of mail servers and services, at _25._tcp.TARGET (RFC 7672, RFC 7673).
        is_tlsa = RdataType.TLSA in {rrset.rdtype, rrset.covers}
        if rrset.name not in named and not (is_tlsa and _service_of(rrset.name) in named):
            return f"has {_title(rrset.name, rrset.rdtype)} in its additional section, which no other record names"
    return ""


def _is_of_type(asked: RdataType, rrset: dns.rrset.RRset) -> bool:
    """Say whether an answer may have an RRset, or signatures over one, by its type (RFC 1034 section 4.3.2)."""
    rtype = rrset.covers if rrset.rdtype == RdataType.RRSIG and asked != RdataType.RRSIG else rrset.rdtype
    return asked in {RdataType.ANY, rtype} or rtype in ALIASES


def _signers(message: dns.message.Message, reached: set[dns.name.Name]) -> set[dns.name.Name]:
    """Give the zones above what is reached that have signed: aliases may lead into others of this server's."""
    signatures = (one for rrset in (*message.answer, *message.authority) for one in rrset if isinstance(one, RRSIG))
    return {one.signer for one in signatures if _is_above(one.signer, reached)}


def _reached(exchange: Exchange) -> set[dns.name.Name]:
    """Give the name that was asked for and what it is an alias of."""
    reached = {exchange.query.name}
    answer = [] if exchange.message is None else exchange.message.answer
    aliases = {rrset.name: rrset[0].target for rrset in answer if rrset.rdtype == RdataType.CNAME and len(rrset)}
    name = exchange.query.name
    while name in aliases and aliases[name] not in reached:
        name = aliases[name]
        reached.add(name)
    return reached


def _is_above(name: dns.name.Name, reached: set[dns.name.Name]) -> bool:
    return any(one.is_subdomain(name) for one in reached)


def _service_of(name: dns.name.Name) -> dns.name.Name | None:
    """Give the host whose service TLSA records with this owner are about: the name without its port and protocol."""
    if len(name) <= PREFIXES or not all(label.startswith(b"_") for label in name.labels[:PREFIXES]):
        return None
    return dns.name.Name(name.labels[PREFIXES:])


def _names_in(record: dns.rdata.Rdata) -> list[dns.name.Name]:
    """Give the names in a record's data."""
    values = [getattr(record, slot, None) for kind in type(record).__mro__ for slot in getattr(kind, "__slots__", ())]
    return [value for value in values if isinstance(value, dns.name.Name)]


def _title(name: dns.name.Name, rtype: int) -> str:
    return f"{name} {RdataType.make(rtype).name}"
