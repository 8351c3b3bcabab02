"""Judging denials of existence: whether NSEC or NSEC3 records prove what a response says.

Pure functions on records; their signatures are checked apart from this. Sources: RFC 4035 section 5.4 and RFC 6840
section 4 (NSEC), RFC 5155 section 8 (NSEC3), RFC 4592 (wildcards, empty non-terminals), RFC 9824 (compact denial).
"""

import base64
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol, TypeVar

import dns.dnssec
import dns.name
import dns.rrset
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.CSYNC import CSYNC
from dns.rdtypes.ANY.NSEC import NSEC
from dns.rdtypes.ANY.NSEC3 import NSEC3

NXNAME = 128
"""The type by which compact denial says that there is no such name (RFC 9824 section 2)."""
OPT_OUT = 1
LONGEST_LABEL = 63
SHA1_DIGEST = 1
TO_BASE32 = bytes.maketrans(b"0123456789ABCDEFGHIJKLMNOPQRSTUV", b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
Types = frozenset[int]
Place = TypeVar("Place", bytes, dns.name.Name)


@dataclass(frozen=True, slots=True)
class Proof:
    """What came of judging a denial."""

    problem: str = ""
    """Why the records do not prove it, as a clause; "" if they do."""
    opts_out: bool = False
    """The proof holds by the Opt-Out flag: an insecure delegation may exist where it denies a name."""
    is_compact: bool = False
    """A name that does not exist was denied as RFC 9824 does."""

    def __bool__(self) -> bool:
        return not self.problem


def has_opt_out(section: Iterable[dns.rrset.RRset]) -> bool:
    """Say whether a denial is of a span with opt-out, where what is missing is not secure (RFC 5155 section 9.2)."""
    return any(isinstance(one, NSEC3) and one.flags & OPT_OUT for rrset in section for one in rrset)


class DenialRecords(Protocol):
    """The NSEC or the NSEC3 records of a response."""

    @property
    def kind(self) -> str:
        """Give `NSEC` or `NSEC3`."""
        ...

    def types_at(self, name: dns.name.Name) -> Types | None:
        """Give the types of the record that matches a name; None if no record does."""
        ...

    def no_name(self, name: dns.name.Name) -> Proof:
        """Judge whether neither the name exists nor a wildcard that would expand to it."""
        ...

    def no_data(self, name: dns.name.Name, rtype: RdataType) -> Proof:
        """Judge whether the name exists, perhaps as an empty non-terminal, and has not the type."""
        ...

    def wildcard_answer(self, name: dns.name.Name, encloser: dns.name.Name) -> Proof:
        """Judge whether no name exists between a name and the `encloser` whose wildcard was expanded to it."""
        ...

    def wildcard_no_data(self, name: dns.name.Name, rtype: RdataType) -> Proof:
        """Judge whether the name does not exist and the wildcard that covers it has not the type."""
        ...

    def no_ds(self, delegation: dns.name.Name) -> Proof:
        """Judge whether a delegation is insecure."""
        ...


def types_of(record: NSEC | NSEC3 | CSYNC) -> Types:
    """Give the numbers of the types in a record's bitmap."""
    return frozenset(
        256 * window + 8 * place + bit
        for window, bitmap in record.windows
        for place, octet in enumerate(bitmap)
        for bit in range(8)
        if octet & (0x80 >> bit)
    )


def denial_records(section: Iterable[dns.rrset.RRset], origin: dns.name.Name) -> DenialRecords | None:
    """Take the NSEC or NSEC3 records out of an authority section; None if it has neither.

    Of a response with both the NSEC3 records are taken: validators may not mix them (RFC 5155 section 8.1 has
    no proof of both kinds), and zones change from one to the other by having NSEC alone until NSEC3 is complete.
    """
    nsec: list[tuple[dns.name.Name, NSEC]] = []
    nsec3: list[tuple[bytes, NSEC3]] = []
    for rrset in section:
        for record in rrset:
            if isinstance(record, NSEC) and rrset.name.is_subdomain(origin):
                nsec.append((rrset.name, record))
            elif isinstance(record, NSEC3) and len(rrset.name) == len(origin) + 1 and rrset.name.is_subdomain(origin):
                owner = hash_of_owner(rrset.name)
                if owner is not None:
                    nsec3.append((owner, record))
    if nsec3:
        return Nsec3Records(origin, nsec3)
    return NsecRecords(origin, nsec) if nsec else None


def hash_of_owner(owner: dns.name.Name) -> bytes | None:
    """Decode the first label of an NSEC3 record's owner name (RFC 5155 section 3); None if it is no base32hex."""
    label = owner.labels[0].upper().translate(TO_BASE32)
    try:
        return base64.b32decode(label + b"=" * (-len(label) % 8))
    except ValueError:
        return None


@lru_cache(maxsize=4096)
def nsec3_hash(name: dns.name.Name, salt: bytes, iterations: int) -> bytes:
    """Hash a name (RFC 5155 section 5)."""
    text = dns.dnssec.nsec3_hash(name, salt, iterations, SHA1_DIGEST).encode()
    return base64.b32decode(text.translate(TO_BASE32))


def is_between(owner: Place, following: Place, candidate: Place) -> bool:
    """Say whether a place lies strictly between two neighbours of a circular order."""
    if owner < following:
        return bool(owner < candidate < following)
    return candidate != owner and bool(candidate > owner or candidate < following)


def beyond(name: dns.name.Name) -> dns.name.Name | None:
    """Give the name that follows all below a name: with an octet more in its first label (RFC 4034 section 6.1).

    The record that covers it is the last one at or below the name. None if there is no room for it.
    """
    if len(name.labels[0]) == LONGEST_LABEL:
        return None
    try:
        return dns.name.Name((name.labels[0] + b"\x00", *name.labels[1:]))
    except dns.name.NameTooLong:
        return None


def ancestors(name: dns.name.Name, origin: dns.name.Name) -> list[dns.name.Name]:
    """List the ancestors of a name from its parent up to the apex."""
    return [dns.name.Name(name.labels[skip:]) for skip in range(1, len(name) - len(origin) + 1)]


def next_closer(name: dns.name.Name, encloser: dns.name.Name) -> dns.name.Name:
    """Give the name one label longer than the closest encloser (RFC 5155 section 1.3)."""
    return dns.name.Name(name.labels[len(name) - len(encloser) - 1 :])


def wildcard_of(encloser: dns.name.Name) -> dns.name.Name:
    """Give the source of synthesis below a closest encloser (RFC 4592 section 3.3.1)."""
    return dns.name.Name((b"*", *encloser.labels))


def _is_cut(types: Types) -> bool:
    return RdataType.NS in types and RdataType.SOA not in types


def _judge_absent(types: Types, name: dns.name.Name, rtype: RdataType) -> Proof:
    """Judge the bitmap at a name that is said not to have a type."""
    if rtype in types:
        return Proof(f"the record at {name} says that there is {rtype.name}")
    if RdataType.CNAME in types:
        return Proof(f"the record at {name} says that there is a CNAME record, which should have been answered")
    if rtype == RdataType.DS and RdataType.SOA in types and name != dns.name.root:
        return Proof(f"the record at {name} is from the child zone's apex, which has no say about DS")
    if rtype != RdataType.DS and _is_cut(types):
        return Proof(f"the record at {name} is from the parent side of a delegation, which has a say about DS only")
    return Proof()


def _judge_insecure(types: Types, delegation: dns.name.Name) -> Proof:
    if RdataType.DS in types:
        return Proof(f"the record at {delegation} says that there is DS")
    if RdataType.NS not in types:
        return Proof(f"the record at {delegation} does not say that there is a delegation (NS)")
    if RdataType.SOA in types:
        return Proof(f"the record at {delegation} is from the child zone's apex")
    return Proof()


@dataclass(frozen=True, slots=True)
class NsecRecords:
    """The NSEC records of an authority section."""

    origin: dns.name.Name
    records: Sequence[tuple[dns.name.Name, NSEC]]

    @property
    def kind(self) -> str:
        """Give `NSEC`."""
        return "NSEC"

    def types_at(self, name: dns.name.Name) -> Types | None:
        """See DenialRecords."""
        return next((types_of(record) for owner, record in self.records if owner == name), None)

    def covering(self, name: dns.name.Name) -> tuple[dns.name.Name, NSEC] | None:
        """Find a record that covers a name, and is not of a delegation or DNAME above it (RFC 6840 section 4.1)."""
        for owner, record in self.records:
            types = types_of(record)
            if name.is_subdomain(owner) and (_is_cut(types) or RdataType.DNAME in types):
                continue
            if is_between(owner, record.next, name):
                return owner, record
        return None

    def _denied(self, name: dns.name.Name) -> tuple[Proof, dns.name.Name]:
        """Judge whether a name does not exist; give its closest encloser too."""
        found = self.covering(name)
        if found is None:
            why = "matches it" if self.types_at(name) is not None else "covers it"
            problem = f"no NSEC record {why}" if why == "covers it" else "an NSEC record matches it"
            return Proof(f"{name}: {problem}"), self.origin
        owner, record = found
        if record.next.is_subdomain(name):
            return Proof(f"the NSEC record that covers {name} shows names below it, so it exists"), self.origin
        encloser = max((self._common(name, end) for end in (owner, record.next)), key=len)
        return Proof(), encloser

    def _common(self, name: dns.name.Name, other: dns.name.Name) -> dns.name.Name:
        return next((above for above in ancestors(name, self.origin) if other.is_subdomain(above)), self.origin)

    def no_name(self, name: dns.name.Name) -> Proof:
        """See DenialRecords."""
        types = self.types_at(name)
        if types is not None and NXNAME in types:
            return Proof(is_compact=True)
        proof, encloser = self._denied(name)
        if not proof:
            return proof
        wildcard = wildcard_of(encloser)
        if self.covering(wildcard) is None:
            return Proof(f"no NSEC record covers the wildcard {wildcard}")
        return Proof()

    def no_data(self, name: dns.name.Name, rtype: RdataType) -> Proof:
        """See DenialRecords."""
        types = self.types_at(name)
        if types is not None:
            return _judge_absent(types, name, rtype)
        found = self.covering(name)
        if found is not None and found[1].next.is_subdomain(name):
            return Proof()
        return Proof(f"no NSEC record matches {name}, nor shows it to be an empty non-terminal")

    def wildcard_answer(self, name: dns.name.Name, encloser: dns.name.Name) -> Proof:
        """See DenialRecords."""
        proof, closest = self._denied(name)
        if proof and len(closest) > len(encloser):
            return Proof(f"{closest} exists, so the wildcard {wildcard_of(encloser)} has no say about {name}")
        return proof

    def wildcard_no_data(self, name: dns.name.Name, rtype: RdataType) -> Proof:
        """See DenialRecords."""
        proof, encloser = self._denied(name)
        if not proof:
            return proof
        wildcard = wildcard_of(encloser)
        types = self.types_at(wildcard)
        if types is None:
            return Proof(f"no NSEC record matches the wildcard {wildcard}")
        return _judge_absent(types, wildcard, rtype)

    def no_ds(self, delegation: dns.name.Name) -> Proof:
        """See DenialRecords."""
        types = self.types_at(delegation)
        if types is None:
            return Proof(f"no NSEC record matches {delegation}")
        return _judge_insecure(types, delegation)


@dataclass(frozen=True, slots=True)
class Nsec3Records:
    """The NSEC3 records of an authority section, by the hash of their owner names."""

    origin: dns.name.Name
    records: Sequence[tuple[bytes, NSEC3]]

    @property
    def kind(self) -> str:
        """Give `NSEC3`."""
        return "NSEC3"

    @property
    def parameters(self) -> set[tuple[int, int, bytes]]:
        """Hash algorithm, iterations and salt of the records: one set, if they are right (RFC 5155 section 8.2)."""
        return {(record.algorithm, record.iterations, record.salt) for _, record in self.records}

    @property
    def _trouble(self) -> str:
        parameters = self.parameters
        if len(parameters) > 1:
            return f"the NSEC3 records have {len(parameters)} different sets of parameters"
        ((algorithm, _, _),) = parameters
        return "" if algorithm == SHA1_DIGEST else f"the NSEC3 records have the unknown hash algorithm {algorithm}"

    def hash(self, name: dns.name.Name) -> bytes:
        """Hash a name with the records' parameters."""
        ((_, iterations, salt),) = self.parameters
        return nsec3_hash(name, salt, iterations)

    def types_at(self, name: dns.name.Name) -> Types | None:
        """See DenialRecords."""
        if self._trouble:
            return None
        wanted = self.hash(name)
        return next((types_of(record) for owner, record in self.records if owner == wanted), None)

    def covering(self, name: dns.name.Name) -> NSEC3 | None:
        """Find a record that covers a name."""
        wanted = self.hash(name)
        found = (record for owner, record in self.records if is_between(owner, record.next, wanted))
        return next(found, None)

    def closest_encloser(self, name: dns.name.Name) -> tuple[Proof, dns.name.Name]:
        """Prove the closest encloser of a name that does not exist (RFC 5155 section 8.3)."""
        if self._trouble:
            return Proof(self._trouble), self.origin
        for encloser in ancestors(name, self.origin):
            types = self.types_at(encloser)
            if types is None:
                continue
            if RdataType.DNAME in types or _is_cut(types):
                return Proof(f"{encloser} has a delegation or DNAME, so it is no closest encloser"), self.origin
            closer = next_closer(name, encloser)
            record = self.covering(closer)
            if record is None:
                return Proof(f"no NSEC3 record covers {closer}, the next closer name"), self.origin
            return Proof(opts_out=bool(record.flags & OPT_OUT)), encloser
        return Proof(f"no NSEC3 record matches an ancestor of {name}: no closest encloser"), self.origin

    def no_name(self, name: dns.name.Name) -> Proof:
        """See DenialRecords."""
        if self.types_at(name) is not None:
            return Proof(f"an NSEC3 record matches {name}, so it exists")
        proof, encloser = self.closest_encloser(name)
        if not proof:
            return proof
        wildcard = wildcard_of(encloser)
        if self.covering(wildcard) is None:
            return Proof(f"no NSEC3 record covers the wildcard {wildcard}")
        return proof

    def no_data(self, name: dns.name.Name, rtype: RdataType) -> Proof:
        """See DenialRecords."""
        if self._trouble:
            return Proof(self._trouble)
        types = self.types_at(name)
        if types is not None:
            return _judge_absent(types, name, rtype)
        # With opt-out, empty non-terminals that lead to insecure delegations only may be left out (RFC 5155 7.1),
        # and so may the delegations themselves.
        proof, _ = self.closest_encloser(name)
        if proof.opts_out:
            return proof
        return Proof(f"no NSEC3 record matches {name}")

    def wildcard_answer(self, name: dns.name.Name, encloser: dns.name.Name) -> Proof:
        """See DenialRecords."""
        if self._trouble:
            return Proof(self._trouble)
        closer = next_closer(name, encloser)
        if self.covering(closer) is None:
            return Proof(f"no NSEC3 record covers {closer}, the next closer name")
        return Proof()

    def wildcard_no_data(self, name: dns.name.Name, rtype: RdataType) -> Proof:
        """See DenialRecords."""
        proof, encloser = self.closest_encloser(name)
        if not proof:
            return proof
        wildcard = wildcard_of(encloser)
        types = self.types_at(wildcard)
        if types is None:
            return Proof(f"no NSEC3 record matches the wildcard {wildcard}")
        return _judge_absent(types, wildcard, rtype)

    def no_ds(self, delegation: dns.name.Name) -> Proof:
        """See DenialRecords."""
        if self._trouble:
            return Proof(self._trouble)
        types = self.types_at(delegation)
        if types is not None:
            return _judge_insecure(types, delegation)
        proof, _ = self.closest_encloser(delegation)
        if not proof:
            return proof
        if not proof.opts_out:
            return Proof(f"the NSEC3 record that covers {delegation} is without the Opt-Out flag")
        return proof
