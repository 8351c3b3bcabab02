"""Zones that are right, with denials as servers make them that sign while they answer: each covers one name alone.

The records are made beforehand, for the names that are asked for.
"""

import base64
from collections.abc import Iterable

import dns.dnssec
import dns.name
from dns.rdatatype import RdataType

from dnsrig.verification.tree.cases import Case, ZonePlan
from dnsrig.verification.tree.edits import ZoneEdit

COMPACT, MINIMAL, NARROW = "compact.nsec.", "minimal.nsec.", "narrow.nsec3."
ITEM = "F-online-denial"
ABSENT = ("absent", "zzz")
BEFORE = {"absent": "absens", "zzz": "zzy", "*": "\\)"}
"""Names right before those that are denied (RFC 4470 section 3.1)."""
EMPTY = "empty"
NXNAME = "TYPE128"
"""Says that the name does not exist (RFC 9824 section 3.1)."""
HASH_OCTETS = 20
RECORDS = ("www IN A 198.18.2.80", "www IN AAAA 2001:2::80", "leaf.empty IN A 198.18.2.82")


def _put(edit: ZoneEdit, owner: dns.name.Name, rtype: RdataType, text: str) -> None:
    edit.put(owner, rtype, [text], 60)
    edit.sign(owner, rtype)


def _compact(edit: ZoneEdit) -> None:
    """Let each name, also one that does not exist, have a record that ends right behind it (RFC 9824 section 3)."""
    types = {name: edit.nsec_types(name) for name in edit.owners(RdataType.NSEC)}
    types |= {edit.name(name): f"RRSIG NSEC {NXNAME}" for name in ABSENT}
    types[edit.name(EMPTY)] = "RRSIG NSEC"
    for name, words in types.items():
        _put(edit, name, RdataType.NSEC, f"\\000.{name} {words}")


def _minimal(edit: ZoneEdit) -> None:
    """Cover each name that does not exist alone (RFC 4470 section 3)."""
    for name in edit.owners(RdataType.NSEC):
        _put(edit, name, RdataType.NSEC, f"\\000.{name} {edit.nsec_types(name)}")
    for denied, before in BEFORE.items():
        behind = edit.name("+" if denied == "*" else f"{denied}-")
        _put(edit, edit.name(before), RdataType.NSEC, f"{behind} RRSIG NSEC")
    _put(edit, edit.name("empts"), RdataType.NSEC, f"{edit.name('leaf.empty')} RRSIG NSEC")


def _narrow(edit: ZoneEdit) -> None:
    """Cover each hash that is not there alone (RFC 7129 appendix B)."""
    for owner in edit.owners(RdataType.NSEC3):
        words = str(edit.rrset(owner, RdataType.NSEC3)[0]).split()
        hashed = _number(owner.labels[0].decode().upper())
        _put(edit, owner, RdataType.NSEC3, " ".join([*words[:4], _text(hashed + 1), *words[5:]]))
    for name in (*ABSENT, "*"):
        hashed = _number(dns.dnssec.nsec3_hash(edit.name(name), b"", 0, 1))
        _put(edit, edit.name(_text(hashed - 1)), RdataType.NSEC3, f"1 0 0 - {_text(hashed + 1)}")


def _number(text: str) -> int:
    """Read a hash in base32hex (RFC 4648 section 7), as in names of NSEC3 records."""
    return int.from_bytes(base64.b32hexdecode(text))


def _text(number: int) -> str:
    return base64.b32hexencode(number.to_bytes(HASH_OCTETS)).decode()


def _cases(how: str, *, absent: str = "name") -> Iterable[Case]:
    for name in ABSENT:
        yield Case(name=name, denied=absent, what=f"a missing name, {how}", item=ITEM)  # type: ignore[arg-type]
    yield Case(name="www", rtype=RdataType.MX, denied="type", what=f"a missing type, {how}", item=ITEM)
    yield Case(name=EMPTY, denied="type", what=f"an empty non-terminal, {how}", item=ITEM)
    yield Case(name="www", what=f"an address beside names that are denied {how}", item=ITEM)


PLANS = (
    ZonePlan(
        name=COMPACT,
        what="right, with compact denial (RFC 9824)",
        records=RECORDS,
        edit=_compact,
        cases=tuple(_cases("by compact denial", absent="type")),
    ),
    ZonePlan(
        name=MINIMAL,
        what="right, with NSEC records that cover hardly more than a name (RFC 4470)",
        records=RECORDS,
        edit=_minimal,
        cases=tuple(_cases("by minimally covering NSEC records")),
    ),
    ZonePlan(
        name=NARROW,
        what="right, with NSEC3 records that cover hardly more than a hash (RFC 7129 appendix B)",
        chain="nsec3",
        records=RECORDS,
        edit=_narrow,
        cases=tuple(_cases("by narrow NSEC3 records")),
    ),
)
