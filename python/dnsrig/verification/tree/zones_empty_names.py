"""Unsigned zones with names below empty non-terminals, which resolvers that minimise names come by (RFC 9156)."""

import dns.message
import dns.name
import dns.rcode

from dnsrig.verification.tree.cases import ZonePlan
from dnsrig.verification.tree.misbehaviour import Bound, Misbehaviour, Scene

DEEP = "deep-names.unsigned."
"""Right."""
DENIES_EMPTY = "denies-empty.unsigned."
REFUSES_EMPTY = "refuses-empty.unsigned."
EMPTY_LABELS = 5
MANY_LABELS = 24
"""More than resolvers ask for one by one (RFC 9156 section 2.3: 10)."""
FEW = ".".join(f"e{number}" for number in range(EMPTY_LABELS))
MANY = ".".join(f"m{number}" for number in range(MANY_LABELS))
RECORDS = (f"*.fresh.{FEW} IN A 198.18.2.85", f"*.fresh.{MANY} IN A 198.18.2.85")


def _is_empty(scene: Scene) -> bool:
    """Say whether a name exists only because others are below it."""
    above = scene.name
    while above not in scene.zones:
        above = above.parent()
    zone = scene.zones[above]
    return scene.name in zone.existing and not zone.nodes.get(scene.name)


def _deny(scene: Scene) -> dns.message.Message:
    if _is_empty(scene):
        scene.response.set_rcode(dns.rcode.NXDOMAIN)
    return scene.response


def _refuse(scene: Scene) -> dns.message.Message:
    if _is_empty(scene):
        scene.response.authority = []
        scene.response.set_rcode(dns.rcode.REFUSED)
    return scene.response


def _plan(name: str, misbehaviour: Misbehaviour | None = None) -> ZonePlan:
    return ZonePlan(
        name=name,
        what=f"its server {misbehaviour.does}" if misbehaviour else "right, with names below many empty non-terminals",
        chain="",
        records=RECORDS,
        bound=(Bound(misbehaviour, name, frozenset({2})),) if misbehaviour else (),
    )


PLANS = (
    _plan(DEEP),
    _plan(DENIES_EMPTY, Misbehaviour(name="denies-empty", does="denies empty non-terminals", change=_deny)),
    _plan(REFUSES_EMPTY, Misbehaviour(name="refuses-empty", does="refuses empty non-terminals", change=_refuse)),
)
