"""Unsigned zones whose responses are forged, or tell of other zones: only the care of resolvers helps their users."""

import secrets

import dns.flags
import dns.message
import dns.name
import dns.rdataclass
import dns.rrset
from dns.rdatatype import RdataType

from dnsrig.verification.tree.cases import ZonePlan
from dnsrig.verification.tree.misbehaviour import Bound, Misbehaviour, Scene
from dnsrig.verification.tree.zones_good import USUAL

FORGED_HOST = "198.18.2.66"
"""The address in whatever is forged: where it shows, a forgery was believed."""
FLOOD = 300
"""Forged messages with drawn IDs ahead of a response."""
LEAD_S = 0.05
"""The response comes so much later than what is forged."""
POISONED = b"poisoned-"
"""A name with this before its first label is told of in forged responses for the name."""
VICTIM = "victim.unsigned."
"""Addresses of its names are told by the server of another zone."""
HIJACKED = "hijacked.unsigned."
"""Its name servers are told by the server of another zone."""
ABOVE = "above.unsigned."
"""Its name servers are told by the server of a zone below it."""
BAILIWICK = "bailiwick.unsigned."
"""Names of its zone: a label of the victim's, and where in the response the victim is told of."""
BELOW = "below.above.unsigned."
MISDIRECTED = "misdirected.nsec."
"""Aliases below its DNAME record `tree` lead elsewhere than the record says."""
SECTIONS = ("answer", "additional", "alias", "servers")
"""Where names of the zone `BAILIWICK` tell of others."""
FORGER = 4
"""The address that the forged name servers have."""


def _forged(scene: Scene, owner: dns.name.Name | None = None) -> dns.message.Message:
    """Make a response with the forged address."""
    forged = dns.message.make_response(scene.query)
    forged.flags |= dns.flags.AA
    forged.answer = [dns.rrset.from_text(owner or scene.name, 300, "IN", "A", FORGED_HOST)]
    return forged


def _is_for_address(scene: Scene) -> bool:
    return scene.query.question[0].rdtype == RdataType.A


def _other_ids(scene: Scene) -> list[bytes]:
    """Forge responses with IDs near the right one, and with drawn ones."""
    if not _is_for_address(scene):
        return []
    wire = _forged(scene).to_wire()
    right = scene.query.id
    tried = [right ^ 1, right + 1, right - 1, right >> 8 | right << 8, right ^ 0xFF00, right & 0xFF, 0]
    tried += [secrets.randbelow(65_536) for _ in range(FLOOD)]
    return [(number & 0xFFFF).to_bytes(2) + wire[2:] for number in tried if number & 0xFFFF != right]


def _other_names(scene: Scene) -> list[bytes]:
    """Forge responses to another name's question: with records of the name that is asked for, and of the other."""
    if not _is_for_address(scene):
        return []
    first, *rest = scene.name.labels
    other = dns.name.Name([POISONED + first, *rest])
    made = []
    for owner in (scene.name, other):
        forged = _forged(scene, owner)
        forged.question = [dns.rrset.RRset(other, dns.rdataclass.IN, RdataType.A)]
        made.append(forged.to_wire())
    return made


def _other_types(scene: Scene) -> list[bytes]:
    return _for_question(scene, dns.rdataclass.IN, RdataType.TXT)


def _other_classes(scene: Scene) -> list[bytes]:
    return _for_question(scene, dns.rdataclass.CH, RdataType.A)


def _for_question(scene: Scene, rdclass: dns.rdataclass.RdataClass, rtype: RdataType) -> list[bytes]:
    """Forge a response with the records that are asked for and another question."""
    if not _is_for_address(scene):
        return []
    forged = _forged(scene)
    forged.question = [dns.rrset.RRset(scene.name, rdclass, rtype)]
    return [forged.to_wire()]


def _as_asked(scene: Scene) -> list[bytes]:
    return [_forged(scene).to_wire()] if _is_for_address(scene) else []


def _misdirect(scene: Scene) -> dns.message.Message:
    """Give the DNAME record with an alias that does not follow from it."""
    wrong = dns.name.from_text("elsewhere", dns.name.from_text(MISDIRECTED))
    if any(rrset.rdtype == RdataType.DNAME for rrset in scene.response.answer):
        dnames = [one for one in scene.response.answer if RdataType.DNAME in {one.rdtype, one.covers}]
        alias = dns.rrset.from_text(scene.name, 60, "IN", "CNAME", wrong.to_text())
        # Resolvers make aliases of a DNAME record that they have; its TTL is short, so that they ask again.
        zone = scene.zones[dns.name.from_text(MISDIRECTED)]
        scene.response.answer = [*dnames, alias, *zone.rrset(wrong, RdataType.A, signed=True)]
        scene.response.authority = []
    return scene.response


def _truncate_forged(scene: Scene) -> dns.message.Message:
    """Give a truncated response by UDP whose records are not those that come by TCP."""
    if scene.transport == "tcp" or not _is_for_address(scene):
        return scene.response
    forged = _forged(scene)
    forged.flags |= dns.flags.TC
    if scene.query.edns >= 0:
        forged.use_edns(0, scene.query.ednsflags, 4096)
    return forged


def _forger(scene: Scene, zone: str) -> str:
    """Give the address of the server that answers with what is forged: another one in the zone's servers' network."""
    name = dns.name.from_text("ns1", dns.name.from_text(zone))
    right = str(scene.zones[dns.name.from_text(zone)].rrset(name, RdataType.A, signed=False)[0][0])
    return f"{right.rpartition('.')[0]}.{FORGER + 1}"


def _tell_servers(scene: Scene, zone: str) -> dns.message.Message:
    """Tell of another zone's name server."""
    server = f"ns-forged.{zone}"
    scene.response.authority = [dns.rrset.from_text(zone, 3600, "IN", "NS", server)]
    scene.response.additional.append(dns.rrset.from_text(server, 3600, "IN", "A", _forger(scene, zone)))
    return scene.response


def _leave_bailiwick(scene: Scene) -> dns.message.Message:
    """Tell of names elsewhere, in the section that the name's second label says."""
    if not _is_for_address(scene) or len(scene.name.labels) != len(dns.name.from_text(BAILIWICK).labels) + 2:
        return scene.response
    label, section = scene.name.labels[:2]
    victim = dns.name.Name([label, *dns.name.from_text(VICTIM).labels])
    told = dns.rrset.from_text(victim, 3600, "IN", "A", FORGED_HOST)
    match section:
        case b"answer":
            scene.response.answer.append(told)
        case b"additional":
            # The name server of the name alone: who takes NS records of the zone from its responses, and rightly asks
            # elsewhere for the server's address, would not find the zone again.
            scene.response.authority = [dns.rrset.from_text(scene.name, 60, "IN", "NS", str(victim))]
            scene.response.additional.append(told)
        case b"alias":
            alias = dns.rrset.from_text(scene.name, 60, "IN", "CNAME", str(victim))
            scene.response.answer = [alias, told]
        case b"servers":
            return _tell_servers(scene, HIJACKED)
    return scene.response


def _tell_of_parent(scene: Scene) -> dns.message.Message:
    # What stands between is asked for by resolvers that minimise names (RFC 9156).
    is_whole = len(scene.name.labels) > len(dns.name.from_text(BELOW).labels) + 1
    return _tell_servers(scene, ABOVE) if is_whole and _is_for_address(scene) else scene.response


def _answer_forged(scene: Scene) -> dns.message.Message:
    return _forged(scene) if _is_for_address(scene) else scene.response


SPOOFED = (
    Misbehaviour(name="spoof-id", does="is preceded by forged responses with other IDs", ahead=_other_ids),
    Misbehaviour(name="spoof-name", does="is preceded by forged responses for another name", ahead=_other_names),
    Misbehaviour(name="spoof-type", does="is preceded by forged responses for another type", ahead=_other_types),
    Misbehaviour(name="spoof-class", does="is preceded by forged responses of another class", ahead=_other_classes),
    Misbehaviour(
        name="spoof-address",
        does="is preceded by forged responses from another address",
        ahead=_as_asked,
        ahead_from="address",
    ),
    Misbehaviour(
        name="spoof-port", does="is preceded by forged responses from another port", ahead=_as_asked, ahead_from="port"
    ),
)
"""Each forges before a response that is right."""
TRUNCATES_FORGED = Misbehaviour(
    name="spoof-truncated",
    does="gives a wrong address in truncated responses, and the right one by TCP",
    change=_truncate_forged,
)
LEAVES_BAILIWICK = Misbehaviour(name="bailiwick", does="tells of names of other zones", change=_leave_bailiwick)
TELLS_OF_PARENT = Misbehaviour(name="below", does="tells of a name server of its parent zone", change=_tell_of_parent)
MISDIRECTS = Misbehaviour(
    name="misdirects", does="gives aliases that do not follow from its DNAME record", change=_misdirect
)
FORGER_SPEAKS = Misbehaviour(name="forger", does="answers with a forged address", change=_answer_forged)


def _spoofed(one: Misbehaviour) -> ZonePlan:
    zone = f"{one.name}.unsigned."
    late = Misbehaviour(name=one.name, does=one.does, ahead=one.ahead, ahead_from=one.ahead_from, delay_s=LEAD_S)
    what = f"its server {one.does}"
    return ZonePlan(
        name=zone,
        what=what,
        chain="",
        records=("*.fresh IN A 198.18.2.85", *USUAL),
        bound=(Bound(late, zone, frozenset({2})),),
    )


def _teller(name: str, misbehaviour: Misbehaviour, records: tuple[str, ...], server: int = 2) -> ZonePlan:
    bound = Bound(misbehaviour, name, frozenset({server}))
    what = f"its server {misbehaviour.does}"
    return ZonePlan(name=name, what=what, chain="", records=records, servers=(server,), bound=(bound,))


def _victim(name: str, what: str) -> ZonePlan:
    return ZonePlan(
        name=name,
        what=what,
        chain="",
        records=("*.fresh IN A 198.18.2.85", "* IN A 198.18.2.85"),
        bound=(Bound(FORGER_SPEAKS, name, frozenset({FORGER})),),
    )


PLANS = (
    *(_spoofed(one) for one in SPOOFED),
    _teller("spoof-truncated.unsigned.", TRUNCATES_FORGED, ("*.fresh IN A 198.18.2.85", *USUAL)),
    _teller(BAILIWICK, LEAVES_BAILIWICK, tuple(f"*.{section} IN A 198.18.2.85" for section in SECTIONS)),
    ZonePlan(
        name=MISDIRECTED,
        what=f"its server {MISDIRECTS.does}",
        records=("tree 1 IN DNAME fresh.control.nsec.", f"elsewhere IN A {FORGED_HOST}"),
        bound=(Bound(MISDIRECTS, f"tree.{MISDIRECTED}", frozenset({2})),),
    ),
    _victim(VICTIM, "right; the server of another zone tells addresses of its names"),
    _victim(HIJACKED, "right; the server of another zone tells of its name server"),
    _victim(ABOVE, "right; the server of a zone below it tells of its name server"),
    # Of a server of its own: one that serves the parent zone too may tell of that.
    _teller(BELOW, TELLS_OF_PARENT, ("*.fresh IN A 198.18.2.85",), server=3),
)
