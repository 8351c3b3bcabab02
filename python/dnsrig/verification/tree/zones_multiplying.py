"""Unsigned zones by which one query of a client leads to many upstream, unless the resolver bounds them."""

import dns.flags
import dns.message
import dns.name
import dns.rrset
from dns.rdatatype import RdataType

from dnsrig.verification.tree.cases import ZonePlan
from dnsrig.verification.tree.misbehaviour import Bound, Misbehaviour, Scene

MANY_SERVERS = "many-servers.unsigned."
"""Delegates each name to many name servers of the zone `MANY_SERVERS_VICTIM`, without addresses (NXNSAttack, 2020)."""
MANY_SERVERS_VICTIM = "named-by-others.unsigned."
SERVERS = 150
CIRCLE = "circle.unsigned."
"""Delegates names below `a` to servers below `b`, and the other way round (TsuNAME, 2021)."""
ENDLESS = "endless.unsigned."
"""Each name is an alias of another one."""
TTL_S = 60


def _refer(scene: Scene, zone: dns.name.Name, servers: list[dns.name.Name]) -> dns.message.Message:
    response = scene.response
    response.flags &= ~dns.flags.AA
    response.answer, response.additional = [], []
    texts = [server.to_text() for server in servers]
    response.authority = [dns.rrset.from_text(zone, TTL_S, "IN", "NS", *texts)]
    return response


def _below(scene: Scene, zone: str) -> tuple[bytes, ...]:
    return scene.name.labels[: -len(dns.name.from_text(zone).labels)]


def _name_many_servers(scene: Scene) -> dns.message.Message:
    labels = _below(scene, MANY_SERVERS)
    if not labels:
        return scene.response
    zone = dns.name.Name([labels[-1], *dns.name.from_text(MANY_SERVERS).labels])
    victim = dns.name.from_text(MANY_SERVERS_VICTIM).labels
    servers = [dns.name.Name([b"n%d-" % number + labels[-1], *victim]) for number in range(SERVERS)]
    return _refer(scene, zone, servers)


def _refer_in_circles(scene: Scene) -> dns.message.Message:
    labels = _below(scene, CIRCLE)
    side = {b"a": b"b", b"b": b"a"}.get(labels[-1].lower()) if len(labels) > 1 else None
    if side is None:
        return scene.response
    circle = dns.name.from_text(CIRCLE).labels
    zone = dns.name.Name([labels[-2], labels[-1], *circle])
    return _refer(scene, zone, [dns.name.Name([b"ns", labels[-2], side, *circle])])


def _alias_further(scene: Scene) -> dns.message.Message:
    labels = _below(scene, ENDLESS)
    if not labels or scene.query.question[0].rdtype not in {RdataType.A, RdataType.AAAA, RdataType.CNAME}:
        return scene.response
    number, _, label = labels[0].partition(b"-")
    following = b"%d-%s" % (int(number) + 1 if number.isdigit() else 0, label)
    target = dns.name.Name([following, *dns.name.from_text(ENDLESS).labels])
    scene.response.answer = [dns.rrset.from_text(scene.name, TTL_S, "IN", "CNAME", target.to_text())]
    return scene.response


def _plan(name: str, misbehaviour: Misbehaviour) -> ZonePlan:
    return ZonePlan(
        name=name,
        what=f"its server {misbehaviour.does}",
        chain="",
        records=("*.fresh IN A 198.18.2.85", "*.a IN A 198.18.2.85", "*.b IN A 198.18.2.85", "* IN A 198.18.2.85"),
        bound=(Bound(misbehaviour, name, frozenset({2})),),
    )


PLANS = (
    _plan(
        MANY_SERVERS,
        Misbehaviour(
            name="many-servers", does="delegates to many servers without addresses", change=_name_many_servers
        ),
    ),
    ZonePlan(
        name=MANY_SERVERS_VICTIM,
        what="right, empty; delegations of another zone name servers in it",
        chain="",
        servers=(3,),
    ),
    _plan(CIRCLE, Misbehaviour(name="circle", does="delegates in circles", change=_refer_in_circles)),
    _plan(ENDLESS, Misbehaviour(name="endless", does="gives one alias after the other", change=_alias_further)),
)
