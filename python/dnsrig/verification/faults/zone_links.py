"""Faults of zones: NSEC and NSEC3 records too many, and too few."""

import base64

import dns.name
import dns.rdataclass
import dns.rdataset
from cryptography.hazmat.primitives.asymmetric import ec
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.DNSKEY import DNSKEY
from dns.rdtypes.ANY.NSEC import NSEC
from dns.rdtypes.ANY.NSEC3 import NSEC3
from dns.rdtypes.ANY.NSEC3PARAM import NSEC3PARAM
from dns.rdtypes.util import Bitmap

from dnsrig.verification.denial import hash_of_owner, is_between, nsec3_hash
from dnsrig.verification.faults.zone_chains import SOME_KEY, change_types
from dnsrig.verification.faults.zone_fault import ZoneFault
from dnsrig.verification.zones.editing import ZoneEditor
from dnsrig.verification.zones.making import VARIANTS

GLUE = "ns.secure"
EMPTY = "deep.empty"
"""An empty non-terminal that is no landmark."""
MAIL = "mail"
"""A name that no other item asks for."""
CUT = "zz-insecure"
"""A delegation that is no landmark."""
SECURE = "secure"
"""The delegation with DS records."""
TO_BASE32_HEX = bytes.maketrans(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", b"0123456789ABCDEFGHIJKLMNOPQRSTUV")
OTHER_SALT = b"\xaa\xbb"


def _windows(*types: RdataType) -> object:
    return Bitmap.from_rdtypes([*types]).windows


def _point(zone: ZoneEditor, owner: dns.name.Name, following: object) -> None:
    zone.change_links(lambda fields: fields.update(next=following), owner)


def _insert_nsec(zone: ZoneEditor, at: dns.name.Name, *types: RdataType) -> None:
    """Put a name into the chain of NSEC records that is not to be there."""
    for owner in zone.nodes_with(RdataType.NSEC):
        (before,) = zone.rdataset(owner, RdataType.NSEC)
        if isinstance(before, NSEC) and is_between(owner, before.next, at):
            ttl_s = zone.rdataset(owner, RdataType.NSEC).ttl
            windows = _windows(*types, RdataType.RRSIG, RdataType.NSEC)
            zone.put(at, RdataType.NSEC, ttl_s, [before.replace(windows=windows)])
            zone.sign(at, RdataType.NSEC)
            _point(zone, owner, at)
            return
    raise KeyError(at)


def _insert_nsec3(zone: ZoneEditor, of: dns.name.Name, *types: RdataType) -> None:
    """Put the hash of a name into the chain of NSEC3 records that is not to be there."""
    for owner in zone.nodes_with(RdataType.NSEC3):
        (before,) = zone.rdataset(owner, RdataType.NSEC3)
        place = hash_of_owner(owner)
        if not isinstance(before, NSEC3) or place is None:
            continue
        hashed = nsec3_hash(of, before.salt, before.iterations)
        if is_between(place, before.next, hashed):
            label = base64.b32encode(hashed).translate(TO_BASE32_HEX).lower()
            at = dns.name.Name((label, *zone.origin.labels))
            ttl_s = zone.rdataset(owner, RdataType.NSEC3).ttl
            zone.put(at, RdataType.NSEC3, ttl_s, [before.replace(windows=_windows(*types))])
            zone.sign(at, RdataType.NSEC3)
            _point(zone, owner, hashed)
            return
    raise KeyError(of)


def _take_out(zone: ZoneEditor, of: dns.name.Name) -> None:
    """Take the NSEC3 record of a name out, and close the chain over the gap."""
    gone, record = zone.link_of(of)
    before = next(
        owner
        for owner in zone.nodes_with(RdataType.NSEC3)
        for one in zone.rdataset(owner, RdataType.NSEC3)
        if isinstance(one, NSEC3) and one.next == hash_of_owner(gone)
    )
    zone.data.delete_node(gone)
    _point(zone, before, record.next)


def _nsec_of_glue(zone: ZoneEditor) -> None:
    _insert_nsec(zone, zone.name(GLUE), RdataType.A)


def _nsec_of_empty(zone: ZoneEditor) -> None:
    _insert_nsec(zone, zone.name(EMPTY))


def _nsec3_of_glue(zone: ZoneEditor) -> None:
    _insert_nsec3(zone, zone.name(GLUE), RdataType.A)


def _no_nsec3_of_empty(zone: ZoneEditor) -> None:
    _take_out(zone, zone.name(EMPTY))


def _no_nsec3_of_mail(zone: ZoneEditor) -> None:
    _take_out(zone, zone.name(MAIL))


def _add_nsec3param(zone: ZoneEditor) -> None:
    there = zone.rdataset(zone.origin, RdataType.NSEC3PARAM)
    (one,) = there
    if not isinstance(one, NSEC3PARAM):
        raise TypeError(one)
    zone.put(zone.origin, RdataType.NSEC3PARAM, there.ttl, [one, one.replace(salt=OTHER_SALT)])
    zone.sign(zone.origin, RdataType.NSEC3PARAM)


def _add_nsec3param_of_nothing(zone: ZoneEditor) -> None:
    """Leave the parameters of an NSEC3 chain that is not there any more in a zone with NSEC records."""
    rdclass, rtype = dns.rdataclass.IN, RdataType.NSEC3PARAM
    zone.put(zone.origin, rtype, 0, [NSEC3PARAM(rdclass, rtype, 1, 0, 0, b"")])  # type: ignore[no-untyped-call]
    zone.sign(zone.origin, rtype)
    change_types(zone, zone.origin, set(), {rtype})


def _change_nsec3param(zone: ZoneEditor) -> None:
    there = zone.rdataset(zone.origin, RdataType.NSEC3PARAM)
    zone.put(zone.origin, RdataType.NSEC3PARAM, there.ttl, [one.replace(salt=OTHER_SALT) for one in there])
    zone.sign(zone.origin, RdataType.NSEC3PARAM)


def _list_glue(zone: ZoneEditor) -> None:
    change_types(zone, zone.name(CUT), set(), {RdataType.A})


def _hide_ns(zone: ZoneEditor) -> None:
    change_types(zone, zone.name(CUT), {RdataType.NS}, set())


def _list_ds(zone: ZoneEditor) -> None:
    change_types(zone, zone.name(CUT), set(), {RdataType.DS})


def _hide_ds(zone: ZoneEditor) -> None:
    change_types(zone, zone.name(SECURE), {RdataType.DS}, set())


def _lose_ds(zone: ZoneEditor) -> None:
    zone.data.delete_rdataset(zone.name(SECURE), RdataType.DS)
    zone.data.delete_rdataset(zone.name(SECURE), RdataType.RRSIG, RdataType.DS)


def _sign_by_stranger(zone: ZoneEditor) -> None:
    """Add a signature by a key that is in no DNSKEY RRset."""
    at = zone.name(MAIL)
    right = zone.data.find_rdataset(at, RdataType.RRSIG, RdataType.A)
    key = DNSKEY(dns.rdataclass.IN, RdataType.DNSKEY, 256, 3, 13, SOME_KEY)  # type: ignore[no-untyped-call]
    zone.sign(at, RdataType.A, by=(key, ec.derive_private_key(1, ec.SECP256R1())))
    both = zone.data.find_rdataset(at, RdataType.RRSIG, RdataType.A)
    both.update(right)  # type: ignore[no-untyped-call]


ZONE_FAULTS = (
    ZoneFault(name="nsec-of-glue", does="has an NSEC record at a name below a delegation", edit=_nsec_of_glue),
    ZoneFault(name="nsec-of-empty", does="has an NSEC record at an empty non-terminal", edit=_nsec_of_empty),
    ZoneFault(
        name="nsec3-of-glue",
        does="has an NSEC3 record of a name below a delegation",
        variant=VARIANTS["nsec3"],
        edit=_nsec3_of_glue,
    ),
    ZoneFault(
        name="lacks-nsec3-of-empty",
        does="lacks the NSEC3 record of an empty non-terminal",
        variant=VARIANTS["nsec3"],
        edit=_no_nsec3_of_empty,
    ),
    ZoneFault(
        name="lacks-nsec3-of-host",
        does="lacks the NSEC3 record of a host",
        variant=VARIANTS["nsec3"],
        edit=_no_nsec3_of_mail,
    ),
    ZoneFault(
        name="opt-out-skips-host",
        does="lacks the NSEC3 record of a host, which one with the Opt-Out flag covers",
        variant=VARIANTS["opt-out"],
        edit=_no_nsec3_of_mail,
    ),
    ZoneFault(
        name="two-nsec3params",
        does="has an NSEC3PARAM record of a chain that is not there beside that of one that is",
        variant=VARIANTS["nsec3"],
        edit=_add_nsec3param,
    ),
    ZoneFault(
        name="nsec3param-of-no-chain",
        does="has an NSEC3PARAM record with another salt than its NSEC3 records",
        variant=VARIANTS["nsec3"],
        edit=_change_nsec3param,
    ),
    ZoneFault(
        name="nsec3param-beside-nsec",
        does="has an NSEC3PARAM record and NSEC records only",
        edit=_add_nsec3param_of_nothing,
    ),
    ZoneFault(name="cut-bitmap-lists-glue", does="has an NSEC record of a delegation that lists A", edit=_list_glue),
    ZoneFault(
        name="cut-bitmap-without-ns", does="has an NSEC record of a delegation that does not list NS", edit=_hide_ns
    ),
    ZoneFault(
        name="cut-bitmap-lists-ds", does="has an NSEC record of an insecure delegation that lists DS", edit=_list_ds
    ),
    ZoneFault(
        name="cut-bitmap-without-ds",
        does="has an NSEC record of a secure delegation that does not list DS",
        edit=_hide_ds,
    ),
    ZoneFault(
        name="nsec3-cut-bitmap-without-ds",
        does="has an NSEC3 record of a secure delegation that does not list DS",
        variant=VARIANTS["nsec3"],
        edit=_hide_ds,
    ),
    ZoneFault(
        name="ds-lost",
        does="lacks the DS records that the NSEC3 record of a delegation lists",
        variant=VARIANTS["nsec3"],
        edit=_lose_ds,
    ),
    ZoneFault(name="stray-signature", does="has a signature by a key that it has not", edit=_sign_by_stranger),
)
