"""Faults of zones: signatures, digests, DS and CDS records."""

import dns.dnssec
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.CDNSKEY import CDNSKEY
from dns.rdtypes.ANY.CDS import CDS
from dns.rdtypes.ANY.DS import DS
from dns.rdtypes.ANY.RRSIG import RRSIG
from dns.rdtypes.ANY.ZONEMD import ZONEMD

from dnsrig.dates import DAY_S
from dnsrig.verification.faults.zone_chains import change_types
from dnsrig.verification.faults.zone_fault import ZoneFault
from dnsrig.verification.zones.editing import ZoneEditor
from dnsrig.verification.zones.making import VARIANTS, RigZone, Variant

OTHER_DIGEST = bytes(range(32))
OTHER_KEY = bytes(range(64))
ED25519 = 15


def _lasting(name: str, inception_s: int, expiration_s: int) -> Variant:
    return Variant(name=name, inception_s=inception_s, expiration_s=expiration_s)


def _sign_host_for_parent(zone: ZoneEditor) -> None:
    zone.sign(zone.name("host"), RdataType.A, signer=zone.origin.parent())


def _sign_host_as_wildcard(zone: ZoneEditor) -> None:
    zone.sign(zone.name("host"), RdataType.A, as_wildcard=True)


def _sign_host_with_low_ttl(zone: ZoneEditor) -> None:
    zone.sign(zone.name("host"), RdataType.A, original_ttl_s=60)


def _keep_expired_signature(zone: ZoneEditor) -> None:
    zone.sign(zone.name("host"), RdataType.A, expired_too=True)


def _drop_algorithm(zone: ZoneEditor) -> None:
    rdataset = zone.data.find_rdataset(zone.name("host"), RdataType.RRSIG, RdataType.A)
    for signature in [*rdataset]:
        if isinstance(signature, RRSIG) and signature.algorithm == ED25519:
            rdataset.remove(signature)  # type: ignore[no-untyped-call]


def _remove_keys(zone: ZoneEditor) -> None:
    for rtype in (RdataType.DNSKEY, RdataType.CDS, RdataType.CDNSKEY, RdataType.ZONEMD, RdataType.NSEC3PARAM):
        zone.data.delete_rdataset(zone.origin, rtype)
        zone.data.delete_rdataset(zone.origin, RdataType.RRSIG, rtype)


def _other_cds(zone: ZoneEditor) -> None:
    rdataset = zone.rdataset(zone.origin, RdataType.CDS)
    other = CDS(rdataset.rdclass, RdataType.CDS, 4711, 13, 2, OTHER_DIGEST)  # type: ignore[no-untyped-call]
    zone.put(zone.origin, RdataType.CDS, rdataset.ttl, [other])
    zone.sign(zone.origin, RdataType.CDS, zone.ksk)


def _spoil_cds(zone: ZoneEditor) -> None:
    """Put a CDS record with a spoilt digest beside the right ones, where no CDNSKEY record tells."""
    rdataset = zone.rdataset(zone.origin, RdataType.CDS)
    right = [one for one in rdataset if isinstance(one, CDS)]
    spoilt = [one.replace(digest=bytes([one.digest[0] ^ 1, *one.digest[1:]])) for one in right[:1]]
    zone.put(zone.origin, RdataType.CDS, rdataset.ttl, [*right, *spoilt])
    zone.sign(zone.origin, RdataType.CDS, zone.ksk)
    zone.data.delete_rdataset(zone.origin, RdataType.CDNSKEY)
    zone.data.delete_rdataset(zone.origin, RdataType.RRSIG, RdataType.CDNSKEY)
    change_types(zone, zone.origin, {RdataType.CDNSKEY}, set())


def _other_cdnskey(zone: ZoneEditor) -> None:
    rdataset = zone.rdataset(zone.origin, RdataType.CDNSKEY)
    other = CDNSKEY(rdataset.rdclass, RdataType.CDNSKEY, 257, 3, 13, OTHER_KEY)  # type: ignore[no-untyped-call]
    zone.put(zone.origin, RdataType.CDNSKEY, rdataset.ttl, [other])
    zone.sign(zone.origin, RdataType.CDNSKEY, zone.ksk)


def _delete_with_digest(zone: ZoneEditor) -> None:
    """Ask for deletion by records that are not those which RFC 8078 section 4 has for that."""
    rdataset = zone.rdataset(zone.origin, RdataType.CDS)
    cds = CDS(rdataset.rdclass, RdataType.CDS, 4711, 0, 2, OTHER_DIGEST)  # type: ignore[no-untyped-call]
    cdnskey = CDNSKEY(rdataset.rdclass, RdataType.CDNSKEY, 0, 3, 0, b"\0")  # type: ignore[no-untyped-call]
    for record in (cds, cdnskey):
        zone.put(zone.origin, record.rdtype, rdataset.ttl, [record])
        zone.sign(zone.origin, record.rdtype, zone.ksk)


def _sign_cds_by_zsk(zone: ZoneEditor) -> None:
    zone.sign(zone.origin, RdataType.CDS)
    zone.sign(zone.origin, RdataType.CDNSKEY)


def _spoil_digest(zone: ZoneEditor) -> None:
    rdataset = zone.rdataset(zone.origin, RdataType.ZONEMD)
    (record,) = rdataset
    if not isinstance(record, ZONEMD):
        raise TypeError(record)
    digest = bytes([record.digest[0] ^ 1, *record.digest[1:]])
    zone.put(zone.origin, RdataType.ZONEMD, rdataset.ttl, [record.replace(digest=digest)])
    zone.sign(zone.origin, RdataType.ZONEMD)


def _ds_of_another_key(zone: RigZone) -> tuple[DS, ...]:
    return tuple(_changed(record, key_tag=record.key_tag ^ 1) for record in zone.ds)


def _ds_of_another_algorithm(zone: RigZone) -> tuple[DS, ...]:
    return (*zone.ds, *(_changed(record, algorithm=8) for record in zone.ds))


def _sha_1_ds(zone: RigZone) -> tuple[DS, ...]:
    key, _ = ZoneEditor(zone).ksk
    return (dns.dnssec.make_ds(zone.origin, key, "SHA1", policy=dns.dnssec.allow_all_policy),)


def _changed(record: DS, **fields: int) -> DS:
    changed = record.replace(**fields)
    if not isinstance(changed, DS):
        raise TypeError(changed)
    return changed


ZONE_FAULTS = (
    ZoneFault(name="expired", does="has expired signatures", variant=_lasting("expired", -30 * DAY_S, -3600)),
    ZoneFault(
        name="keeps-expired",
        does="keeps a signature that has expired beside the one that came after it",
        edit=_keep_expired_signature,
    ),
    ZoneFault(
        name="not-yet-valid",
        does="has signatures that are not valid yet",
        variant=_lasting("not-yet-valid", DAY_S, 30 * DAY_S),
    ),
    ZoneFault(
        name="expires-soon",
        does="has signatures that expire within their TTL",
        variant=_lasting("expires-soon", -DAY_S, 240),
    ),
    ZoneFault(
        name="expires-within-hours",
        does="has signatures that expire in six hours",
        variant=_lasting("expires-within-hours", -DAY_S, DAY_S // 4),
    ),
    ZoneFault(
        name="expires-within-soa-expire",
        does="has signatures that expire before secondaries let go of the zone",
        variant=_lasting("expires-within-soa-expire", -DAY_S, 2 * DAY_S),
    ),
    ZoneFault(name="wrong-signer-name", does="has a signature in its parent zone's name", edit=_sign_host_for_parent),
    ZoneFault(
        name="wrong-labels", does="has a signature whose Labels field is one too low", edit=_sign_host_as_wildcard
    ),
    ZoneFault(
        name="wrong-original-ttl",
        does="has a signature whose Original TTL field is below the TTL",
        edit=_sign_host_with_low_ttl,
    ),
    ZoneFault(
        name="missing-algorithm",
        does="lacks signatures of one of its algorithms",
        variant=VARIANTS["algorithms"],
        edit=_drop_algorithm,
    ),
    ZoneFault(
        name="leftover-signatures", does="has signatures and NSEC records, but no keys any more", edit=_remove_keys
    ),
    ZoneFault(name="cds-of-another-key", does="has a CDS record of a key that it has not", edit=_other_cds),
    ZoneFault(
        name="cds-with-wrong-digest",
        does="has a CDS record with a digest that is not its key's, beside a right one",
        edit=_spoil_cds,
    ),
    ZoneFault(name="cdnskey-of-another-key", does="has a CDNSKEY record of a key that it has not", edit=_other_cdnskey),
    ZoneFault(
        name="cds-signed-by-zone-signing-key",
        does="has CDS and CDNSKEY records signed by a key that does not sign keys",
        edit=_sign_cds_by_zsk,
    ),
    ZoneFault(
        name="cds-deletion-with-digest",
        does="has a CDS record of algorithm 0 with a digest",
        edit=_delete_with_digest,
    ),
    ZoneFault(
        name="wrong-zonemd", does="has a ZONEMD record with a wrong digest", edit=_spoil_digest, keeps_digest=True
    ),
    ZoneFault(name="ds-of-another-key", does="has DS records of a key that it has not", ds=_ds_of_another_key),
    ZoneFault(
        name="ds-of-another-algorithm",
        does="has a DS record of an algorithm that does not sign it",
        ds=_ds_of_another_algorithm,
    ),
    ZoneFault(name="sha-1-ds", does="has a DS record with SHA-1", ds=_sha_1_ds),
)
