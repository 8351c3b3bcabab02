"""Makes the rig's zone, unsigned or signed in one of several ways, as a zone file."""

import time
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

import dns.name
import dns.rdata
import dns.rdataclass
import dns.zone
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.DS import DS

from dnsrig import _core
from dnsrig.signing import INCEPTION_OFFSET_S, VALIDITY_S, Signing
from dnsrig.verification.doubts import doubts_of
from dnsrig.verification.landmarks import PLACES_KEPT, Landmarks, find_landmarks
from dnsrig.verification.zones.source import zone_text

SIGNING_MEMORY = 1 << 24
USUAL_ALGORITHM = "ECDSAP256SHA256"
ROLES: tuple[Literal["ksk", "zsk"], ...] = ("ksk", "zsk")


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """How the rig's zone is made; times are seconds from now."""

    name: str
    algorithms: tuple[str, ...] = (USUAL_ALGORITHM,)
    """Each has a KSK and a ZSK; without any the zone is not signed."""
    rsa_bits: int = 2048
    keys_of_each: int = 1
    """KSKs and ZSKs of each algorithm, all of which sign."""
    chain: Literal["nsec", "nsec3"] = "nsec"
    iterations: int = 0
    salt: str = ""
    opt_out: bool = False
    inception_s: int = -INCEPTION_OFFSET_S
    expiration_s: int = VALIDITY_S


VARIANTS = {
    variant.name: variant
    for variant in (
        Variant(name="unsigned", algorithms=()),
        Variant(name="nsec"),
        Variant(name="nsec3", chain="nsec3"),
        Variant(name="opt-out", chain="nsec3", opt_out=True),
        Variant(name="algorithms", algorithms=(USUAL_ALGORITHM, "ED25519")),
    )
}
"""The zones that servers must serve without fault."""


@dataclass(frozen=True, kw_only=True)
class ZoneFiles:
    """A zone that was made: where it is, and how the parent zone would point to it."""

    origin: dns.name.Name
    path: Path
    ds: tuple[DS, ...] = ()
    keys: Path | None = None
    """Folder with the files of its keys; None for a zone that is not signed."""
    variant: Variant = field(default_factory=lambda: VARIANTS["unsigned"])

    @property
    def name(self) -> str:
        """The zone's name as text, with the final dot."""
        return self.origin.to_text()


@dataclass(frozen=True, kw_only=True)
class RigZone(ZoneFiles):
    """A zone that was made, and what is in it."""

    landmarks: Landmarks


@dataclass(frozen=True, slots=True)
class _Reading:
    """See `_core.sign_zone`."""

    origin: str | None
    memory: int | None = SIGNING_MEMORY
    threads: int | None = 1
    on_progress: Any = None


def make_zone(
    folder: Path, variant: Variant, origin: str | None = None, serial: int = 2026010101, records: str | None = None
) -> RigZone:
    """Make a zone in `folder`, named `origin`, or after the variant; it takes some hundredths of a second.

    It has the rig's records, or others, with names relative to the apex. The keys of a signed zone are new, and lie in
    a folder beside it.
    """
    return read_zone(make_files(folder, variant, origin, records or zone_text(serial)))


def make_files(folder: Path, variant: Variant, origin: str | None, records: str) -> ZoneFiles:
    """Make a zone as `make_zone` does, for those who change it before they look for what is in it."""
    name = dns.name.from_text(origin or f"{variant.name}.dnsrig.test")
    stem = name.to_text(omit_final_dot=True)
    path = folder / f"{stem}.zone"
    text = f"$ORIGIN {name}\n{records}"
    if not variant.algorithms:
        path.write_text(text)
        return ZoneFiles(origin=name, path=path, variant=variant)
    unsigned = folder / f"{stem}.unsigned"
    unsigned.write_text(text)
    keys_folder = folder / f"{stem}.keys"
    keys_folder.mkdir(mode=0o700, exist_ok=True)
    keys = _new_keys(name.to_text(), variant, keys_folder)
    _core.sign_zone(unsigned, path, keys, _signing(variant), _Reading(name.to_text()))
    ds = tuple(_ds_of(line) for line in keys.ds_records)
    return ZoneFiles(origin=name, path=path, ds=ds, keys=keys_folder, variant=variant)


def make_zones(folder: Path) -> dict[str, RigZone]:
    """Make a zone of each variant."""
    return {name: make_zone(folder, variant) for name, variant in VARIANTS.items()}


def read_zone(files: ZoneFiles, zone: dns.zone.Zone | None = None) -> RigZone:
    """Look for landmarks in a zone's file, or in what was read of it."""
    zone = zone or dns.zone.from_file(str(files.path), files.origin, relativize=False, check_origin=False)
    rrsets = ((name, rdataset.rdtype, rdataset) for name, node in zone.nodes.items() for rdataset in node.rdatasets)
    # All of a small zone is asked for anyway.
    doubts = doubts_of(zone, files.path) if len(zone.nodes) > PLACES_KEPT else None
    landmarks = find_landmarks(files.origin, rrsets, doubts=doubts)
    parts = {one.name: getattr(files, one.name) for one in fields(ZoneFiles)}
    return RigZone(**parts, landmarks=landmarks)


def with_ds(zone: RigZone, *records: DS) -> RigZone:
    """Give the zone as a parent zone would show it that has these DS records for it."""
    return replace(zone, ds=records)


def _new_keys(origin: str, variant: Variant, folder: Path) -> _core.KeySet:
    keys = _core.KeySet()
    for algorithm in variant.algorithms:
        is_rsa = algorithm.startswith("RSA")
        bits = variant.rsa_bits if is_rsa else None
        for role in ROLES:
            for _ in range(variant.keys_of_each):
                keys.generate(origin, algorithm, bits, role, folder=folder, allow_sha1=True)
    keys.write(folder)
    return keys


def _signing(variant: Variant) -> Signing:
    now_s = int(time.time())
    return Signing(
        chain=variant.chain,
        iterations=variant.iterations,
        salt=variant.salt,
        opt_out=variant.opt_out,
        inception=now_s + variant.inception_s,
        expiration=now_s + variant.expiration_s,
        now_s=now_s,
        refresh_s=0,
        has_state=False,
        allows_sha1=True,
        publishes_cds=True,
        zonemd=["sha384"],
    )


def _ds_of(line: str) -> DS:
    """Take the data out of a DS record's line."""
    fields = line.split()
    text = " ".join(fields[fields.index("DS") + 1 :])
    found = dns.rdata.from_text(dns.rdataclass.IN, RdataType.DS, text)
    if not isinstance(found, DS):
        raise TypeError(text)
    return found
