"""Zones that are right, whose servers are not: one of two, or all."""

import time

import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rrset
from dns.rdatatype import RdataType

from dnsrig.verification.tree.cases import INSECURE, SECURE, Case, ZonePlan
from dnsrig.verification.tree.misbehaviour import Bound, Misbehaviour, Scene
from dnsrig.verification.tree.zones_good import USUAL

SLOW_S = 1.0


def _wrong_id(wire: bytes) -> bytes:
    return bytes([wire[0] ^ 0xFF, wire[1]]) + wire[2:]


def _wrong_question(scene: Scene) -> dns.message.Message:
    for rrset in scene.response.question:
        rrset.name = dns.name.Name([b"other", *rrset.name.labels[1:]])
    return scene.response


def _refuse(scene: Scene) -> dns.message.Message:
    scene.response.answer, scene.response.authority, scene.response.additional = [], [], []
    scene.response.flags &= ~dns.flags.AA
    scene.response.set_rcode(dns.rcode.REFUSED)
    return scene.response


def _servfail(scene: Scene) -> dns.message.Message:
    _refuse(scene).set_rcode(dns.rcode.SERVFAIL)
    return scene.response


def _refer_upwards(scene: Scene) -> dns.message.Message:
    _refuse(scene).set_rcode(dns.rcode.NOERROR)
    root = dns.name.root
    scene.response.authority = scene.zones[root].rrset(root, RdataType.NS, signed=False)
    return scene.response


def _stay_silent(_: Scene) -> None:
    return None


def _drop_edns(scene: Scene) -> dns.message.Message | None:
    return None if scene.query.edns >= 0 else scene.response


def _formerr_edns(scene: Scene) -> dns.message.Message:
    if scene.query.edns < 0:
        return scene.response
    _refuse(scene).set_rcode(dns.rcode.FORMERR)
    scene.response.use_edns(False)
    return scene.response


def _strip_opt(scene: Scene) -> dns.message.Message:
    scene.response.use_edns(False)
    return scene.response


def _truncate(scene: Scene) -> dns.message.Message:
    if scene.transport == "udp":
        scene.response.answer, scene.response.authority, scene.response.additional = [], [], []
        scene.response.flags |= dns.flags.TC
    return scene.response


def _strip_signatures(scene: Scene) -> dns.message.Message:
    for section in (scene.response.answer, scene.response.authority):
        section[:] = [rrset for rrset in section if rrset.rdtype != RdataType.RRSIG]
    return scene.response


def _strip_proofs(scene: Scene) -> dns.message.Message:
    scene.response.authority = [
        rrset
        for rrset in scene.response.authority
        if not {rrset.rdtype, rrset.covers} & {RdataType.NSEC, RdataType.NSEC3}
    ]
    return scene.response


def _serve_stale(scene: Scene) -> dns.message.Message:
    """Give the signatures that a secondary has which has not been updated for weeks, with an old serial."""
    now_s = int(time.time())
    for section in (scene.response.answer, scene.response.authority):
        for place, rrset in enumerate(section):
            if rrset.rdtype == RdataType.RRSIG:
                old = [one.replace(inception=now_s - 1_209_600, expiration=now_s - 604_800) for one in rrset]
                section[place] = dns.rrset.from_rdata_list(rrset.name, rrset.ttl, old)
            elif rrset.rdtype == RdataType.SOA:
                section[place] = dns.rrset.from_rdata_list(rrset.name, rrset.ttl, [rrset[0].replace(serial=0)])
    return scene.response


def _raise_case(wire: bytes) -> bytes:
    """Give owner names in upper case, the question as it was asked; without compression, which would hide the case."""
    message = dns.message.from_wire(wire)
    out = wire[: 12 + len(message.question[0].name.to_wire() or b"") + 4]
    opt = [message.opt] if message.opt is not None else []
    for rrset in (*message.answer, *message.authority, *message.additional, *opt):
        owner = dns.name.Name([label.upper() for label in rrset.name.labels]).to_wire() or b""
        # The TTL field of OPT is flags, the class a size (RFC 6891 section 6.1.2).
        rdclass = rrset[0].payload if rrset.rdtype == RdataType.OPT else rrset.rdclass
        fixed = int(rrset.rdtype).to_bytes(2) + int(rdclass).to_bytes(2) + rrset.ttl.to_bytes(4)
        for rdata in rrset:
            data = rdata.to_wire() or b""
            out += owner + fixed + len(data).to_bytes(2) + data
    return out


def _lower_question(scene: Scene) -> dns.message.Message:
    for rrset in scene.response.question:
        rrset.name = rrset.name.canonicalize()
    return scene.response


def _servfail_or_refuse(scene: Scene) -> dns.message.Message:
    return _servfail(scene) if scene.name.labels[0].startswith(b"servfail") else _refuse(scene)


_DROPS_EDNS = Misbehaviour(name="drops-edns", does="drops queries with EDNS", change=_drop_edns)
ONE_OF_TWO = (
    Misbehaviour(name="wrong-id", does="answers with another ID", mangle=_wrong_id),
    Misbehaviour(name="wrong-question", does="answers another question", change=_wrong_question),
    Misbehaviour(name="lame", does="refuses the zone that it is delegated", change=_refuse),
    Misbehaviour(name="servfail", does="answers with SERVFAIL", change=_servfail),
    Misbehaviour(name="lame-upwards", does="refers to the root", change=_refer_upwards),
    Misbehaviour(name="silent", does="does not answer", change=_stay_silent, refuses_tcp=True),
    Misbehaviour(name="strips-signatures", does="leaves RRSIG records out", change=_strip_signatures),
    Misbehaviour(name="strips-proofs", does="leaves NSEC records out", change=_strip_proofs),
    Misbehaviour(name="stale", does="is a secondary with signatures that have expired", change=_serve_stale),
    _DROPS_EDNS,
    Misbehaviour(name="truncates-no-tcp", does="truncates by UDP and has no TCP", change=_truncate, refuses_tcp=True),
)
"""Each is the second server of a zone whose first one is right."""
ALL_SERVERS = (
    (Misbehaviour(name="truncates", does="truncates every response by UDP", change=_truncate), "F-tcp-upstream"),
    (Misbehaviour(name="mixed-case", does="gives owner names in upper case", mangle=_raise_case), "F-answer-case"),
)
SLOW = Misbehaviour(name="slow", does=f"answers after {SLOW_S:g} s", delay_s=SLOW_S)
LOWER_CASES = Misbehaviour(name="lower-cases", does="gives the question back in lower case", change=_lower_question)
"""The server of an unsigned zone: what protects the data is not DNSSEC."""
WITHOUT_EDNS = (
    Misbehaviour(name="no-edns-formerr", does="answers queries with EDNS with FORMERR", change=_formerr_edns),
    Misbehaviour(name="no-opt", does="leaves the OPT record out", change=_strip_opt),
)
"""Servers of unsigned zones: what they do rules DNSSEC out."""
DEAD = Misbehaviour(name="dead", does="does not answer", change=_stay_silent, refuses_tcp=True)
FAILS = Misbehaviour(name="fails", does="answers with REFUSED or SERVFAIL", change=_servfail_or_refuse)
ONE_RIGHT, WRONG = 2, 3
"""The addresses of the right and of the wrong server, where one of two is wrong."""
NO_EDNS, SILENT = 5, 6
"""The addresses of servers without EDNS, and of those that do not answer.

Resolvers remember of an address that it has no EDNS, or does not answer: zones that are right must not have it.
"""


def _plan(
    misbehaviour: Misbehaviour, parent: str, servers: tuple[int, ...], wrong: frozenset[int], item: str = ""
) -> ZonePlan:
    zone = f"{misbehaviour.name}.{parent}."
    which = "one of its servers" if len(servers) > len(wrong) else "its server"
    what = f"{which} {misbehaviour.does}"
    signed = parent == "nsec"
    return ZonePlan(
        name=zone,
        what=what,
        chain="nsec" if signed else "",
        records=("*.fresh IN A 198.18.2.85", *USUAL),
        servers=servers,
        cases=(Case(name="www", right=SECURE if signed else INSECURE, what=what, item=item),),
        bound=(Bound(misbehaviour, zone, wrong),),
    )


PLANS = (
    *(_plan(one, "nsec", (ONE_RIGHT, WRONG), frozenset({WRONG})) for one in ONE_OF_TWO),
    *(_plan(one, "nsec", (2,), frozenset({2}), item) for one, item in ALL_SERVERS),
    _plan(SLOW, "nsec", (2,), frozenset({2}), "F-slow-server"),
    _plan(LOWER_CASES, "unsigned", (2,), frozenset({2}), "F-answer-case"),
    *(_plan(one, "unsigned", (NO_EDNS,), frozenset({NO_EDNS}), "F-edns-upstream") for one in WITHOUT_EDNS),
    ZonePlan(
        name="no-edns-drop.unsigned.",
        # Since 2019 resolvers do not try without EDNS any more where nothing comes back (DNS flag day 2019).
        what="its server drops queries with EDNS",
        chain="",
        records=USUAL,
        servers=(NO_EDNS,),
        bound=(Bound(_DROPS_EDNS, "no-edns-drop.unsigned.", frozenset({NO_EDNS})),),
    ),
    ZonePlan(
        name="fails.unsigned.",
        what="its server answers with REFUSED, or SERVFAIL for names that begin so",
        chain="",
        bound=(Bound(FAILS, "fails.unsigned.", frozenset({2})),),
    ),
    ZonePlan(
        name="dead.nsec.",
        what="no server answers",
        records=USUAL,
        servers=(SILENT,),
        bound=(Bound(DEAD, "dead.nsec.", frozenset({SILENT})),),
    ),
)
