"""A zone as the tree's server holds it: RRsets, zone cuts, and the chain of NSEC or NSEC3 records.

Zones may be broken: what is missing is left out of responses, nothing is checked.
"""

import bisect
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import dns.dnssec
import dns.name
import dns.rdataclass
import dns.rdataset
import dns.rrset
import dns.zone
from dns.rdatatype import RdataType

WILDCARD = dns.name.Name([b"*"])
Rdatasets = dict[tuple[RdataType, RdataType], dns.rdataset.Rdataset]
"""By type and covered type."""


@dataclass
class LoadedZone:
    """The zone `origin` with its records."""

    origin: dns.name.Name
    nodes: dict[dns.name.Name, Rdatasets]
    existing: set[dns.name.Name] = field(default_factory=set)
    """Names that exist, also empty non-terminals (RFC 8499 section 7)."""
    nsec_owners: list[dns.name.Name] = field(default_factory=list)
    """In canonical order."""
    nsec3_owners: list[dns.name.Name] = field(default_factory=list)
    nsec3: tuple[bytes, int] | None = None
    """Salt and iterations of the chain."""

    def __post_init__(self) -> None:
        for name, rdatasets in self.nodes.items():
            types = {rtype for rtype, _ in rdatasets}
            if RdataType.NSEC in types:
                self.nsec_owners.append(name)
            if RdataType.NSEC3 in types:
                self.nsec3_owners.append(name)
                first = rdatasets[RdataType.NSEC3, RdataType.NONE][0]
                self.nsec3 = (first.salt, first.iterations)
                continue
            if types <= {RdataType.RRSIG}:
                continue
            above = name
            while above.is_subdomain(self.origin):
                self.existing.add(above)
                if above == self.origin:
                    break
                above = above.parent()
        self.nsec_owners.sort()
        self.nsec3_owners.sort()

    @classmethod
    def read(cls, origin: str, path: Path) -> "LoadedZone":
        """Read a zone file."""
        zone = dns.zone.from_file(str(path), origin, relativize=False, check_origin=False)
        nodes = {name: {(one.rdtype, one.covers): one for one in node} for name, node in zone.nodes.items()}
        return cls(dns.name.from_text(origin), nodes)

    def rrset(
        self, name: dns.name.Name, rtype: RdataType, owner: dns.name.Name | None = None, *, signed: bool
    ) -> list[dns.rrset.RRset]:
        """Give an RRset, with its signatures if `signed`, under the name `owner` if it comes from a wildcard."""
        found = []
        for key in ((rtype, RdataType.NONE), (RdataType.RRSIG, rtype))[: 1 + signed]:
            rdataset = self.nodes.get(name, {}).get(key)
            if rdataset is not None:
                found.append(_under(owner or name, rdataset))
        return found

    def has(self, name: dns.name.Name, rtype: RdataType) -> bool:
        """Say whether a name has records of a type."""
        return (rtype, RdataType.NONE) in self.nodes.get(name, {})

    def cut_above(self, name: dns.name.Name) -> dns.name.Name | None:
        """Give the delegation at or above a name, the highest one."""
        return next((above for above in self._path(name) if self.has(above, RdataType.NS)), None)

    def dname_above(self, name: dns.name.Name) -> dns.name.Name | None:
        """Give the owner of a DNAME record above a name."""
        path = [self.origin, *self._path(name)]
        return next((above for above in path if above != name and self.has(above, RdataType.DNAME)), None)

    def _path(self, name: dns.name.Name) -> Iterable[dns.name.Name]:
        """Give the names from below the apex down to `name`."""
        names = []
        for _ in range(len(name.labels) - len(self.origin.labels)):
            names.append(name)
            name = name.parent()
        return reversed(names)

    def closest_encloser(self, name: dns.name.Name) -> dns.name.Name:
        """Give the longest name that exists at or above `name`."""
        while name not in self.existing and name != self.origin:
            name = name.parent()
        return name

    def proof_of_absence(self, name: dns.name.Name, *, wildcard_too: bool = True) -> list[dns.rrset.RRset]:
        """Give the records that prove that a name does not exist, and no wildcard that it could come from."""
        encloser = self.closest_encloser(name)
        if self.nsec3 is None:
            wanted = [self._nsec_at_or_before(one) for one in (name, WILDCARD + encloser)[: 1 + wildcard_too]]
            return self._shown(wanted, RdataType.NSEC)
        next_closer = name.split(len(encloser.labels) + 1)[1]
        names = [self._nsec3_at_or_before(next_closer)]
        if wildcard_too:
            names = [self._nsec3_at_or_before(encloser), *names, self._nsec3_at_or_before(WILDCARD + encloser)]
        return self._shown(names, RdataType.NSEC3)

    def proof_of_no_type(self, name: dns.name.Name) -> list[dns.rrset.RRset]:
        """Give the records that prove that a name that exists has not a type; opt-out where it has no NSEC3 record."""
        if self.nsec3 is None:
            return self._shown([self._nsec_at_or_before(name)], RdataType.NSEC)
        owner = self._nsec3_at_or_before(name)
        if owner is not None and owner.labels[0].lower() == self._hash(name).lower():
            return self._shown([owner], RdataType.NSEC3)
        provable = name.parent()
        while provable != self.origin and self._hash(provable) not in {
            one.labels[0].lower() for one in self.nsec3_owners
        }:
            name, provable = provable, provable.parent()
        return self._shown([self._nsec3_at_or_before(provable), self._nsec3_at_or_before(name)], RdataType.NSEC3)

    def _shown(self, owners: Iterable[dns.name.Name | None], rtype: RdataType) -> list[dns.rrset.RRset]:
        different = dict.fromkeys(owner for owner in owners if owner is not None)
        return [rrset for owner in different for rrset in self.rrset(owner, rtype, signed=True)]

    def _nsec_at_or_before(self, name: dns.name.Name) -> dns.name.Name | None:
        return _at_or_before(self.nsec_owners, name)

    def _nsec3_at_or_before(self, name: dns.name.Name) -> dns.name.Name | None:
        return _at_or_before(self.nsec3_owners, dns.name.Name([self._hash(name), *self.origin.labels]))

    def _hash(self, name: dns.name.Name) -> bytes:
        salt, iterations = self.nsec3 or (b"", 0)
        return _nsec3_hash(name.canonicalize(), salt, iterations)


def _under(owner: dns.name.Name, rdataset: dns.rdataset.Rdataset) -> dns.rrset.RRset:
    """Give the records under a name; they are not hashed anew, which would take most of the time of an answer."""
    made = dns.rrset.RRset(owner, rdataset.rdclass, rdataset.rdtype, rdataset.covers)
    made.ttl = rdataset.ttl
    made.items = dict(rdataset.items)
    return made


@lru_cache(maxsize=10_000)
def _nsec3_hash(name: dns.name.Name, salt: bytes, iterations: int) -> bytes:
    return dns.dnssec.nsec3_hash(name, salt, iterations, 1).lower().encode()


def _at_or_before(owners: list[dns.name.Name], name: dns.name.Name) -> dns.name.Name | None:
    """Give the last owner that is not after `name`, around the end of the chain."""
    return owners[bisect.bisect_right(owners, name) - 1] if owners else None
