"""Zones whose servers give denials, or names from wildcards, that true records of the zone do not prove."""

from collections.abc import Callable

import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rrset
from dns.rdatatype import RdataType

from dnsrig.verification.tree.answering import answer
from dnsrig.verification.tree.cases import BOGUS, Case, ZonePlan
from dnsrig.verification.tree.loaded import LoadedZone
from dnsrig.verification.tree.misbehaviour import Bound, Misbehaviour, Scene
from dnsrig.verification.tree.zones_good import USUAL

Change = Callable[[Scene], dns.message.Message | None]
HOST = "host"
REAL = "real.host"
"""A name that is there, beside the wildcard `*.host`."""
RECORDS = (
    f"*.{HOST} IN A 198.18.2.83",
    f"{REAL} IN A 198.18.2.84",
    f'{REAL} IN TXT "the wildcard has none"',
    f"{REAL} IN CAA 0 issue ca.example",
    "tree IN DNAME secure.nsec.",
)
"""What the zones have besides what is usual."""


def _other_answer(scene: Scene, name: dns.name.Name, rtype: RdataType) -> dns.message.Message:
    """Give what the zone truly answers to another question."""
    other = dns.message.make_query(name, rtype, want_dnssec=bool(scene.query.ednsflags & dns.flags.DO))
    return answer(other, scene.zones)


def _zone_of(scene: Scene) -> LoadedZone:
    above = scene.name
    while above not in scene.zones:
        above = above.parent()
    return scene.zones[above]


def _denied(scene: Scene, rcode: dns.rcode.Rcode, authority: list[dns.rrset.RRset]) -> dns.message.Message:
    scene.response.answer = []
    scene.response.set_rcode(rcode)
    scene.response.authority = authority
    return scene.response


def _forge_name(scene: Scene) -> dns.message.Message:
    """Say that the name does not exist, with the proof for another."""
    other = _other_answer(scene, dns.name.from_text("absent", _zone_of(scene).origin), RdataType.A)
    return _denied(scene, dns.rcode.NXDOMAIN, other.authority)


def _forge_type(scene: Scene) -> dns.message.Message:
    """Say that there is no such type, with the record that says that there is."""
    return _denied(scene, dns.rcode.NOERROR, _other_answer(scene, scene.name, RdataType.MX).authority)


def _forge_type_by_other(scene: Scene) -> dns.message.Message:
    """Say that there is no such type, with the record of another name that has it not."""
    other = dns.name.from_text("alias", _zone_of(scene).origin)
    zone = _zone_of(scene)
    proof = [*zone.rrset(zone.origin, RdataType.SOA, signed=True), *zone.proof_of_no_type(other)]
    return _denied(scene, dns.rcode.NOERROR, proof)


def _forge_type_by_itself(scene: Scene) -> dns.message.Message:
    """Say that there is no such type, with the record of the name itself, which says that there is, or an alias."""
    zone = _zone_of(scene)
    proof = [*zone.rrset(zone.origin, RdataType.SOA, signed=True), *zone.proof_of_no_type(scene.name)]
    return _denied(scene, dns.rcode.NOERROR, proof)


def _deny_below_dname(scene: Scene) -> dns.message.Message:
    """Deny a name below a DNAME record, with true records that say that there is one above it."""
    zone = _zone_of(scene)
    soa = zone.rrset(zone.origin, RdataType.SOA, signed=True)
    return _denied(scene, dns.rcode.NXDOMAIN, [*soa, *zone.proof_of_absence(scene.name)])


def _without_wildcard_proof(scene: Scene) -> dns.message.Message:
    """Prove that the name itself does not exist, and leave the wildcard out."""
    zone = _zone_of(scene)
    proof = zone.proof_of_absence(scene.name, wildcard_too=False)
    if zone.nsec3 is not None:
        proof = [*zone.proof_of_no_type(zone.closest_encloser(scene.name)), *proof]
    return _denied(scene, dns.rcode.NXDOMAIN, [*zone.rrset(zone.origin, RdataType.SOA, signed=True), *proof])


def _replay_wildcard(scene: Scene) -> dns.message.Message:
    """Give the wildcard's data for a name that has its own, with the proof for another name."""
    other = _other_answer(scene, dns.name.from_text(f"other.{HOST}", _zone_of(scene).origin), RdataType.A)
    scene.response.answer = [dns.rrset.from_rdata_list(scene.name, rrset.ttl, list(rrset)) for rrset in other.answer]
    scene.response.authority = other.authority
    return scene.response


def _expand_too_far(scene: Scene) -> dns.message.Message:
    """Give the wildcard's data for a name below one that exists, with the true proof that the name itself does not.

    The wildcard is that of the name above the one that exists, which is the closest encloser (RFC 4592 section 3.3.1).
    """
    zone = _zone_of(scene)
    other = _other_answer(scene, dns.name.from_text(f"other.{HOST}", zone.origin), RdataType.A)
    scene.response.set_rcode(dns.rcode.NOERROR)
    scene.response.answer = [dns.rrset.from_rdata_list(scene.name, rrset.ttl, list(rrset)) for rrset in other.answer]
    scene.response.authority = zone.proof_of_absence(scene.name, wildcard_too=False)
    return scene.response


def _forge_type_by_wildcard(scene: Scene) -> dns.message.Message:
    """Say that there is no such type, with the record of a wildcard that the name does not come from."""
    zone = _zone_of(scene)
    wildcard = dns.name.from_text(f"*.{HOST}", zone.origin)
    proof = zone.proof_of_no_type(wildcard)
    if zone.nsec3 is not None:
        proof = [*zone.proof_of_no_type(wildcard.parent()), *proof]
    soa = zone.rrset(zone.origin, RdataType.SOA, signed=True)
    return _denied(scene, dns.rcode.NOERROR, [*soa, *proof])


def _deny_from_above(scene: Scene) -> dns.message.Message:
    """Deny a name with the parent zone's records, which know the delegation and nothing below it."""
    parent = scene.zones[_zone_of(scene).origin.parent()]
    soa = parent.rrset(parent.origin, RdataType.SOA, signed=True)
    return _denied(scene, dns.rcode.NXDOMAIN, [*soa, *parent.proof_of_absence(scene.name)])


def _deny_ds_from_below(scene: Scene) -> dns.message.Message:
    """Deny the DS records with the record at the child zone's apex, which is in the wrong zone for that."""
    if scene.query.question[0].rdtype != RdataType.DS:
        scene.response.authority = [one for one in scene.response.authority if one.rdtype == RdataType.NS]
        return scene.response
    child = scene.zones[scene.name]
    soa = child.rrset(child.origin, RdataType.SOA, signed=True)
    return _denied(scene, dns.rcode.NOERROR, [*soa, *child.proof_of_no_type(child.origin)])


def _plan(
    name: str,
    what: str,
    item: str,
    change: Change,
    *,
    asked: str = "www",
    rtype: RdataType = RdataType.A,
    servers: frozenset[int] = frozenset({2}),
) -> ZonePlan:
    zone, tld = name.removesuffix(".").rsplit(".", 1)
    misbehaviour = Misbehaviour(name=zone, does=what, change=change)
    only = f"{asked}.{name}" if servers == {2} else name
    return ZonePlan(
        name=name,
        what=what,
        chain="nsec3" if tld == "nsec3" else "nsec",
        records=(*USUAL, *RECORDS),
        cases=(Case(name=asked, rtype=rtype, right=BOGUS, what=f"{what} ({tld.upper()})", item=item),),
        bound=(Bound(misbehaviour, name, servers, "" if servers == {1} else only),),
    )


def _plans(tld: str) -> tuple[ZonePlan, ...]:
    return (
        _plan(
            f"forged-name.{tld}.",
            "a name that exists is denied with the proof for another",
            "F-forged-denial",
            _forge_name,
        ),
        _plan(
            f"forged-type.{tld}.",
            "a type that exists is denied with the record that says that it exists",
            "F-forged-denial",
            _forge_type,
        ),
        _plan(
            f"forged-type-by-other.{tld}.",
            "a type that exists is denied with the record of another name",
            "F-forged-denial",
            _forge_type_by_other,
        ),
        _plan(
            f"forged-type-high.{tld}.",
            "a type beyond 255 that exists is denied with the record that says that it exists",
            "F-forged-denial",
            _forge_type_by_itself,
            asked=REAL,
            rtype=RdataType.CAA,
        ),
        _plan(
            f"forged-type-by-wildcard.{tld}.",
            "a type that exists is denied with the record of a wildcard that the name does not come from",
            "F-forged-denial",
            _forge_type_by_wildcard,
            asked=REAL,
            rtype=RdataType.TXT,
        ),
        _plan(
            f"forged-type-at-alias.{tld}.",
            "a type is denied with the record of an alias, which has it elsewhere (RFC 6840 section 4.3)",
            "F-forged-denial",
            _forge_type_by_itself,
            asked="alias",
        ),
        _plan(
            f"below-dname.{tld}.",
            "a name is denied with the record of a DNAME above it (RFC 6840 section 4.1)",
            "F-ancestor-denial",
            _deny_below_dname,
            asked="www.tree",
        ),
        _plan(
            f"hidden-wildcard.{tld}.",
            "a name that comes from a wildcard is denied without a word of the wildcard",
            "F-hidden-wildcard",
            _without_wildcard_proof,
            asked="zzz.host",
        ),
        _plan(
            f"wildcard-replay.{tld}.",
            "the data of a wildcard are given for a name that has its own",
            "F-wildcard-replay",
            _replay_wildcard,
            asked=REAL,
        ),
        _plan(
            f"ancestor.{tld}.",
            "a name is denied with the parent zone's record of the delegation above it",
            "F-ancestor-denial",
            _deny_from_above,
        ),
        _plan(
            f"ds-denied-below.{tld}.",
            "the DS records are denied with the record at the child zone's apex",
            "F-missing-ds-proof",
            _deny_ds_from_below,
            servers=frozenset({1}),
        ),
    )


def _without_next_closer(scene: Scene) -> dns.message.Message:
    """Prove the closest encloser and the wildcard, but not that there is nothing between."""
    return _without_owners(scene, _zone_of(scene).proof_of_absence(scene.name, wildcard_too=False))


def _without_encloser(scene: Scene) -> dns.message.Message:
    """Leave the record out whose name is the closest encloser's hash: any name above may be one."""
    zone = _zone_of(scene)
    return _without_owners(scene, zone.proof_of_no_type(zone.closest_encloser(scene.name)))


def _without_owners(scene: Scene, records: list[dns.rrset.RRset]) -> dns.message.Message:
    owners = {rrset.name for rrset in records}
    scene.response.authority = [
        rrset
        for rrset in scene.response.authority
        if rrset.name not in owners or RdataType.NSEC3 not in {rrset.rdtype, rrset.covers}
    ]
    return scene.response


def _partial(name: str, what: str, change: Change, asked: str) -> ZonePlan:
    """Make a zone in which one name is denied by a part of its proof.

    The name is one whose proof has three NSEC3 records: one may serve as two.
    """
    misbehaviour = Misbehaviour(name=name.split(".", 1)[0], does=what, change=change)
    case = Case(name=asked, right=BOGUS, denied="name", what=what, item="F-missing-proof-name")
    return ZonePlan(
        name=name,
        what=what,
        chain="nsec3",
        records=USUAL,
        cases=(case,),
        bound=(Bound(misbehaviour, name, frozenset({2}), f"{asked}.{name}"),),
    )


def _fresh(name: str, what: str, change: Change) -> ZonePlan:
    """Make a zone in which every name below `fresh` exists and is denied, so that none need be asked for twice."""

    def below(scene: Scene) -> dns.message.Message | None:
        # What stands between is asked for by resolvers that minimise names (RFC 9156).
        return scene.response if scene.name == dns.name.from_text(f"fresh.{name}") else change(scene)

    misbehaviour = Misbehaviour(name=name.split(".", 1)[0], does=what, change=below)
    return ZonePlan(
        name=name,
        what=what,
        chain="nsec3" if name.endswith(".nsec3.") else "nsec",
        records=(*USUAL, "*.fresh IN A 198.18.2.86"),
        bound=(Bound(misbehaviour, f"fresh.{name}", frozenset({2})),),
    )


PLANS = (
    *_plans("nsec"),
    *_plans("nsec3"),
    # With NSEC, the record that shows that the name is not there shows it of a closer wildcard too, which is all that
    # RFC 4035 section 5.3.4 asks for; RFC 5155 section 8.8 wants the next closer name covered.
    _plan(
        "wildcard-too-far.nsec3.",
        "the data of a wildcard are given for a name that is below another one",
        "F-wildcard-replay",
        _expand_too_far,
        asked=f"below.{REAL}",
    ),
    _partial(
        "no-next-closer.nsec3.",
        "a missing name without the NSEC3 record that covers the next closer name",
        _without_next_closer,
        "absent",
    ),
    _partial(
        "no-encloser.nsec3.",
        "a missing name without the NSEC3 record of the closest encloser",
        _without_encloser,
        "nobody",
    ),
    _fresh("fresh-forged.nsec.", "each name below fresh is denied with the proof for another", _forge_name),
    _fresh("fresh-ancestor.nsec3.", "each name below fresh is denied with the parent zone's proof", _deny_from_above),
)
