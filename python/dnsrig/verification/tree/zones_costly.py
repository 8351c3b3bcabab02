"""Zones that cost a validator much work, bounded so that one without bounds of its own is slow, and not stopped.

KeyTrap (CVE-2023-50387): many keys of one tag, and many signatures that none of them made. NSEC3 (CVE-2023-50868):
names of many labels below a zone with iterations, as many as validators may take for good, and more than any should.
"""

import random

from dns.rdatatype import RdataType

from dnsrig.verification.tree.cases import BOGUS, Case, Status, ZonePlan
from dnsrig.verification.tree.edits import ZoneEdit
from dnsrig.verification.tree.keys import ZoneKey, replaced
from dnsrig.verification.tree.zones_good import USUAL

RSASHA256 = 8
TRAP_KEYS = 80
TRAP_SIGNATURES = 80
TRAP_NAMES = tuple(f"trap{number}" for number in range(12))
"""Each takes TRAP_KEYS x TRAP_SIGNATURES verifications, some tenths of a second, of a validator without bounds."""
MODULUS_AT = 4
"""Where the modulus begins in a DNSKEY record's key (RFC 3110 section 2) with an exponent of three octets."""
DEEP_LABELS = 40
DEEP_NAMES = 6
ENDLESS_LABELS = 105
ENDLESS_NAMES = 12
ENDLESS_ITERATIONS = 2500
"""The most that RFC 5155 section 10.3 knew; no resolver is to follow it (RFC 9276 section 3.2)."""
WORK_NAMES = 12
WORK_ITERATIONS = (0, 50, 150)
"""None, with which others are compared, and the limits that resolvers have had since 2023, and since 2021."""
LONG_SALT = "5a" * 255
"""The longest (RFC 5155 section 3.1.5): a hash of a hash and a salt is then one of five blocks."""
SALT_OCTETS = len(LONG_SALT) // 2
SEED = 50_387


def _colliding(key: ZoneKey, count: int) -> list[ZoneKey]:
    """Make keys with the tag of an RSA key: the tag is a sum of 16-bit words, whose order does not matter."""
    draw = random.Random(SEED)
    octets = key.dnskey.key
    words = [octets[at : at + 2] for at in range(MODULUS_AT, len(octets), 2)]
    made = []
    for _ in range(count):
        inner = words[1:-1]
        draw.shuffle(inner)
        swapped = octets[:MODULUS_AT] + b"".join([words[0], *inner, words[-1]])
        made.append(ZoneKey(key.private, replaced(key.dnskey, key=swapped)))
    return made


def _add_keys(edit: ZoneEdit, count: int) -> None:
    there = [str(rdata) for rdata in edit.rrset(edit.origin, RdataType.DNSKEY)]
    more = [str(key.dnskey) for key in _colliding(edit.keys.zsk, count)]
    edit.put(edit.origin, RdataType.DNSKEY, [*more, *there], 300)
    edit.sign(edit.origin, RdataType.DNSKEY, edit.keys.ksk)


def _collide(edit: ZoneEdit) -> None:
    _add_keys(edit, 1)


def _trap(edit: ZoneEdit) -> None:
    _add_keys(edit, TRAP_KEYS)
    draw = random.Random(SEED)
    for name in map(edit.name, TRAP_NAMES):
        right = edit.signatures(name, RdataType.A)[0]
        drawn = [b"\x01" + draw.randbytes(len(right.signature) - 1) for _ in range(TRAP_SIGNATURES)]
        edit.put_signatures(name, [replaced(right, signature=signature) for signature in drawn])


def _deep(name: str, item: str, *, iterations: int, salt: str, labels: int, names: int) -> ZonePlan:
    """Give a zone whose denials take a validator `iterations` hashes for each label of the name."""
    salted = " and the longest salt" if salt else ""
    return ZonePlan(
        name=name,
        what=f"NSEC3 of {iterations} iterations{salted}, asked for names of many labels",
        chain="nsec3",
        iterations=iterations,
        salt=salt,
        records=USUAL,
        cases=tuple(
            Case(
                name=".".join(["x"] * labels + [f"deep{number}"]),
                right=(Status.SECURE, Status.INSECURE, Status.BOGUS),
                denied="name",
                what=f"a missing name of {labels} labels, NSEC3 of {iterations} iterations",
                item=item,
            )
            for number in range(names)
        ),
    )


PLANS = (
    ZonePlan(
        name="collision.nsec.",
        what="two keys have the same tag, and one of them signed",
        algorithm=RSASHA256,
        records=USUAL,
        edit=_collide,
        cases=(
            # RFC 4035 section 5.3.1 has validators try both; limits against KeyTrap may be as low as one failure.
            Case(name="www", right=(Status.SECURE, Status.BOGUS), what="two keys of one tag", item=""),
        ),
    ),
    ZonePlan(
        name="keytrap.nsec.",
        what=f"{TRAP_KEYS + 1} keys of one tag, and {TRAP_SIGNATURES} signatures that none of them made",
        algorithm=RSASHA256,
        records=tuple(f"{name} IN A 198.18.2.86" for name in TRAP_NAMES),
        edit=_trap,
        cases=tuple(
            Case(name=name, right=BOGUS, what="many keys of one tag and many wrong signatures", item="F-keytrap")
            for name in TRAP_NAMES
        ),
    ),
    _deep("deep.nsec3.", "F-nsec3-cost", iterations=150, salt="", labels=DEEP_LABELS, names=DEEP_NAMES),
    _deep(
        f"deep-{ENDLESS_ITERATIONS}.nsec3.",
        "F-nsec3-cost",
        iterations=ENDLESS_ITERATIONS,
        salt=LONG_SALT,
        labels=ENDLESS_LABELS,
        names=ENDLESS_NAMES,
    ),
    *(
        _deep(
            f"work-{iterations}.nsec3.",
            "F-nsec3-work",
            iterations=iterations,
            salt=LONG_SALT,
            labels=DEEP_LABELS,
            names=WORK_NAMES,
        )
        for iterations in WORK_ITERATIONS
    ),
)
