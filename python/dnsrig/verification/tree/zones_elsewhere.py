"""Zones whose data or denials another zone vouches for, which is signed rightly and has nothing to say of them."""

from functools import cache

import dns.message
import dns.name
import dns.rcode
from dns.dnssectypes import Algorithm
from dns.rdatatype import RdataType

from dnsrig.verification.tree.cases import BOGUS, Case, ZonePlan
from dnsrig.verification.tree.edits import ZoneEdit
from dnsrig.verification.tree.keys import ZONE_FLAG, ZoneKey, new_key
from dnsrig.verification.tree.misbehaviour import Bound, Misbehaviour, Scene
from dnsrig.verification.tree.zones_good import USUAL

SIGNER = "a-signer.nsec."
"""Comes before the zones that it vouches for in canonical order: its last NSEC record seems to span their names."""
SIGNED = "signed-elsewhere.nsec."
DENIED = "denied-elsewhere.nsec."


@cache
def _shared_key() -> ZoneKey:
    """Give the key that is one of the signer's, and signs data of another zone."""
    return new_key(Algorithm.ECDSAP256SHA256, ZONE_FLAG)


def _add_key(edit: ZoneEdit) -> None:
    keys = (edit.keys.ksk, edit.keys.zsk, _shared_key())
    edit.put(edit.origin, RdataType.DNSKEY, [str(key.dnskey) for key in keys], 300)
    edit.sign(edit.origin, RdataType.DNSKEY, edit.keys.ksk)


def _sign_from_elsewhere(edit: ZoneEdit) -> None:
    for rtype in (RdataType.A, RdataType.AAAA):
        edit.sign(edit.name("www"), rtype, _shared_key(), signer=dns.name.from_text(SIGNER))


def _deny_from_elsewhere(scene: Scene) -> dns.message.Message:
    """Deny a name by the last record of another zone's chain, whose next name is that zone's apex."""
    own, other = (scene.zones[dns.name.from_text(name)] for name in (DENIED, SIGNER))
    soa = own.rrset(own.origin, RdataType.SOA, signed=True)
    scene.response.answer = []
    scene.response.set_rcode(dns.rcode.NXDOMAIN)
    scene.response.authority = [*soa, *other.proof_of_no_type(other.nsec_owners[-1])]
    return scene.response


PLANS = (
    ZonePlan(
        name=SIGNER,
        what="right; its key signs data of another zone, and its chain is given for a third one's",
        records=USUAL,
        edit=_add_key,
        cases=(Case(name="www", what="an address beside a key that signs data of another zone"),),
    ),
    ZonePlan(
        name=SIGNED,
        what="the signature is by a key of another zone beside it, and names that zone as signer",
        records=USUAL,
        edit=_sign_from_elsewhere,
        cases=tuple(
            Case(
                name="www",
                rtype=rtype,
                right=BOGUS,
                what="a signature that another zone's key has truly made, with that zone as signer",
                item="F-wrong-signer",
            )
            for rtype in (RdataType.A, RdataType.AAAA)
        ),
    ),
    ZonePlan(
        name=DENIED,
        what="a name that exists is denied with the last NSEC record of another zone",
        records=USUAL,
        cases=(
            Case(
                name="www",
                right=BOGUS,
                what="a name that exists is denied with the last NSEC record of another zone",
                item="F-forged-denial",
            ),
        ),
        bound=(
            Bound(
                Misbehaviour(
                    name="denied-elsewhere",
                    does="denies a name with the last NSEC record of another zone",
                    change=_deny_from_elsewhere,
                ),
                DENIED,
                frozenset({2}),
                f"www.{DENIED}",
            ),
        ),
    ),
)
"""What the tree is described by: zones, and the questions in them with what a right validator answers."""
