"""What the items about the chain of denial share: the NSEC and NSEC3 records of the sample."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import dns.message
import dns.name
import dns.rrset
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.NSEC import NSEC
from dns.rdtypes.ANY.NSEC3 import NSEC3
from dns.rdtypes.ANY.NSEC3PARAM import NSEC3PARAM
from dns.rdtypes.ANY.RRSIG import RRSIG

from dnsrig.items.authoritative._answers import expanded_name, sample
from dnsrig.verification.denial import Types, hash_of_owner, nsec3_hash, types_of
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject

MADE_LABEL = b"\x00"
"""Begins the Next Domain Name of NSEC records that are made on the fly (RFC 4470 section 3, RFC 9824 section 3)."""


@dataclass(frozen=True, slots=True)
class Link:
    """A record of the chain, and the response that it was in."""

    owner: dns.name.Name
    record: NSEC | NSEC3
    ttl_s: int
    exchange: Exchange

    @property
    def title(self) -> str:
        """Owner name and type."""
        return f"{self.owner} {'NSEC' if isinstance(self.record, NSEC) else 'NSEC3'}"


def links(subject: AuthoritativeSubject) -> list[Link]:
    """List the NSEC and NSEC3 records of the sample."""
    return subject.once(
        "links", lambda: [link for exchange in sample(subject) for link in links_in(exchange, subject.origin)]
    )


def links_in(exchange: Exchange, origin: dns.name.Name) -> list[Link]:
    """List the NSEC and NSEC3 records of a response, whose owner names are within the zone.

    Those that a zone below has signed are left out: the server may have that too, and answer from it.
    """
    message = exchange.message
    found = []
    # Only an answer to a query for NSEC has such records in its answer section.
    for rrset in [] if message is None else (*message.answer, *message.authority):
        if rrset.name.is_subdomain(origin) and not _is_of_child(message, rrset, origin):
            found += [Link(rrset.name, one, rrset.ttl, exchange) for one in rrset if isinstance(one, NSEC | NSEC3)]
    return found


def _is_of_child(message: dns.message.Message | None, rrset: dns.rrset.RRset, origin: dns.name.Name) -> bool:
    sections = () if message is None else (*message.answer, *message.authority)
    signers = {
        one.signer
        for signatures in sections
        if signatures.name == rrset.name and signatures.covers == rrset.rdtype
        for one in signatures
        if isinstance(one, RRSIG)
    }
    return bool(signers) and all(signer != origin and signer.is_subdomain(origin) for signer in signers)


def nsec3_links(subject: AuthoritativeSubject) -> list[tuple[Link, NSEC3]]:
    """List the NSEC3 records of the sample."""
    return [(link, link.record) for link in links(subject) if isinstance(link.record, NSEC3)]


def types_at(found: Iterable[Link], name: dns.name.Name) -> tuple[Types, Link] | None:
    """Find the record of a name and give its types; records made on the fly tell nothing of other types."""
    for link in found:
        record = link.record
        if isinstance(record, NSEC):
            matches = link.owner == name and not is_made(record)
        else:
            matches = record.algorithm == 1 and hash_of_owner(link.owner) == nsec3_hash(
                name, record.salt, record.iterations
            )
        if matches:
            return types_of(record), link
    return None


def links_by_name(found: Iterable[Link]) -> Callable[[dns.name.Name], Link | None]:
    """Make a function that finds the record of a name as `types_at` does, for many names."""
    named: dict[dns.name.Name, Link] = {}
    hashed: dict[tuple[int, bytes], dict[bytes, Link]] = {}
    for link in found:
        record = link.record
        if isinstance(record, NSEC):
            if not is_made(record):
                named.setdefault(link.owner, link)
        elif record.algorithm == 1:
            owner = hash_of_owner(link.owner)
            if owner is not None:
                hashed.setdefault((record.iterations, record.salt), {}).setdefault(owner, link)

    def link_of(name: dns.name.Name) -> Link | None:
        matching = (chain.get(nsec3_hash(name, salt, iterations)) for (iterations, salt), chain in hashed.items())
        return named.get(name) or next((link for link in matching if link is not None), None)

    return link_of


def is_made(record: NSEC) -> bool:
    """Say whether a record looks as if it was made for the one query."""
    return bool(record.next.labels) and record.next.labels[0].startswith(MADE_LABEL)


def known_names(subject: AuthoritativeSubject) -> list[dns.name.Name]:
    """List names whose records the sample asks for, by queries for types that they have not."""
    marks = subject.landmarks
    names = [subject.origin]
    if marks.host is not None:
        names.append(marks.host.name)
    if marks.wildcard is not None and expanded_name(subject) is not None:
        names.append(marks.wildcard.name)
    return names


def parameters_of(exchange: Exchange, origin: dns.name.Name) -> list[NSEC3PARAM]:
    """List the NSEC3PARAM records in an answer."""
    answer = [] if exchange.message is None else exchange.message.answer
    rrsets = [rrset for rrset in answer if rrset.name == origin and rrset.rdtype == RdataType.NSEC3PARAM]
    return [record for rrset in rrsets for record in rrset if isinstance(record, NSEC3PARAM)]


def salt_text(salt: bytes) -> str:
    """Give a salt as zone files have it."""
    return salt.hex() or "-"
