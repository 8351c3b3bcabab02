"""Changes a zone of the rig after it was signed, and signs again what was changed: zones with faults of data."""

import base64
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import dns.dnssec
import dns.name
import dns.rdata
import dns.rdataclass
import dns.rdataset
import dns.rrset
import dns.zone
import dns.zonefile
from cryptography.hazmat.primitives.asymmetric import ec
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.DNSKEY import DNSKEY
from dns.rdtypes.ANY.NSEC import NSEC
from dns.rdtypes.ANY.NSEC3 import NSEC3
from dns.rdtypes.ANY.ZONEMD import ZONEMD

from dnsrig.dates import DAY_S
from dnsrig.verification.denial import hash_of_owner, nsec3_hash
from dnsrig.verification.zones.making import RigZone, ZoneFiles, read_zone

SEP = 0x0001
SignedBy = tuple[DNSKEY, ec.EllipticCurvePrivateKey]


class ZoneEditor:
    """A signed zone in memory, with its ECDSA P-256 keys."""

    def __init__(self, zone: ZoneFiles) -> None:
        if zone.keys is None:
            raise ValueError(f"{zone.name} is not signed")
        self.rig = zone
        self.origin = zone.origin
        self.data = dns.zone.from_file(str(zone.path), zone.origin, relativize=False)
        pairs = [_read_pair(path) for path in sorted(zone.keys.glob("*+013+*.key"))]
        self.ksk = next(pair for pair in pairs if pair[0].flags & SEP)
        self.zsk = next(pair for pair in pairs if not pair[0].flags & SEP)

    def name(self, relative: str) -> dns.name.Name:
        """Make a name absolute."""
        return dns.name.from_text(relative, self.origin)

    def rdataset(self, name: dns.name.Name, rtype: RdataType) -> dns.rdataset.Rdataset:
        """Give the RRset of a type that is there."""
        return self.data.find_rdataset(name, rtype)

    def put(self, name: dns.name.Name, rtype: RdataType, ttl_s: int, records: Iterable[dns.rdata.Rdata]) -> None:
        """Replace an RRset; its signatures stay."""
        self.data.replace_rdataset(name, dns.rdataset.from_rdata_list(ttl_s, [*records]))

    def sign(
        self,
        name: dns.name.Name,
        rtype: RdataType,
        by: SignedBy | None = None,
        *,
        signer: dns.name.Name | None = None,
        original_ttl_s: int | None = None,
        as_wildcard: bool = False,
        is_expired: bool = False,
        expired_too: bool = False,
    ) -> None:
        """Sign an RRset anew, by the ZSK unless told otherwise.

        `as_wildcard` signs it as if the first label had been made from a wildcard: its Labels field is one too low.
        With `is_expired` the signature has expired; with `expired_too` one that has comes beside the one that is valid.
        """
        key, private = by or self.zsk
        rdataset = self.rdataset(name, rtype)
        owner = dns.name.Name((b"*", *name.labels[1:])) if as_wildcard else name
        ttl_s = rdataset.ttl if original_ttl_s is None else original_ttl_s
        rrset = dns.rrset.from_rdata_list(owner, ttl_s, [*rdataset])
        now_s = int(time.time())
        signatures = dns.rdataset.Rdataset(dns.rdataclass.IN, RdataType.RRSIG, rtype, rdataset.ttl)
        for days in (30, -30) if expired_too else (-30,) if is_expired else (30,):
            signature = dns.dnssec.sign(
                rrset,
                private,
                signer or self.origin,
                key,
                inception=now_s - 3600 + min(days, 0) * 2 * DAY_S,
                expiration=now_s + days * DAY_S,
            )
            signatures.add(signature, rdataset.ttl)
        self.data.replace_rdataset(name, signatures)

    def nodes_with(self, rtype: RdataType) -> list[dns.name.Name]:
        """List the owner names of a type, in canonical order."""
        return sorted(name for name in self.data.nodes if self.data.get_rdataset(name, rtype) is not None)

    def link_of(self, name: dns.name.Name) -> tuple[dns.name.Name, NSEC | NSEC3]:
        """Find the NSEC or NSEC3 record that matches a name, with its owner name."""
        for rtype in (RdataType.NSEC, RdataType.NSEC3):
            for owner in self.nodes_with(rtype):
                (record,) = self.rdataset(owner, rtype)
                if isinstance(record, NSEC) and owner == name:
                    return owner, record
                if isinstance(record, NSEC3) and hash_of_owner(owner) == nsec3_hash(
                    name, record.salt, record.iterations
                ):
                    return owner, record
        raise KeyError(name)

    def change_links(self, change: Callable[[dict[str, object]], None], *owners: dns.name.Name) -> None:
        """Change fields of NSEC or NSEC3 records, all unless owners are given, and sign them."""
        for rtype in (RdataType.NSEC, RdataType.NSEC3):
            for owner in self.nodes_with(rtype):
                if owners and owner not in owners:
                    continue
                rdataset = self.rdataset(owner, rtype)
                fields: dict[str, object] = {"ttl": rdataset.ttl}
                change(fields)
                ttl_s = fields.pop("ttl")
                (record,) = rdataset
                self.put(owner, rtype, int(str(ttl_s)), [record.replace(**fields)])
                self.sign(owner, rtype)

    def finish(self, *, digests: bool = True) -> RigZone:
        """Compute the zone's digest anew unless told otherwise, and write the zone over its file."""
        old = self.data.get_rdataset(self.origin, RdataType.ZONEMD)
        if digests and old is not None:
            (record,) = old
            if isinstance(record, ZONEMD):
                made = self.data.compute_digest(record.hash_algorithm, record.scheme)
                self.put(self.origin, RdataType.ZONEMD, old.ttl, [made])
                self.sign(self.origin, RdataType.ZONEMD)
        self.data.to_file(str(self.rig.path), relativize=False, want_origin=False)
        return read_zone(self.rig, self.data)


def _read_pair(path: Path) -> SignedBy:
    """Read a key in BIND's format."""
    fields = path.read_text().splitlines()[-1].split()
    text = " ".join(fields[fields.index("DNSKEY") + 1 :])
    key = dns.rdata.from_text(dns.rdataclass.IN, RdataType.DNSKEY, text)
    if not isinstance(key, DNSKEY):
        raise TypeError(text)
    secret = path.with_suffix(".private").read_text()
    number = next(line.split(":", 1)[1] for line in secret.splitlines() if line.startswith("PrivateKey:"))
    return key, ec.derive_private_key(int.from_bytes(base64.b64decode(number)), ec.SECP256R1())
