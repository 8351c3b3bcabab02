"""Judge a negative, wildcard or referral answer by its NSEC or NSEC3 proof, strictly by the RFCs.

Signatures are checked apart from this; here it matters which names and types the records deny. The checker
knows nothing of the server: it takes the message, and the zone's name.

Sources: RFC 4035 section 5.4 (NSEC), RFC 5155 section 8 (NSEC3), RFC 4592 (wildcards and empty
non-terminals).
"""

from dataclasses import dataclass

import dns.dnssec
import dns.message
import dns.name
import dns.rdataclass
import dns.rdatatype
import dns.rrset
from dns.rdtypes.ANY.NSEC import NSEC
from dns.rdtypes.ANY.NSEC3 import NSEC3

B32HEX = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", "0123456789ABCDEFGHIJKLMNOPQRSTUV")


class ProofError(AssertionError):
    """The answer does not prove what it says."""


def _covers(owner, following, candidate) -> bool:
    """Say whether candidate lies strictly between two neighbours of a circular order."""
    if owner < following:
        return owner < candidate < following
    return candidate > owner or candidate < following


def _types(record: NSEC | NSEC3) -> set[int]:
    return {
        256 * window + 8 * index + bit
        for window, bitmap in record.windows
        for index, byte in enumerate(bitmap)
        for bit in range(8)
        if byte & (0x80 >> bit)
    }


def closest_encloser_candidates(name: dns.name.Name, apex: dns.name.Name) -> list[dns.name.Name]:
    """List the ancestors of `name` from its parent up to the apex."""
    return [dns.name.Name(name[skip:]) for skip in range(1, len(name) - len(apex) + 1)]


def next_closer(name: dns.name.Name, encloser: dns.name.Name) -> dns.name.Name:
    return dns.name.Name(name[len(name) - len(encloser) - 1 :])


@dataclass
class NsecProof:
    """The NSEC records of an authority section."""

    apex: dns.name.Name
    records: list[tuple[dns.name.Name, NSEC]]

    def matches(self, name: dns.name.Name) -> set[int] | None:
        """Give the types at a name that has an NSEC record; None if none is in the answer."""
        return next((_types(record) for owner, record in self.records if owner == name), None)

    def denies(self, name: dns.name.Name) -> bool:
        """Say whether a record covers the name, and is not that of a delegation or DNAME above it."""
        for owner, record in self.records:
            types = _types(record)
            delegation = dns.rdatatype.NS in types and dns.rdatatype.SOA not in types
            if name.is_subdomain(owner) and (delegation or dns.rdatatype.DNAME in types):
                continue
            if _covers(owner, record.next, name):
                return True
        return False

    def is_empty_non_terminal(self, name: dns.name.Name) -> bool:
        """Say whether a record covers the name and points below it (RFC 4592 section 2.2.2)."""
        return any(
            _covers(owner, record.next, name) and record.next.is_subdomain(name) for owner, record in self.records
        )

    def closest_encloser(self, name: dns.name.Name) -> dns.name.Name:
        """Find the closest encloser of a denied name: the longest ancestor that a record shows to exist."""
        ancestors = closest_encloser_candidates(name, self.apex)
        for ancestor in ancestors:
            for owner, record in self.records:
                if owner.is_subdomain(ancestor) or record.next.is_subdomain(ancestor):
                    return ancestor
        raise ProofError(f"no NSEC record shows an ancestor of {name}")

    def prove_no_name(self, name: dns.name.Name) -> None:
        if not self.denies(name) or self.is_empty_non_terminal(name):
            raise ProofError(f"no NSEC record denies {name}")
        self._deny_wildcard(self.closest_encloser(name))

    def _deny_wildcard(self, encloser: dns.name.Name) -> None:
        wildcard = dns.name.from_text("*", encloser)
        if not self.denies(wildcard):
            raise ProofError(f"no NSEC record denies {wildcard}")

    def prove_no_data(self, name: dns.name.Name, rdtype: int) -> None:
        types = self.matches(name)
        if types is None and self.is_empty_non_terminal(name):
            return
        if types is None and self.denies(name):
            types = self.matches(dns.name.from_text("*", self.closest_encloser(name)))
        _require_absent(types, name, rdtype)

    def prove_expansion(self, name: dns.name.Name, encloser: dns.name.Name) -> None:
        if not self.denies(name):
            raise ProofError(f"no NSEC record denies {name} beside the expanded wildcard")

    def prove_insecure(self, delegation: dns.name.Name) -> None:
        _require_insecure(self.matches(delegation), delegation)


@dataclass
class Nsec3Proof:
    """The NSEC3 records of an authority section, with one set of parameters (RFC 5155 section 8.2)."""

    apex: dns.name.Name
    records: list[tuple[str, NSEC3]]
    """Hash of the owner, upper-case base32hex, and record."""

    def __post_init__(self) -> None:
        parameters = {(record.algorithm, record.iterations, record.salt) for _, record in self.records}
        if len(parameters) != 1:
            raise ProofError(f"NSEC3 records with {len(parameters)} sets of parameters")
        ((self.algorithm, self.iterations, self.salt),) = parameters

    def hash(self, name: dns.name.Name) -> str:
        return dns.dnssec.nsec3_hash(name, self.salt, self.iterations, self.algorithm)

    def matches(self, name: dns.name.Name) -> set[int] | None:
        wanted = self.hash(name)
        return next((_types(record) for owner, record in self.records if owner == wanted), None)

    def cover(self, name: dns.name.Name) -> NSEC3 | None:
        wanted = self.hash(name)
        for owner, record in self.records:
            if _covers(owner, _next_hash(record), wanted):
                return record
        return None

    def closest_encloser(self, name: dns.name.Name) -> dns.name.Name:
        """Prove the closest encloser (RFC 5155 section 8.3)."""
        for ancestor in closest_encloser_candidates(name, self.apex):
            types = self.matches(ancestor)
            if types is None:
                continue
            if dns.rdatatype.DNAME in types or (dns.rdatatype.NS in types and dns.rdatatype.SOA not in types):
                raise ProofError(f"{ancestor} is a delegation or DNAME, no closest encloser")
            if self.cover(next_closer(name, ancestor)) is None:
                raise ProofError(f"the next closer name of {name} below {ancestor} is not covered")
            return ancestor
        raise ProofError(f"no NSEC3 record matches an ancestor of {name}")

    def prove_no_name(self, name: dns.name.Name) -> None:
        if self.matches(name) is not None:
            raise ProofError(f"an NSEC3 record matches {name}")
        wildcard = dns.name.from_text("*", self.closest_encloser(name))
        if self.cover(wildcard) is None:
            raise ProofError(f"no NSEC3 record covers {wildcard}")

    def prove_no_data(self, name: dns.name.Name, rdtype: int) -> None:
        types = self.matches(name)
        if types is None:
            encloser = self.closest_encloser(name)
            types = self.matches(dns.name.from_text("*", encloser))
            if types is None and rdtype == dns.rdatatype.DS and self._opted_out(name, encloser):
                return
        _require_absent(types, name, rdtype)

    def prove_expansion(self, name: dns.name.Name, encloser: dns.name.Name) -> None:
        if self.cover(next_closer(name, encloser)) is None:
            raise ProofError(f"the next closer name of {name} below {encloser} is not covered")

    def prove_insecure(self, delegation: dns.name.Name) -> None:
        types = self.matches(delegation)
        if types is None and self._opted_out(delegation, self.closest_encloser(delegation)):
            return
        _require_insecure(types, delegation)

    def _opted_out(self, name: dns.name.Name, encloser: dns.name.Name) -> bool:
        record = self.cover(next_closer(name, encloser))
        return record is not None and bool(record.flags & 1)


def _next_hash(record: NSEC3) -> str:
    import base64

    return base64.b32encode(record.next).decode().translate(B32HEX)


def _require_absent(types: set[int] | None, name: dns.name.Name, rdtype: int) -> None:
    if types is None:
        raise ProofError(f"no record proves that {name} exists without the type")
    if rdtype in types or dns.rdatatype.CNAME in types:
        raise ProofError(f"the proof says that {name} has the type, or a CNAME")
    if rdtype != dns.rdatatype.DS and dns.rdatatype.NS in types and dns.rdatatype.SOA not in types:
        raise ProofError(f"the proof for {name} comes from the parent of a delegation")


def _require_insecure(types: set[int] | None, delegation: dns.name.Name) -> None:
    if types is None:
        raise ProofError(f"no record matches the delegation {delegation}")
    if dns.rdatatype.NS not in types or dns.rdatatype.DS in types or dns.rdatatype.SOA in types:
        raise ProofError(f"the record at {delegation} is not that of an insecure delegation")


def proof_in(message: dns.message.Message, apex: dns.name.Name) -> NsecProof | Nsec3Proof:
    """Take the proof out of a message's authority section, which must not mix NSEC and NSEC3."""
    nsec, nsec3 = [], []
    for rrset in message.authority:
        for record in rrset:
            if isinstance(record, NSEC):
                nsec.append((rrset.name, record))
            elif isinstance(record, NSEC3):
                nsec3.append((rrset.name[0].decode().upper(), record))
    if nsec and nsec3:
        raise ProofError("NSEC and NSEC3 in one answer")
    if not nsec and not nsec3:
        raise ProofError("no NSEC and no NSEC3 record")
    return NsecProof(apex, nsec) if nsec else Nsec3Proof(apex, nsec3)
