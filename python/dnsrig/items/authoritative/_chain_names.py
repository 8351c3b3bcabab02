"""What the items about the whole chain share: the names that are to have its records, and it as transferred."""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

import dns.name
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.NSEC import NSEC
from dns.rdtypes.ANY.NSEC3 import NSEC3
from dns.rdtypes.ANY.NSEC3PARAM import NSEC3PARAM

from dnsrig.items.authoritative._contents import Contents
from dnsrig.verification.denial import OPT_OUT, SHA1_DIGEST, ancestors, hash_of_owner, is_between
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject

MOST_NAMES = 50_000
"""Of a zone with more, names and chain are not compared: it would take many seconds."""
MOST_ITERATIONS = 500
"""Beyond, hashing the names takes long; A-nsec3-iterations is about that."""


@dataclass(frozen=True, slots=True)
class ChainNames:
    """The names of a zone by what the chain has to have of them."""

    signed: frozenset[dns.name.Name]
    """With authoritative data, or a secure delegation: each has an NSEC or NSEC3 record."""
    insecure: frozenset[dns.name.Name]
    """Insecure delegations: an NSEC record, and an NSEC3 record unless opt-out covers them."""
    empty: frozenset[dns.name.Name]
    """Empty non-terminals above signed names: no NSEC record, an NSEC3 record."""
    empty_insecure: frozenset[dns.name.Name]
    """Those above insecure delegations only: opt-out may cover them too."""


def chain_names(known: Contents) -> ChainNames:
    """Sort the names of a zone that is known as a whole (RFC 4035 section 2.3, RFC 5155 section 7.1)."""
    signed = {known.origin}
    insecure: set[dns.name.Name] = set()
    for name in {name for name, _ in known.rrsets}:
        cut = known.delegated(name)
        if cut is None and known.redirected(name) is None:
            signed.add(name)
        elif cut == name:
            (insecure if known.get(name, RdataType.DS) is None else signed).add(name)
    there = signed | insecure
    empty = _above(signed, known.origin) - there
    return ChainNames(
        frozenset(signed),
        frozenset(insecure),
        frozenset(empty),
        frozenset(_above(insecure, known.origin) - there - empty),
    )


def _above(names: Iterable[dns.name.Name], origin: dns.name.Name) -> set[dns.name.Name]:
    return {above for name in names for above in ancestors(name, origin)}


@dataclass(frozen=True, slots=True)
class HashedChain:
    """The NSEC3 records of a transfer that have one set of parameters."""

    salt: bytes
    iterations: int
    records: dict[bytes, NSEC3]
    """By the hashes of their owner names."""

    owners: tuple[bytes, ...]
    """The same hashes in their order."""

    def opts_out(self, hashed: bytes) -> bool:
        """Say whether the record before a hash has the Opt-Out flag and covers it."""
        if not self.owners:
            return False
        # Before the first one, the last one goes round.
        owner = self.owners[bisect_right(self.owners, hashed) - 1]
        record = self.records[owner]
        return bool(record.flags & OPT_OUT) and is_between(owner, record.next, hashed)


def nsec_of_transfer(subject: AuthoritativeSubject) -> dict[dns.name.Name, NSEC]:
    """Give the NSEC records of the transfer by their owner names."""
    return {rrset.name: record for rrset in subject.transfer.rrsets for record in rrset if isinstance(record, NSEC)}


def hashed_chains(subject: AuthoritativeSubject, known: Contents) -> list[HashedChain]:
    """Give the chains of NSEC3 records of the transfer that NSEC3PARAM records name, with what there is of them."""
    found: dict[tuple[int, bytes], dict[bytes, NSEC3]] = {}
    params = known.get(known.origin, RdataType.NSEC3PARAM)
    for one in () if params is None else params.records:
        is_usable = isinstance(one, NSEC3PARAM) and one.algorithm == SHA1_DIGEST and not one.flags
        if isinstance(one, NSEC3PARAM) and is_usable and one.iterations <= MOST_ITERATIONS:
            found[one.iterations, one.salt] = {}
    for rrset in subject.transfer.rrsets:
        for record in rrset:
            if isinstance(record, NSEC3) and (record.iterations, record.salt) in found:
                owner = hash_of_owner(rrset.name)
                if owner is not None and record.algorithm == SHA1_DIGEST:
                    found[record.iterations, record.salt][owner] = record
    return [
        HashedChain(salt, iterations, records, tuple(sorted(records))) for (iterations, salt), records in found.items()
    ]
