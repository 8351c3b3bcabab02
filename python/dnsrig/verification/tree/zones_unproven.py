"""Signed zones with denials of all their names that do not validate: they must not deny the names that are there."""

import base64
from collections.abc import Sequence

import dns.flags
import dns.message
import dns.rcode
import dns.rrset
from dns.rdatatype import RdataType

from dnsrig.verification.tree.cases import ZonePlan
from dnsrig.verification.tree.loaded import LoadedZone
from dnsrig.verification.tree.misbehaviour import Bound, Misbehaviour, Scene

UNPROVEN = ("denies-all.nsec.", "denies-all.nsec3.")
"""Each name is there, by a wildcard, but for those that begin as `FORGED` says."""
FORGED = (b"unsigned-", b"signed-")
"""Names that begin so are denied with a record for the whole zone, without signature or with one of another record."""


def _for_all_names(zone: LoadedZone, *, signed: bool) -> Sequence[dns.rrset.RRset]:
    """Give the apex's NSEC or NSEC3 record, changed so that it denies all other names."""
    found, *signatures = zone.proof_of_no_type(zone.origin)
    rdata = found[0]
    if found.rdtype == RdataType.NSEC3:
        changed = rdata.replace(next=base64.b32hexdecode(found.name.labels[0].upper()))
    else:
        changed = rdata.replace(next=zone.origin)
    return [dns.rrset.from_rdata_list(found.name, found.ttl, [changed]), *(signatures if signed else [])]


def _deny_all(scene: Scene) -> dns.message.Message:
    kind = next((one for one in FORGED if scene.name.labels[0].lower().startswith(one)), None)
    if kind is None:
        return scene.response
    zone = scene.zones[scene.name.parent()]
    with_do = scene.query.edns >= 0 and bool(scene.query.ednsflags & dns.flags.DO)
    scene.response.answer = []
    scene.response.authority = zone.rrset(zone.origin, RdataType.SOA, signed=with_do)
    scene.response.authority += _for_all_names(zone, signed=kind == FORGED[1]) if with_do else []
    scene.response.set_rcode(dns.rcode.NXDOMAIN)
    return scene.response


DENIES_ALL = Misbehaviour(
    name="denies-all", does="denies some names with a record for all that does not validate", change=_deny_all
)
PLANS = tuple(
    ZonePlan(
        name=name,
        what=f"its server {DENIES_ALL.does}",
        chain="nsec3" if name.endswith("nsec3.") else "nsec",
        records=("* IN A 198.18.2.85",),
        bound=(Bound(DENIES_ALL, name, frozenset({2})),),
    )
    for name in UNPROVEN
)
