"""Zones whose TTLs are longer than their signatures allow, or short."""

import dns.message
from dns.rdatatype import RdataType

from dnsrig.dates import DAY_S
from dnsrig.verification.tree.cases import ZonePlan
from dnsrig.verification.tree.misbehaviour import Bound, Misbehaviour, Scene

RAISED_TTL_S = DAY_S
RAISED = "raised-ttl.nsec."
"""Its server gives longer TTLs than were signed."""
ENDS_SOON = "ends-soon.nsec."
"""Its TTLs are longer than its signatures are valid."""
LONG_TTL_S = 14 * DAY_S
VALID_S = 3 * DAY_S
"""A tree is made anew after a day."""
SHORT = "short.unsigned."
SHORT_TTL_S = 6
"""Some keep what has less, such as Knot Resolver for 5 s (cache.min_ttl)."""


def _raise_ttls(scene: Scene) -> dns.message.Message:
    for rrset in scene.response.answer:
        if RdataType.A in {rrset.rdtype, rrset.covers}:
            rrset.ttl = RAISED_TTL_S
    return scene.response


RAISES = Misbehaviour(name="raised-ttl", does="gives longer TTLs than were signed", change=_raise_ttls)
PLANS = (
    ZonePlan(
        name=RAISED,
        what=f"its server {RAISES.does}",
        records=("*.fresh IN A 198.18.2.85",),
        bound=(Bound(RAISES, RAISED, frozenset({2})),),
    ),
    ZonePlan(
        name=ENDS_SOON,
        what="its TTLs are longer than its signatures are valid",
        validity_s=(-3600, VALID_S),
        records=(f"*.fresh {LONG_TTL_S} IN A 198.18.2.85",),
    ),
    ZonePlan(
        name=SHORT,
        what="right, with TTLs of some seconds, also of denials",
        chain="",
        minimum_s=SHORT_TTL_S,
        records=(f"*.fresh {SHORT_TTL_S} IN A 198.18.2.85",),
    ),
)
