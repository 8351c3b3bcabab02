"""Places in a zone that items ask for: a host, a delegation, a wildcard, a name that is not there."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from random import Random

import dns.name
import dns.rdata
import dns.rdatatype
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.NSEC import NSEC
from dns.rdtypes.ANY.NSEC3 import NSEC3
from dns.rdtypes.ANY.SOA import SOA

from dnsrig.verification.denial import SHA1_DIGEST, Types, hash_of_owner, nsec3_hash, types_of
from dnsrig.verification.doubts import Doubts

HOST_TYPES = (RdataType.A, RdataType.AAAA, RdataType.TXT, RdataType.MX, RdataType.SRV, RdataType.CAA)
"""Types of which one is asked where any existing RRset will do, the first that there is."""
PROOF_TYPES = {RdataType.RRSIG, RdataType.NSEC, RdataType.NSEC3}
"""Types that come with others' answers; asked for alone, servers differ in what they give (RFC 8482 section 7)."""
UNUSED_TYPE = RdataType.make(65_280)
"""Of the range for private use (RFC 6895 section 3.1): no zone has it unless for tests."""


SEED = 1
"""By which is drawn what of a large zone is looked at, unless the user gives another."""


@dataclass(frozen=True, slots=True)
class Place:
    """An RRset that is there."""

    name: dns.name.Name
    rtype: RdataType
    octets: int = 0
    """Of its data, without owner names and signatures."""
    data: frozenset[dns.rdata.Rdata] = frozenset()
    """Its records, where they are known; only those of `Landmarks.places` and `glue_places` have them."""


@dataclass(slots=True)
class Landmarks:
    """What is known of a zone. A name or place that is None was not found; the zone may have it all the same."""

    origin: dns.name.Name
    host: Place | None = None
    """An RRset that is neither at the apex nor of a wildcard nor below a delegation."""
    alias: dns.name.Name | None = None
    """Has a CNAME record."""
    dname: dns.name.Name | None = None
    wildcard: Place | None = None
    """Its name begins with an asterisk."""
    empty: dns.name.Name | None = None
    """An empty non-terminal."""
    empties: list[dns.name.Name] = field(default_factory=list)
    """Empty non-terminals above data or a secure delegation, some of them: opt-out leaves none of these out."""
    delegation: dns.name.Name | None = None
    """Without DS records."""
    secure_delegation: dns.name.Name | None = None
    glue: dns.name.Name | None = None
    """A name below a delegation that has an address."""
    large: list[Place] = field(default_factory=list)
    """RRsets with much data, the largest first."""
    places: list[Place] = field(default_factory=list)
    """RRsets that are there, with their data: all of a small zone, a random choice of a large one; DS at delegations,
    whether it is there or not, but no NSEC, NSEC3 and RRSIG records and nothing below a delegation or DNAME. First
    comes DS at `told_cuts` and `doubtful_cuts`, then what is at the names of `doubts`."""
    places_in_all: int = 0
    """So many such RRsets there are."""
    cuts: frozenset[dns.name.Name] = frozenset()
    """Every delegation that is known."""
    told_cuts: tuple[dns.name.Name, ...] = ()
    """Delegations that the user names: they are looked at in any case."""
    doubtful_cuts: tuple[dns.name.Name, ...] = ()
    """Delegations, some of them, whose NSEC or NSEC3 record lists other types in the zone's data than are there."""
    doubts: Doubts = field(default_factory=Doubts)
    """What is doubtful in the zone's data, where these were looked at as a whole."""
    glue_places: list[Place] = field(default_factory=list)
    """Addresses below the delegation of `glue`."""
    delegations: list[Place] = field(default_factory=list)
    """NS RRsets of delegations, some of them."""
    nsec3_parameters: frozenset[tuple[int, int, bytes]] = frozenset()
    """Hash algorithm, iterations and salt of the NSEC3 records in the zone's data."""
    occluded: list[Place] = field(default_factory=list)
    """RRsets that cannot be asked for, some of them: below a DNAME record, or at or below a delegation and neither its
    own nor addresses; in the order of their names."""
    serial: int | None = None
    """Of the SOA record that was found."""
    is_whole: bool = False
    """Whether the landmarks were taken from the zone's data, not found by asking."""
    seed: int = SEED
    """By which items draw, too, what they look at: the same of the same zone each time."""
    is_filled: bool = False
    """Whether they were found by asking, and what that did not find was looked for in the zone's data."""

    def filled_from(self, other: "Landmarks") -> None:
        """Take over from another look at the same zone what is not known here; what is known stays."""
        for mark in ("host", "alias", "dname", "wildcard", "empty", "delegation", "secure_delegation", "serial"):
            if getattr(self, mark) is None:
                setattr(self, mark, getattr(other, mark))
        if self.glue is None:
            self.glue, self.glue_places = other.glue, other.glue_places
        self.cuts |= other.cuts
        self.empties = self.empties or other.empties
        self.is_filled = self.is_filled or other.is_whole
        both = {(place.name, place.rtype): place for place in (*other.large, *self.large)}
        self.large = sorted(both.values(), key=lambda place: -place.octets)[:LARGE_KEPT]

    def larger_than(self, octets: int) -> Place | None:
        """Give the smallest known RRset whose data alone exceed so many octets."""
        found = [place for place in self.large if place.octets > octets]
        return found[-1] if found else None


LARGE_KEPT = 50
OCCLUDED_KEPT = 50
DELEGATIONS_KEPT = 50
EMPTIES_KEPT = 50
AT_CUT = {RdataType.NS, RdataType.DS, RdataType.A, RdataType.AAAA, *PROOF_TYPES}
BELOW_CUT = AT_CUT - {RdataType.NS, RdataType.DS}
"""Types that are left to items on proofs, or may be at and below delegations: addresses of servers."""
PLACES_KEPT = 500
DOUBTFUL_KEPT = 50
LONG_HASHING = 1_000_000
"""Rounds of hashing, after which no further delegation is compared with NSEC3 records: they take about a second."""
OF_EVERY_CUT = {RdataType.NSEC, RdataType.RRSIG}
"""In bitmaps, whatever else there is."""

_Data = dict[tuple[dns.name.Name, RdataType], list[dns.rdata.Rdata]]


def find_landmarks(
    origin: dns.name.Name,
    rrsets: Iterable[tuple[dns.name.Name, RdataType, Iterable[dns.rdata.Rdata]]],
    *,
    is_whole: bool = True,
    unclear: Collection[dns.name.Name] = (),
    told_cuts: Collection[dns.name.Name] = (),
    seed: int = SEED,
    doubts: Doubts | None = None,
) -> Landmarks:
    """Look through a zone's RRsets, with absolute names; `is_whole` says whether these are all that it has.

    Of the delegations `unclear` it is not known whether they have DS records. Those of `told_cuts` that are delegations
    come first everywhere, and places with `doubts`. By `seed` is drawn which other places are kept of a large zone.
    """
    found = Landmarks(origin, is_whole=is_whole, seed=seed, doubts=doubts or Doubts())
    sizes: dict[tuple[dns.name.Name, RdataType], int] = {}
    data: _Data = {}
    for name, rtype, rdatas in rrsets:
        records = list(rdatas)
        data.setdefault((name, rtype), []).extend(records)
        sizes[name, rtype] = sizes.get((name, rtype), 0) + sum(len(rdata.to_wire() or b"") for rdata in records)
    cuts = {name for name, rtype in sizes if rtype == RdataType.NS and name != origin and name.is_subdomain(origin)}
    # What is delegated below a delegation is none of the zone's.
    cuts = {name for name in cuts if _cut_of(name.parent(), origin, cuts) is None}
    secure = {name for name, rtype in sizes if rtype == RdataType.DS}
    redirected = {name for name, rtype in sizes if rtype == RdataType.DNAME}
    names = {name for name, _ in sizes}
    found.told_cuts = tuple(dict.fromkeys(cut for cut in told_cuts if cut in cuts))
    found.delegation = _first_cut(cuts - secure - set(unclear), found.told_cuts)
    found.secure_delegation = _first_cut(cuts & secure, found.told_cuts)
    visible: list[Place] = []
    for (name, rtype), octets in sorted(sizes.items()):
        cut = _cut_of(name, origin, cuts)
        if cut is not None:
            if name != cut and rtype in {RdataType.A, RdataType.AAAA}:
                found.glue = found.glue or name
            continue
        visible.append(Place(name, rtype, octets))
        if _is_redirected(name, origin, redirected):
            continue
        if rtype == RdataType.CNAME:
            found.alias = found.alias or name
        elif rtype == RdataType.DNAME:
            found.dname = found.dname or name
    answered = [place for place in visible if not _is_redirected(place.name, origin, redirected)]
    found.host = _first(place for place in answered if not place.name.is_wild() and place.name != origin)
    found.wildcard = _first(place for place in answered if place.name.is_wild())
    shown = {place.name for place in visible}
    found.empty = min(_empty_non_terminals(origin, shown | cuts, names), default=None)
    found.empties = sorted(_empty_non_terminals(origin, shown | (cuts & secure), names))[:EMPTIES_KEPT]
    usual = [place for place in visible if place.rtype not in PROOF_TYPES]
    found.large = sorted(usual, key=lambda place: -place.octets)[:LARGE_KEPT]
    found.cuts = frozenset(cuts)
    found.nsec3_parameters = frozenset(
        (record.algorithm, record.iterations, record.salt)
        for (_, rtype), records in data.items()
        for record in (records if rtype == RdataType.NSEC3 else ())
        if isinstance(record, NSEC3)
    )
    found.doubtful_cuts = _doubtful(cuts, data)
    found.occluded = _occluded(origin, cuts, sizes)
    _note_data(found, usual, data)
    return found


def _note_data(found: Landmarks, visible: Iterable[Place], data: _Data) -> None:
    """Note what there is to compare with answers: RRsets with their records, glue, the serial."""
    origin = found.origin
    redirected = {name for name, rtype in data if rtype == RdataType.DNAME}
    asked = [
        place for place in visible if place.name == origin or _cut_of(place.name.parent(), origin, redirected) is None
    ]
    found.places_in_all = len(asked) + len(found.cuts)
    found.places = [_with_data(place, data) for place in _drawn(found, asked)]
    cut = None if found.glue is None else _cut_of(found.glue, origin, set(found.cuts))
    if cut is not None:
        addresses = (RdataType.A, RdataType.AAAA)
        below = [key for key in data if key[1] in addresses and key[0].is_subdomain(cut)]
        found.glue_places = [_with_data(Place(name, rtype), data) for name, rtype in sorted(below)]
    some = [*found.told_cuts, *sorted(found.cuts)][:DELEGATIONS_KEPT]
    found.delegations = [_with_data(Place(name, RdataType.NS), data) for name in dict.fromkeys(some)]
    for record in data.get((origin, RdataType.SOA), []):
        if isinstance(record, SOA):
            found.serial = record.serial


def _drawn(found: Landmarks, others: Sequence[Place]) -> list[Place]:
    """Give what of a zone is asked for: of delegations and of other RRsets half each, or all where these are fewer."""
    first = list(dict.fromkeys([*found.told_cuts, *found.doubtful_cuts]))
    doubtful = set(found.doubts.names)
    first = [*first, *sorted((doubtful & found.cuts) - set(first))][:PLACES_KEPT]
    early = [place for place in others if place.name in doubtful][: PLACES_KEPT - len(first)]
    others = [place for place in others if place.name not in doubtful]
    # A set has another order in each process.
    cuts = [Place(cut, RdataType.DS) for cut in sorted(found.cuts - set(first))]
    room = PLACES_KEPT - len(first) - len(early)
    for_cuts = min(len(cuts), max(room // 2, room - len(others)))
    by_lot = Random(found.seed)
    chosen = by_lot.sample(cuts, for_cuts) + by_lot.sample(others, min(len(others), room - for_cuts))
    in_order = sorted(chosen, key=lambda place: (place.name, place.rtype))
    return [*(Place(cut, RdataType.DS) for cut in first), *early, *in_order]


def _first_cut(cuts: set[dns.name.Name], told: Sequence[dns.name.Name]) -> dns.name.Name | None:
    return next((cut for cut in told if cut in cuts), min(cuts, default=None))


def _doubtful(cuts: Iterable[dns.name.Name], data: _Data) -> tuple[dns.name.Name, ...]:
    """Find delegations whose bitmap differs from what the zone's data have of NS and DS, which alone are to be in it.

    So all of a zone are looked at without a question; what its server says, items ask it.
    """
    hashed: dict[tuple[int, bytes], dict[bytes | None, Types]] = {}
    for (owner, rtype), records in data.items():
        for record in records if rtype == RdataType.NSEC3 else ():
            if isinstance(record, NSEC3) and record.algorithm == SHA1_DIGEST:
                chain = hashed.setdefault((record.iterations, record.salt), {})
                chain[hash_of_owner(owner)] = types_of(record)
    found, rounds = [], 0
    for cut in sorted(cuts):
        right = {RdataType.NS, RdataType.DS} if (cut, RdataType.DS) in data else {RdataType.NS}
        listed = [types_of(one) for one in data.get((cut, RdataType.NSEC), ()) if isinstance(one, NSEC)]
        for (iterations, salt), chain in hashed.items():
            rounds += iterations + 1
            if rounds < LONG_HASHING:
                listed += [types for types in [chain.get(nsec3_hash(cut, salt, iterations))] if types is not None]
        if any(types - OF_EVERY_CUT != right for types in listed):
            found.append(cut)
    return tuple(found[:DOUBTFUL_KEPT])


def _occluded(
    origin: dns.name.Name, cuts: set[dns.name.Name], there: Iterable[tuple[dns.name.Name, RdataType]]
) -> list[Place]:
    redirected = {name for name, rtype in there if rtype == RdataType.DNAME}
    found: list[Place] = []
    for name, rtype in sorted(there):
        cut = _cut_of(name, origin, cuts)
        if cut is not None:
            is_occluded = rtype not in (AT_CUT if name == cut else BELOW_CUT)
        else:
            # Signers that do not know better give such names NSEC records.
            is_occluded = _is_redirected(name, origin, redirected) and rtype not in PROOF_TYPES
        if is_occluded and len(found) < OCCLUDED_KEPT:
            found.append(Place(name, rtype))
    return found


def _with_data(place: Place, data: _Data) -> Place:
    return replace(place, data=frozenset(data.get((place.name, place.rtype), [])))


def _first(places: Iterable[Place]) -> Place | None:
    usable = [place for place in places if place.rtype in HOST_TYPES]
    return min(usable, key=lambda place: (HOST_TYPES.index(place.rtype), place.name), default=None)


def _cut_of(name: dns.name.Name, origin: dns.name.Name, cuts: set[dns.name.Name]) -> dns.name.Name | None:
    while name != origin and len(name) > len(origin):
        if name in cuts:
            return name
        name = name.parent()
    return None


def _is_redirected(name: dns.name.Name, origin: dns.name.Name, redirected: set[dns.name.Name]) -> bool:
    """Say whether a name is below a DNAME record: queries for it get that record, whatever else the zone has of it."""
    return name != origin and (origin in redirected or _cut_of(name.parent(), origin, redirected) is not None)


def _empty_non_terminals(
    origin: dns.name.Name, visible: Iterable[dns.name.Name], names: set[dns.name.Name]
) -> set[dns.name.Name]:
    found = set()
    for name in visible:
        parent = name
        while len(parent) > len(origin) + 1:
            parent = parent.parent()
            if parent not in names and not parent.is_wild():
                found.add(parent)
    return found
