"""What is doubtful in a zone's data that are known as a whole: of thousands of RRsets, those are asked for first.

Times, Labels, Original TTL and key tag of every signature are looked at; `_core` verifies them and the chain, within
`LONGEST_S`. What the server says of what is doubtful, items ask it.
"""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import dns.dnssec
import dns.exception
import dns.name
import dns.node
import dns.zone
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.DNSKEY import DNSKEY
from dns.rdtypes.ANY.NSEC3 import NSEC3
from dns.rdtypes.ANY.RRSIG import RRSIG

from dnsrig import _core
from dnsrig.errors import DnsrigError
from dnsrig.scratch import scratch_folder
from dnsrig.verification.denial import SHA1_DIGEST, ancestors, hash_of_owner, nsec3_hash
from dnsrig.verification.signatures import is_in_time, labels_of

LONGEST_S = 5.0
"""After which no further signature of a zone's data is verified."""
NAMES_KEPT = 50
FAULTS_READ = 1000
LONG_HASHING = 200_000
"""Rounds of hashing, after which no further name is compared with doubtful NSEC3 records."""
MEMORY = 1 << 24


@dataclass(frozen=True, slots=True)
class Doubts:
    """What came of looking at all of a zone's data."""

    names: tuple[dns.name.Name, ...] = ()
    """Some names of the zone whose signatures, NSEC or NSEC3 records seem wrong, in canonical order."""
    owners: frozenset[dns.name.Name] = frozenset()
    """Owners of what seems wrong, as many as names are kept: those of NSEC3 records too, which nobody can ask for."""
    signatures: int = 0
    """RRSIG records in the data, all of which were looked at."""
    is_verified: bool = False
    """Whether all of them were verified, too, and the chain with them: there was time for that."""


class _OutOfTimeError(Exception):
    """Ends the verification."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """See `_core.verify_zone`."""

    deadline: float
    origin: str
    memory: int | None = MEMORY
    threads: int | None = 1

    def on_progress(self, _octets: int) -> None:
        if time.monotonic() > self.deadline:
            raise _OutOfTimeError


def doubts_of(zone: dns.zone.Zone, path: Path | None = None) -> Doubts:
    """Look at all of a zone's data, with absolute names; `path` is the file that they are from, if any."""
    now_s = int(time.time())
    signed = [
        (name, node, [record for one in node.rdatasets for record in one if isinstance(record, RRSIG)])
        for name, node in zone.nodes.items()
    ]
    count = sum(len(signatures) for _, _, signatures in signed)
    if not count:
        return Doubts()
    keys = {
        (int(key.algorithm), dns.dnssec.key_id(key))
        for key in zone.get_rdataset(zone.origin or dns.name.root, RdataType.DNSKEY) or ()
        if isinstance(key, DNSKEY)
    }
    found = {name for name, node, signatures in signed if _is_doubtful(name, node, signatures, keys, now_s)}
    wrong = _found_by_verifying(zone, path, now_s)
    found |= {name for name in wrong or () if zone.origin is not None and name.is_subdomain(zone.origin)}
    names = sorted(_with_names_of_hashes(zone, found))[:NAMES_KEPT]
    owners = frozenset(sorted(found)[:NAMES_KEPT])
    return Doubts(tuple(names), owners, count, is_verified=wrong is not None)


def _is_doubtful(
    name: dns.name.Name, node: dns.node.Node, signatures: Iterable[RRSIG], keys: set[tuple[int, int]], now_s: int
) -> bool:
    by_type: dict[int, list[RRSIG]] = {}
    for one in signatures:
        by_type.setdefault(one.type_covered, []).append(one)
    there = {rdataset.rdtype: rdataset for rdataset in node.rdatasets if rdataset.rdtype != RdataType.RRSIG}
    for rtype, ones in by_type.items():
        if rtype not in there or any(one.labels != labels_of(name) for one in ones):
            return True
        if not any(is_in_time(one, now_s) for one in ones) or there[rtype].ttl > min(one.original_ttl for one in ones):
            return True
        if not any((one.algorithm, one.key_tag) in keys for one in ones):
            return True
    return False


def _found_by_verifying(zone: dns.zone.Zone, path: Path | None, now_s: int) -> set[dns.name.Name] | None:
    """Give the owner names of what `_core` finds to be wrong; None where it was not done in time, or at all."""
    reading = _Reading(time.monotonic() + LONGEST_S, str(zone.origin))
    try:
        if path is not None:
            return _wrong_in(path, reading, now_s)
        with scratch_folder() as folder:
            written = folder / "zone"
            zone.to_file(str(written), relativize=False, want_origin=False)
            return _wrong_in(written, reading, now_s)
    except (_OutOfTimeError, DnsrigError, OSError, dns.exception.DNSException, ValueError):
        # What is no zone to `_core` may be one to a server; that it is not is for other items to say.
        return None


def _wrong_in(path: Path, reading: _Reading, now_s: int) -> set[dns.name.Name]:
    told = _core.verify_zone(path, reading, now_s=now_s, most=FAULTS_READ)
    return {dns.name.from_text(one["owner"]) for one in told["faults"] if one.get("owner")}


def _with_names_of_hashes(zone: dns.zone.Zone, found: set[dns.name.Name]) -> Iterator[dns.name.Name]:
    """Give the names themselves, and instead of owners of NSEC3 records the names whose hashes these are."""
    hashed: dict[tuple[int, bytes], set[bytes]] = {}
    for name in found:
        records = [one for one in zone.get_rdataset(name, RdataType.NSEC3) or () if isinstance(one, NSEC3)]
        for one in records:
            owner = hash_of_owner(name)
            if owner is not None and one.algorithm == SHA1_DIGEST:
                hashed.setdefault((one.iterations, one.salt), set()).add(owner)
        if not records:
            yield name
    if not hashed or zone.origin is None:
        return
    rounds = 0
    for name in sorted(
        {one for each in zone.nodes for one in (each, *ancestors(each, zone.origin)) if one not in found}
    ):
        for (iterations, salt), owners in hashed.items():
            rounds += iterations + 1
            if rounds > LONG_HASHING:
                return
            if nsec3_hash(name, salt, iterations) in owners:
                yield name
