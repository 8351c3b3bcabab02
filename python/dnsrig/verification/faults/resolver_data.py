"""Faults of resolvers in what answers are made of: owners, aliases, types, denials that were never proven."""

import dns.flags
import dns.message
import dns.name
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.verification.faults.changes import changing, refusing
from dnsrig.verification.faults.fault import Fault, Passage, unchanged_if_unreadable, wire_of
from dnsrig.verification.item import Role
from dnsrig.verification.tree.zones_unproven import FORGED, UNPROVEN

RESOLVER: tuple[Role, ...] = ("resolver",)
SERVICE_TYPES = (RdataType.HTTPS, RdataType.SVCB)
AT_ONCE, CROWD = 20, 50
"""Queries at a time."""
ZONES = tuple(map(dns.name.from_text, UNPROVEN))


def _give_wildcard(message: dns.message.Message) -> None:
    """Leave records from a wildcard the wildcard's name, as they are signed."""
    owners = {
        rrset.name: dns.name.Name((b"*", *rrset.name.split(rrset[0].labels + 1)[1].labels))
        for rrset in message.answer
        if rrset.rdtype == RdataType.RRSIG and rrset[0].labels < len(rrset.name.labels) - 1
    }
    for rrset in message.answer:
        rrset.name = owners.get(rrset.name, rrset.name)


def _drop_alias(message: dns.message.Message) -> None:
    if any(rrset.rdtype == RdataType.DNAME for rrset in message.answer):
        message.answer = [rrset for rrset in message.answer if rrset.rdtype != RdataType.CNAME]


def _strip_dname(message: dns.message.Message) -> None:
    message.answer = [rrset for rrset in message.answer if RdataType.DNAME not in {rrset.rdtype, rrset.covers}]


def _filter_services(message: dns.message.Message) -> None:
    if message.question and message.question[0].rdtype in SERVICE_TYPES:
        message.answer = []


def _asks_any(query: dns.message.Message) -> bool:
    return bool(query.question) and query.question[0].rdtype == RdataType.ANY


def _deny_beside_bogus(passage: Passage) -> bytes:
    """Deny what is below a zone once something there was denied without proof."""
    question = passage.asked.question
    zone = next((one for one in ZONES if question and question[0].name.is_subdomain(one)), None)
    if zone is None:
        return passage.response
    if question[0].name.labels[0].startswith(FORGED):
        passage.memory.add(zone.to_text())
        return passage.response
    if zone.to_text() not in passage.memory:
        return passage.response
    answer = passage.answer
    answer.answer = []
    answer.flags |= dns.flags.AD
    answer.set_rcode(dns.rcode.NXDOMAIN)
    return wire_of(answer)


FAULTS = (
    Fault(
        name="answers-as-wildcard",
        does="gives records from wildcards the wildcard's name",
        roles=RESOLVER,
        on_response=changing(_give_wildcard),
    ),
    Fault(
        name="drops-synthesised-alias",
        does="leaves the alias that follows from a DNAME record out",
        roles=RESOLVER,
        on_response=changing(_drop_alias),
    ),
    Fault(
        name="strips-dname",
        does="leaves DNAME records out, beside the alias that follows from them",
        roles=RESOLVER,
        on_response=changing(_strip_dname),
    ),
    Fault(
        name="filters-service-bindings",
        does="answers queries for HTTPS and SVCB without records",
        roles=RESOLVER,
        seen_in="filters that keep browsers from encrypted client hello",
        on_response=changing(_filter_services),
    ),
    Fault(
        name="nxdomain-to-any",
        does="answers queries for ANY with NXDOMAIN",
        roles=RESOLVER,
        on_response=refusing(_asks_any, dns.rcode.NXDOMAIN),
    ),
    Fault(
        name="denies-beside-bogus",
        does="denies names by records that came with a denial which did not validate",
        roles=RESOLVER,
        seen_in="Knot Resolver 5.6",
        on_response=unchanged_if_unreadable(_deny_beside_bogus),
    ),
    Fault(
        name="serves-few-at-once",
        does="drops queries beyond twenty at a time",
        roles=RESOLVER,
        most_at_once=AT_ONCE,
        # Answers from the cache come at once, which would hide it.
        delay_s=0.2,
    ),
    Fault(
        name="mixes-answers",
        does="mixes responses up when it has more than fifty queries at a time",
        roles=RESOLVER,
        swaps_beyond=CROWD,
        delay_s=0.2,
    ),
)
