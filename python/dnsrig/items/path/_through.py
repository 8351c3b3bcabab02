"""What items about paths share: what was sent at one end against what came at the other, octet by octet."""

from collections.abc import Iterator

import dns.message
from dns.rdatatype import RdataType

from dnsrig.verification import transparency
from dnsrig.verification.exchange import Exchange, Transport
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.path import Family, PathSubject, Way
from dnsrig.verification.upstream.server import Forwarded
from dnsrig.verification.verdicts import Evidence, Outcome, failed

SHOWN = 2
"""So many of the differences are told."""


def compare(
    subject: PathSubject, family: Family, query: Query, *, of_query: bool, transport: Transport = "udp"
) -> Outcome | None:
    """Ask, and compare the query or the response at both ends; the ID too, which no router has reason to change."""
    way = subject.way(family)
    exchange = way.asker.tcp(query) if transport == "tcp" else way.asker.udp(query)
    if exchange.response is None:
        return subject.lost(way, exchange, transport)
    seen = subject.seen(way, query)
    if not seen:
        return failed(f"{exchange.title} is answered, and has not come to the server.", exchange)
    # Where it was sent more than once, the response may be to an earlier try, which has another ID. Names that are
    # asked for often have had the ID before: the last one is meant.
    came = next((one for one in reversed(seen) if one.query[:2] == exchange.sent[:2]), seen[-1])
    if of_query and came.query != exchange.sent:
        return failed("The query is changed on the way to the server.", exchange, *_shown(came))
    if not of_query and came.response != exchange.response:
        said = f"The response is changed on the way from the server{_changes(came, exchange)}."
        return failed(said, exchange, *_shown(came))
    return None


def _changes(came: Forwarded, exchange: Exchange) -> str:
    """Say what is another in a response, as words behind a sentence; "" where its form alone is."""
    if exchange.message is None:
        return ""
    went_in, came_out = came.answer, exchange.message
    found = [
        *transparency.rcode_differences(went_in, came_out),
        *transparency.flag_differences(went_in, came_out, transparency.HEADER_FLAGS),
        *transparency.edns_differences(went_in, came_out),
        *_options(went_in, came_out),
        *(one for part in transparency.SECTIONS for one in transparency.section_differences(went_in, came_out, part)),
        *_ttls(went_in, came_out),
    ]
    more = f", and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return f": {'; '.join(found[:SHOWN])}{more}" if found else ""


def _options(went_in: dns.message.Message, came_out: dns.message.Message) -> list[str]:
    """Say which options are another, where there is OPT still."""
    return transparency.option_differences(went_in, came_out) if came_out.edns >= 0 else []


def _ttls(went_in: dns.message.Message, came_out: dns.message.Message) -> list[str]:
    """Say which TTLs are others."""
    found = []
    for part in transparency.SECTIONS:
        sent = {(rrset.name, rrset.rdtype, rrset.covers): rrset.ttl for rrset in getattr(went_in, part)}
        for rrset in getattr(came_out, part):
            ttl_s = sent.get((rrset.name, rrset.rdtype, rrset.covers), rrset.ttl)
            if rrset.ttl != ttl_s:
                title = f"{rrset.name} {RdataType.make(rrset.rdtype).name}"
                found.append(f"the TTL of {title} in the {part} section is {rrset.ttl} s, not {ttl_s} s")
    return found


def ways(subject: PathSubject) -> Iterator[tuple[Family, Transport]]:
    """Give each version of IP with each transport that passes."""
    for family in subject.families:
        for transport in subject.transports(family):
            yield family, transport


def different(way: Way, exchange: Exchange) -> Outcome:
    """Judge a response that is there, but shorter than it should be."""
    directly = way.direct.tcp(exchange.query) if exchange.transport == "tcp" else way.direct.udp(exchange.query)
    came = f"{exchange.octets} octets{' with TC' if exchange.is_truncated else ''}"
    return failed(
        f"{came} come by {exchange.transport.upper()}; without the path {directly.octets}.",
        exchange,
        directly,
    )


def _shown(forwarded: Forwarded) -> tuple[Evidence, ...]:
    text = f";; query\n{forwarded.asked.to_text()}\n\n;; response\n{forwarded.answer.to_text()}"
    return (Evidence("at the server", text),)
