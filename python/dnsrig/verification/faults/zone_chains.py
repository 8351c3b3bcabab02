"""Faults of zones: keys, NSEC and NSEC3 records."""

import dns.name
import dns.rdataclass
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.DNSKEY import DNSKEY
from dns.rdtypes.ANY.NSEC import NSEC
from dns.rdtypes.ANY.NSEC3 import NSEC3
from dns.rdtypes.util import Bitmap

from dnsrig.dates import DAY_S
from dnsrig.verification.denial import types_of
from dnsrig.verification.faults.zone_fault import ZoneFault
from dnsrig.verification.zones.editing import SignedBy, ZoneEditor
from dnsrig.verification.zones.making import VARIANTS, Variant

UNKNOWN_FLAG = 0x02
LONG_TTL_S = 7 * DAY_S
SOME_KEY = bytes.fromhex(
    "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
    "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"
)
"""A point on P-256: its generator, whose private key is 1."""


def _key(flags: int, octets: bytes = SOME_KEY) -> DNSKEY:
    return DNSKEY(dns.rdataclass.IN, RdataType.DNSKEY, flags, 3, 13, octets)  # type: ignore[no-untyped-call]


def _set_keys(zone: ZoneEditor, *keys: DNSKEY, by: SignedBy | None = None) -> None:
    ttl_s = zone.rdataset(zone.origin, RdataType.DNSKEY).ttl
    zone.put(zone.origin, RdataType.DNSKEY, ttl_s, keys)
    zone.sign(zone.origin, RdataType.DNSKEY, by or zone.ksk)


def _withdraw_zsk(zone: ZoneEditor) -> None:
    _set_keys(zone, zone.ksk[0])


def _sign_keys_by_zsk(zone: ZoneEditor) -> None:
    _set_keys(zone, zone.ksk[0], zone.zsk[0], by=zone.zsk)


def _add_key_with_reserved_flag(zone: ZoneEditor) -> None:
    _set_keys(zone, zone.ksk[0], zone.zsk[0], _key(256 | 0x0010))


def _add_short_key(zone: ZoneEditor) -> None:
    _set_keys(zone, zone.ksk[0], zone.zsk[0], _key(256, SOME_KEY[:60]))


def _add_revoked_key(zone: ZoneEditor) -> None:
    _set_keys(zone, zone.ksk[0], zone.zsk[0], _key(256 | 0x0081))


def _revoke_ksk(zone: ZoneEditor) -> None:
    """Revoke the key-signing key as if another one had come in its place, which has not."""
    key, private = zone.ksk
    revoked = _key(int(key.flags) | 0x0080, key.key)
    _set_keys(zone, revoked, zone.zsk[0], by=(revoked, private))
    for rtype in (RdataType.CDS, RdataType.CDNSKEY):
        zone.sign(zone.origin, rtype)


def _with_types(record: NSEC | NSEC3, *, without: set[int] | None = None, also: set[int] | None = None) -> object:
    kept = {int(rtype) for rtype in types_of(record)} - (without or set()) | (also or set())
    return Bitmap.from_rdtypes([RdataType.make(rtype) for rtype in sorted(kept)]).windows


def change_types(zone: ZoneEditor, at: dns.name.Name, without: set[int], also: set[int]) -> None:
    """Take types out of the bitmap of a name's NSEC or NSEC3 record, and put others in."""
    owner, record = zone.link_of(at)
    windows = _with_types(record, without=without, also=also)
    zone.change_links(lambda fields: fields.update(windows=windows), owner)


def _deny_type(zone: ZoneEditor) -> None:
    change_types(zone, zone.origin, {RdataType.MX}, set())


def _invent_type(zone: ZoneEditor) -> None:
    change_types(zone, zone.origin, set(), {RdataType.SRV})


def _hide_rrsig(zone: ZoneEditor) -> None:
    change_types(zone, zone.name("host"), {RdataType.RRSIG}, set())


def _skip_names(zone: ZoneEditor) -> None:
    """Let the record of a host cover what follows, the apex or its wildcard's record among it."""
    rtype = RdataType.NSEC if zone.nodes_with(RdataType.NSEC) else RdataType.NSEC3
    host, _ = zone.link_of(zone.name("host"))
    passed_over, record = zone.link_of(zone.name("*.wild") if rtype == RdataType.NSEC else zone.origin)
    if host == passed_over:
        raise ValueError("the host's record cannot cover itself")
    zone.change_links(lambda fields: fields.update(next=record.next), host)


def _point_nowhere(zone: ZoneEditor) -> None:
    zone.change_links(lambda fields: fields.update(next=zone.name("host-that-was")), zone.name("host"))


def _long_ttl(zone: ZoneEditor) -> None:
    zone.change_links(lambda fields: fields.update(ttl=LONG_TTL_S))


def _unknown_flags(zone: ZoneEditor) -> None:
    zone.change_links(lambda fields: fields.update(flags=UNKNOWN_FLAG))


def _rsa(name: str, algorithm: str, bits: int = 2048) -> Variant:
    return Variant(name=name, algorithms=(algorithm,), rsa_bits=bits)


NSEC3_ZONE = VARIANTS["nsec3"]
ZONE_FAULTS = (
    ZoneFault(name="withdrawn-key", does="lacks the key that signs its data", edit=_withdraw_zsk),
    ZoneFault(
        name="key-signing-key-does-not-sign",
        does="has its DNSKEY RRset signed by the zone-signing key only",
        edit=_sign_keys_by_zsk,
    ),
    ZoneFault(name="reserved-key-flag", does="has a key with a reserved flag", edit=_add_key_with_reserved_flag),
    ZoneFault(name="short-key", does="has a key that is too short for its algorithm", edit=_add_short_key),
    ZoneFault(
        name="revoked-key-does-not-sign", does="has a revoked key that does not sign the keys", edit=_add_revoked_key
    ),
    ZoneFault(
        name="only-revoked-key-signs",
        does="has its DNSKEY RRset signed by a revoked key only",
        edit=_revoke_ksk,
    ),
    ZoneFault(name="sha-1-keys", does="has keys of RSASHA1", variant=_rsa("sha-1-keys", "RSASHA1")),
    ZoneFault(name="rsa-sha-512-keys", does="has keys of RSASHA512", variant=_rsa("rsa-sha-512-keys", "RSASHA512")),
    ZoneFault(name="rsa-1024-keys", does="has RSA keys of 1024 bits", variant=_rsa("rsa-1024-keys", "RSASHA256", 1024)),
    ZoneFault(
        name="nsec3-iterations",
        does="has NSEC3 records with 5 additional iterations",
        variant=Variant(name="nsec3-iterations", chain="nsec3", iterations=5),
    ),
    ZoneFault(
        name="nsec3-salt",
        does="has NSEC3 records with a salt",
        variant=Variant(name="nsec3-salt", chain="nsec3", salt="aabbccdd"),
    ),
    ZoneFault(
        name="nsec3-flags", does="has NSEC3 records with an unknown flag", variant=NSEC3_ZONE, edit=_unknown_flags
    ),
    ZoneFault(name="bitmap-denies-type", does="has an NSEC record that denies a type that is there", edit=_deny_type),
    ZoneFault(name="bitmap-invents-type", does="has an NSEC record with a type that is not there", edit=_invent_type),
    ZoneFault(
        name="nsec3-bitmap-denies-type",
        does="has an NSEC3 record that denies a type that is there",
        variant=NSEC3_ZONE,
        edit=_deny_type,
    ),
    ZoneFault(
        name="nsec3-bitmap-invents-type",
        does="has an NSEC3 record with a type that is not there",
        variant=NSEC3_ZONE,
        edit=_invent_type,
    ),
    ZoneFault(name="bitmap-without-rrsig", does="has an NSEC record that does not list RRSIG", edit=_hide_rrsig),
    ZoneFault(name="chain-skips-names", does="has an NSEC record that covers names that are there", edit=_skip_names),
    ZoneFault(
        name="nsec3-chain-skips-names",
        does="has an NSEC3 record that covers names that are there",
        variant=NSEC3_ZONE,
        edit=_skip_names,
    ),
    ZoneFault(name="chain-points-nowhere", does="has an NSEC record that points to no other one", edit=_point_nowhere),
    ZoneFault(name="long-denial-ttl", does="has NSEC records with a longer TTL than its SOA record", edit=_long_ttl),
)
