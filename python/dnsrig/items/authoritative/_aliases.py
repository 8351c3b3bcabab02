"""Denials behind aliases: what a server says where an alias leads to a name of the zone that lacks the type."""

from collections.abc import Iterator
from dataclasses import dataclass

import dns.name
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.verification.exchange import Exchange
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of

TYPES = (RdataType.AAAA, RdataType.MX)
"""What is asked for often at names that lack it."""
MOST_ALIASES = 3
LONGEST_CHAIN = 8


@dataclass(frozen=True, slots=True)
class DenialBehindAlias:
    """A response to a query for a type that the name at the end of an alias has not."""

    end: dns.name.Name
    """Where the alias leads to."""
    rtype: RdataType
    exchange: Exchange


def known_aliases(subject: AuthoritativeSubject) -> list[dns.name.Name]:
    """Give some aliases of the zone."""
    marks = subject.landmarks
    known = [place.name for place in subject.known_data.places if place.rtype == RdataType.CNAME]
    aliases = dict.fromkeys([*([] if marks.alias is None else [marks.alias]), *known])
    return [name for name in aliases if not name.is_wild()][:MOST_ALIASES]


def denials_behind_aliases(subject: AuthoritativeSubject, *, do: bool) -> Iterator[DenialBehindAlias]:
    """Ask at some aliases for types that their ends lack, as the server itself says when asked for those.

    RFC 1034 section 4.3.2 has a server go on with the canonical name, so that its denial is that of the name.
    """
    for alias in known_aliases(subject):
        for rtype in TYPES:
            exchange = subject.answers.get(alias, rtype, do=do)
            end = end_of(exchange, alias)
            if end is None or not end.is_subdomain(subject.origin) or exchange.rcode != dns.rcode.NOERROR:
                continue
            direct = subject.answers.get(end, rtype, do=do)
            if _is_denied(subject, direct) and not exchange.is_truncated:
                yield DenialBehindAlias(end, rtype, exchange)


def _is_denied(subject: AuthoritativeSubject, exchange: Exchange) -> bool:
    """Whether a response says, in this zone's name, that there is not such a type."""
    is_empty = exchange.message is not None and not exchange.message.answer and exchange.rcode == dns.rcode.NOERROR
    return is_empty and rrset_of(exchange, "authority", subject.origin, RdataType.SOA) is not None


def end_of(exchange: Exchange, alias: dns.name.Name) -> dns.name.Name | None:
    """Follow the CNAME records of an answer; None if it has none, or goes on to data."""
    name = alias
    for _ in range(LONGEST_CHAIN):
        cname = rrset_of(exchange, "answer", name, RdataType.CNAME)
        if cname is None:
            break
        name = cname[0].target
    is_answered = rrset_of(exchange, "answer", name, exchange.query.rtype) is not None
    return None if name == alias or is_answered else name
