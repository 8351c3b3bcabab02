"""A zone whose server fails soon after it has been asked: what resolvers then give is what they had (RFC 8767)."""

import time

import dns.message
import dns.name
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.verification.tree.cases import ZonePlan
from dnsrig.verification.tree.misbehaviour import Bound, Misbehaviour, Scene
from dnsrig.verification.tree.zones_ttls import SHORT_TTL_S

GOES_DOWN = "goes-down.unsigned."
DOWN_AFTER_S = 2.0
"""So long after an address was asked for at first, its server fails."""


class _GoingDown:
    """Knows when each address was asked for at first, by the monotonic clock."""

    def __init__(self) -> None:
        self._first_s: dict[dns.name.Name, float] = {}

    def change(self, scene: Scene) -> dns.message.Message:
        question = scene.query.question[0]
        # Those above are asked for by resolvers that minimise names.
        if question.rdtype != RdataType.A or not scene.response.answer:
            return scene.response
        now_s = time.monotonic()
        if now_s - self._first_s.setdefault(question.name, now_s) < DOWN_AFTER_S:
            return scene.response
        scene.response.answer, scene.response.authority, scene.response.additional = [], [], []
        scene.response.set_rcode(dns.rcode.SERVFAIL)
        return scene.response


_DOWN = Misbehaviour(
    name="goes-down",
    does=f"answers with SERVFAIL {DOWN_AFTER_S:g} s after an address was asked for",
    change=_GoingDown().change,
)
PLANS = (
    ZonePlan(
        name=GOES_DOWN,
        what=f"its server {_DOWN.does}",
        chain="",
        records=(f"*.fresh {SHORT_TTL_S} IN A 198.18.2.85",),
        bound=(Bound(_DOWN, GOES_DOWN, frozenset({2})),),
    ),
)
