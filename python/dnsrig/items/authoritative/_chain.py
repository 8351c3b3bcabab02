"""What the items about the chain of denial share: the NSEC and NSEC3 records of the sample."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import dns.message
import dns.name
import dns.rrset
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.NSEC import NSEC
from dns.rdtypes.ANY.NSEC3 import NSEC3
from dns.rdtypes.ANY.NSEC3PARAM import NSEC3PARAM
from dns.rdtypes.ANY.RRSIG import RRSIG

from dnsrig.items.authoritative._answers import child_of, expanded_name, sample
from dnsrig.verification.denial import Types, beyond, hash_of_owner, nsec3_hash, types_of
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject

MADE_LABEL = b"\x00"
"""Begins the Next Domain Name of NSEC records that are made on the fly (RFC 4470 section 3, RFC 9824 section 3)."""

WHOLE = "the chain was seen whole"
LEAST_SHARE = 0.0001
CANDIDATES = 5000
"""Names that are hashed, to find some whose hashes lie where they are wanted; a tenth where hashing takes long."""


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


def links_beside(
    subject: AuthoritativeSubject, names: Sequence[dns.name.Name], hashed: Sequence[dns.name.Name]
) -> Iterator[Link]:
    """Ask so that the records of names would be in the denials, if they have any.

    Of `names` these are NSEC records, of `hashed` NSEC3 records with the first parameters that the sample shows.
    """
    parameters = {(one.record.salt, one.record.iterations) for one in links(subject) if isinstance(one.record, NSEC3)}
    asked = [] if parameters else [following for name in names if (following := beyond(name)) is not None]
    if parameters and hashed:
        salt, iterations = min(parameters)
        absent = subject.once("hashes of absent names", lambda: _absent_by_hash(subject, salt, iterations))
        in_order = sorted(absent)
        for name in hashed:
            # The record that covers the next hash is that of the name, if it has one and nothing lies between.
            place = bisect_right(in_order, nsec3_hash(name, salt, iterations))
            asked.append(child_of(subject.origin, absent[in_order[place % len(in_order)]]))
    for name in asked:
        yield from links_in(subject.answers.get(name, RdataType.A), subject.origin)


def _absent_by_hash(subject: AuthoritativeSubject, salt: bytes, iterations: int) -> dict[bytes, bytes]:
    """Give labels below the apex that the zone has not by the hashes of their names."""
    count = CANDIDATES if iterations < CANDIDATES // 10 else CANDIDATES // 10
    labels = [f"{subject.denied_label.decode()}-{number}".encode() for number in range(count)]
    return {nsec3_hash(child_of(subject.origin, label), salt, iterations): label for label in labels}


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


def extent(found: Iterable[Link]) -> str:
    """Say how much of the chain the records are, as a clause for a pass that is not to be read as more than it is."""
    every = list(found)
    nexts = {
        link.owner: link.record.next for link in every if isinstance(link.record, NSEC) and not is_made(link.record)
    }
    chains: dict[tuple[int, bytes], dict[bytes, bytes]] = {}
    for link in every:
        if isinstance(link.record, NSEC3) and (owner := hash_of_owner(link.owner)) is not None:
            chains.setdefault((link.record.iterations, link.record.salt), {})[owner] = link.record.next
    if nexts:
        unseen = len({name for name in nexts.values() if name not in nexts})
        return f"the chain goes on after {unseen} of them, with records that were not seen" if unseen else WHOLE
    if not chains:
        return "they are made on the fly"
    # A record from another chain than the others does not make up for what these lack.
    share, is_whole = min((sum(map(_span, chain.items())), _is_round(chain)) for chain in chains.values())
    if is_whole:
        return WHOLE
    percent = f"{min(share * 100, 99.9):.3g}" if share > LEAST_SHARE else f"less than {LEAST_SHARE * 100:.2g}"
    return f"they span {percent} % of the chain, and of the rest nothing is known"


def _is_round(chain: Mapping[bytes, bytes]) -> bool:
    return all(following in chain for following in chain.values())


def _span(record: tuple[bytes, bytes]) -> float:
    """Give the share of all hashes that lie from one to the next; all where both are the same."""
    first, following = (int.from_bytes(one) for one in record)
    every = 1 << (8 * len(record[0]))
    return ((following - first - 1) % every + 1) / every


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
