"""Faults of zones at names that are no landmarks: one RRset, one NSEC record among others that are right."""

import dns.rdataset
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.NSEC import NSEC
from dns.rdtypes.ANY.RRSIG import RRSIG

from dnsrig.verification.denial import types_of
from dnsrig.verification.faults.zone_chains import change_types
from dnsrig.verification.faults.zone_fault import ZoneFault
from dnsrig.verification.zones.editing import ZoneEditor

MAIL = "mail"
"""A name that no other item asks for."""
SECOND_INSECURE = "zz-insecure"


def _spoil_signature(zone: ZoneEditor) -> None:
    rdataset = zone.data.find_rdataset(zone.name(MAIL), RdataType.RRSIG, RdataType.A)
    (signature,) = rdataset
    if not isinstance(signature, RRSIG):
        raise TypeError(signature)
    octets = bytes([signature.signature[0] ^ 1]) + signature.signature[1:]
    spoilt = dns.rdataset.Rdataset(rdataset.rdclass, RdataType.RRSIG, RdataType.A, rdataset.ttl)
    spoilt.add(signature.replace(signature=octets), rdataset.ttl)
    zone.data.replace_rdataset(zone.name(MAIL), spoilt)


def _expire(zone: ZoneEditor) -> None:
    zone.sign(zone.name(MAIL), RdataType.A, is_expired=True)


def _expire_denial(zone: ZoneEditor) -> None:
    zone.sign(zone.name(MAIL), RdataType.NSEC, is_expired=True)


def _expire_ds(zone: ZoneEditor) -> None:
    """Give a second delegation DS records, with a signature that has expired."""
    cut = zone.name(SECOND_INSECURE)
    ds = zone.rdataset(zone.name("secure"), RdataType.DS)
    zone.put(cut, RdataType.DS, ds.ttl, [*ds])
    change_types(zone, cut, set(), {RdataType.DS})
    zone.sign(cut, RdataType.DS, is_expired=True)


def _leave_unsigned(zone: ZoneEditor) -> None:
    zone.data.delete_rdataset(zone.name(MAIL), RdataType.RRSIG, RdataType.A)


def _leave_out_nsec(zone: ZoneEditor) -> None:
    zone.data.delete_rdataset(zone.name(MAIL), RdataType.NSEC)
    zone.data.delete_rdataset(zone.name(MAIL), RdataType.RRSIG, RdataType.NSEC)


def _end_early(zone: ZoneEditor) -> None:
    zone.change_links(lambda fields: fields.update(next=zone.origin), zone.name(MAIL))


def _turn_early(zone: ZoneEditor) -> None:
    """Have the last NSEC record, that of a secure delegation, point to a name behind the apex."""
    zone.change_links(lambda fields: fields.update(next=zone.name("host")), zone.nodes_with(RdataType.NSEC)[-1])


def _deny_type(zone: ZoneEditor) -> None:
    owner, record = zone.link_of(zone.name("ns1"))
    if not isinstance(record, NSEC) or RdataType.AAAA not in types_of(record):
        raise ValueError(f"{owner} has no AAAA record")
    change_types(zone, owner, {RdataType.AAAA}, set())


ZONE_FAULTS = (
    ZoneFault(name="one-bad-signature", does="has one signature with an octet changed", edit=_spoil_signature),
    ZoneFault(name="one-expired-signature", does="has one signature that has expired", edit=_expire),
    ZoneFault(name="one-expired-denial", does="has one NSEC record whose signature has expired", edit=_expire_denial),
    ZoneFault(name="one-expired-ds", does="has one DS RRset of several with an expired signature", edit=_expire_ds),
    ZoneFault(name="one-unsigned-rrset", does="has one RRset without signature", edit=_leave_unsigned),
    ZoneFault(name="one-missing-nsec", does="lacks one NSEC record", edit=_leave_out_nsec),
    ZoneFault(
        name="chain-ends-early", does="has an NSEC record that passes over the rest of the zone", edit=_end_early
    ),
    ZoneFault(
        name="chain-turns-early",
        does="has a last NSEC record that points to a name behind the apex",
        edit=_turn_early,
    ),
    ZoneFault(
        name="one-bitmap-denies-type", does="has one NSEC record that denies a type that is there", edit=_deny_type
    ),
)
