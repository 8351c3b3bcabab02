"""What the rig's weak resolver reads in responses: answers, referrals, addresses of name servers."""

import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rrset
from dns.rdatatype import RdataType

Question = tuple[dns.name.Name, RdataType, bool]
"""Name and type, and whether DNSSEC records are asked for upstream."""


def answering(response: dns.message.Message, question: Question) -> list[dns.rrset.RRset]:
    """Give the records that answer a question, or an alias in their place, with their signatures."""
    name, rtype, _ = question
    types = {rtype, RdataType.CNAME}
    return [
        rrset
        for rrset in response.answer
        if rrset.name == name and (rrset.covers if rrset.rdtype == RdataType.RRSIG else rrset.rdtype) in types
    ]


def referral(response: dns.message.Message, zone: dns.name.Name, name: dns.name.Name) -> dns.name.Name | None:
    """Give the zone below that a response refers to."""
    if response.answer or response.rcode() != dns.rcode.NOERROR:
        return None
    return next(
        (
            rrset.name
            for rrset in response.authority
            if rrset.rdtype == RdataType.NS and rrset.name != zone and _is_between(zone, rrset.name, name)
        ),
        None,
    )


def _is_between(zone: dns.name.Name, lower: dns.name.Name, name: dns.name.Name) -> bool:
    return lower.is_subdomain(zone) and name.is_subdomain(lower)


def as_dname_says(
    response: dns.message.Message, name: dns.name.Name, records: list[dns.rrset.RRset]
) -> list[dns.rrset.RRset]:
    """Put the alias that follows from a DNAME record in the place of the one that came with it (RFC 6672 section 3)."""
    for rrset in response.answer:
        if rrset.rdtype == RdataType.DNAME and name != rrset.name and name.is_subdomain(rrset.name):
            target = name.relativize(rrset.name) + rrset[0].target
            return [dns.rrset.from_text(name, rrset.ttl, "IN", "CNAME", target.to_text())]
    return records


def negative_ttl_s(response: dns.message.Message) -> int:
    """Say how long what has no records may be kept (RFC 2308 section 5)."""
    return next((int(rrset.ttl) for rrset in response.authority if rrset.rdtype == RdataType.SOA), 0)


def servers_of(response: dns.message.Message, zone: dns.name.Name) -> list[dns.name.Name]:
    """Give the name servers of a zone that a response has."""
    return [
        rdata.target
        for rrset in response.authority
        if rrset.rdtype == RdataType.NS and rrset.name == zone
        for rdata in rrset
    ]


def glue(response: dns.message.Message, zone: dns.name.Name) -> list[str]:
    """Give the addresses that a response has of a zone's name servers."""
    names = set(servers_of(response, zone))
    return [
        str(rdata)
        for rrset in response.additional
        if rrset.rdtype == RdataType.A and rrset.name in names
        for rdata in rrset
    ]


def is_usable(response: dns.message.Message, zone: dns.name.Name, name: dns.name.Name) -> bool:
    """Say whether a response answers, denies, or refers downwards."""
    if response.rcode() not in {dns.rcode.NOERROR, dns.rcode.NXDOMAIN}:
        return False
    return bool(response.flags & dns.flags.AA) or referral(response, zone, name) is not None


def every_other_capital(name: dns.name.Name) -> dns.name.Name:
    """Write every other letter of each label as a capital."""
    return dns.name.Name(
        [
            bytes(octet - 32 if place % 2 and 97 <= octet <= 122 else octet for place, octet in enumerate(label))
            for label in name.labels
        ]
    )
