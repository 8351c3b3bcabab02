"""The tables of algorithms, digests and NSEC3 iterations."""

from collections.abc import Callable, Mapping
from typing import Literal

import dns.name
from dns.dnssectypes import Algorithm
from dns.rdatatype import RdataType

from dnsrig.verification.tree.cases import (
    BOGUS,
    BOGUS_OR_INSECURE,
    INSECURE,
    SECURE,
    SECURE_OR_INSECURE,
    Case,
    Deviation,
    Status,
    ZonePlan,
)
from dnsrig.verification.tree.edits import ZoneEdit
from dnsrig.verification.tree.keys import ZoneKeys
from dnsrig.verification.tree.zones_good import USUAL

DsMaker = Callable[[ZoneKeys, dns.name.Name], list[str]]
UNKNOWN_ALGORITHM = 200
UNKNOWN_DIGEST = 200
ALGORITHMS: tuple[tuple[int, tuple[Status, ...]], ...] = (
    # RFC 9904 keeps RFC 8624's lists in IANA's registries. DSA MUST NOT be validated; RFC 9905 wants SHA-1 validated as
    # long as it is in use, and lets systems without it take such zones for insecure.
    (Algorithm.DSA, SECURE_OR_INSECURE),
    (Algorithm.RSASHA1, SECURE_OR_INSECURE),
    (Algorithm.RSASHA1NSEC3SHA1, SECURE_OR_INSECURE),
    # MUST be implemented for validation.
    (Algorithm.RSASHA256, SECURE),
    (Algorithm.RSASHA512, SECURE),
    (Algorithm.ECDSAP256SHA256, SECURE),
    # RECOMMENDED (F-algorithms-advised).
    (Algorithm.ECDSAP384SHA384, SECURE_OR_INSECURE),
    (Algorithm.ED25519, SECURE_OR_INSECURE),
    (Algorithm.ED448, SECURE_OR_INSECURE),
)
DIGESTS = {1: "SHA-1", 2: "SHA-256", 4: "SHA-384"}
CROSSED = tuple(
    (int(number), digest)
    for number in (Algorithm.RSAMD5, *(number for number, _ in ALGORITHMS))
    if number != Algorithm.ECDSAP256SHA256
    for digest in (1, 4)
)
"""Algorithms with the digest types that are not the usual one; of algorithm 13 there are zones of their own."""
SUPPORT: Mapping[str, tuple[int, int]] = {
    f"www.algorithm-{int(Algorithm.RSAMD5)}.nsec.": (int(Algorithm.RSAMD5), 2),
    **{f"www.algorithm-{number}.nsec.": (int(number), 2) for number, _ in ALGORITHMS},
    **{f"www.digest-{digest}.nsec.": (int(Algorithm.ECDSAP256SHA256), digest) for digest in DIGESTS},
    **{f"www.algorithm-{number}-digest-{digest}.nsec.": (number, digest) for number, digest in CROSSED},
}
"""Names of the table that tell which algorithm and digest type a resolver has."""
UNSUPPORT: Mapping[str, str] = {
    **{f"www.algorithm-{number}.nsec.": f"changed.algorithm-{number}.nsec." for number, _ in ALGORITHMS},
    **{f"www.digest-{digest}.nsec.": f"www.digest-{digest}-wrong.nsec." for digest in (1, 4)},
}
"""Names of SUPPORT, with one whose signature, or whose DS record's digest, is wrong by the same algorithm or type."""
ITERATIONS = (0, 50, 100, 150, 500, 2500)
ANY_STATUS = (Status.SECURE, Status.INSECURE, Status.BOGUS)
"""RFC 9276 section 3.2: any count above 0 may be treated as insecure, or answered with SERVFAIL."""
LONG_SALT = "0123456789abcdef" * 4


def _item_of(right: tuple[Status, ...]) -> str:
    return "F-algorithms-required" if right == SECURE else "F-algorithms-optional"


def _chain(number: int) -> Literal["nsec", "nsec3"]:
    """Give algorithm 7 the chain that its name is of."""
    return "nsec3" if number == Algorithm.RSASHA1NSEC3SHA1 else "nsec"


def _change(edit: ZoneEdit) -> None:
    """Change the data, so that their signature is well-formed and wrong."""
    edit.put(edit.name("changed"), RdataType.A, ["198.18.2.66"])


def _algorithm(number: int, right: tuple[Status, ...]) -> ZonePlan:
    what = f"signed by algorithm {number} ({Algorithm(number).name})"
    changed = Case(
        name="changed",
        right=BOGUS if right == SECURE else BOGUS_OR_INSECURE,
        what=f"changed after signing by algorithm {number} ({Algorithm(number).name})",
        item="F-bad-signature",
        beside="" if right == SECURE else f"www.algorithm-{number}.nsec.",
    )
    return ZonePlan(
        name=f"algorithm-{number}.nsec.",
        what=what,
        algorithm=number,
        chain=_chain(number),
        records=(*USUAL, "changed IN A 198.18.2.85"),
        edit=_change,
        cases=(Case(name="www", right=right, what=what, item=_item_of(right)), changed),
    )


def _unknown(number: int, what: str) -> ZonePlan:
    return ZonePlan(
        name=f"algorithm-{number}.nsec.",
        what=what,
        algorithm=number,
        records=USUAL,
        cases=(Case(name="www", right=INSECURE, what=what, item="F-algorithms-unknown"),),
    )


def _two_algorithms(keys: ZoneKeys, origin: dns.name.Name) -> list[str]:
    tag, _, digest, octets = keys.ds(origin)[0].split()
    return [*keys.ds(origin), f"{int(tag) ^ 1} {UNKNOWN_ALGORITHM} {digest} {octets}"]


def _digest_only(number: int) -> DsMaker:
    def made(keys: ZoneKeys, origin: dns.name.Name) -> list[str]:
        if number in {1, 2, 4}:
            return keys.ds(origin, (number,))
        words = keys.ds(origin)[0].split()
        return [" ".join([*words[:2], str(number), words[3]])]

    return made


def _with_unknown_digest(keys: ZoneKeys, origin: dns.name.Name) -> list[str]:
    return [*_digest_only(UNKNOWN_DIGEST)(keys, origin), *keys.ds(origin)]


def _sha1_right_sha256_wrong(keys: ZoneKeys, origin: dns.name.Name) -> list[str]:
    words = keys.ds(origin)[0].split()
    return [*keys.ds(origin, (1,)), " ".join([*words[:3], "0" * 8 + words[3][8:]])]


def _digest(
    name: str, what: str, right: tuple[Status, ...], ds: DsMaker, item: str, *, known: tuple[Deviation, ...] = ()
) -> ZonePlan:
    case = Case(name="www", right=right, what=what, item=item, known=known)
    return ZonePlan(name=name, what=what, records=USUAL, ds=ds, cases=(case,))


def _wrong_digest(number: int) -> ZonePlan:
    def made(keys: ZoneKeys, origin: dns.name.Name) -> list[str]:
        words = keys.ds(origin, (number,))[0].split()
        return [" ".join([*words[:3], "0" * 8 + words[3][8:]])]

    what = f"the digest of the DS record by {DIGESTS[number]} is wrong"
    case = Case(
        name="www", right=BOGUS_OR_INSECURE, what=what, item="F-ds-mismatch", beside=f"www.digest-{number}.nsec."
    )
    return ZonePlan(name=f"digest-{number}-wrong.nsec.", what=what, records=USUAL, ds=made, cases=(case,))


def _crossed(number: int, digest: int) -> ZonePlan:
    what = f"signed by algorithm {number} ({Algorithm(number).name}), with a DS record by {DIGESTS[digest]}"
    # RFC 8624 section 3.1: RSAMD5 must not be validated.
    right, item = (
        (INSECURE, "F-algorithms-unknown") if number == Algorithm.RSAMD5 else (SECURE_OR_INSECURE, "F-digests")
    )
    return ZonePlan(
        name=f"algorithm-{number}-digest-{digest}.nsec.",
        what=what,
        algorithm=number,
        chain=_chain(number),
        records=USUAL,
        ds=_digest_only(digest),
        cases=(Case(name="www", right=right, what=what, item=item),),
    )


def _iterations(count: int) -> ZonePlan:
    what = f"signed with NSEC3 of {count} iterations"
    right = SECURE if count == 0 else ANY_STATUS
    item = "F-iterations"
    return ZonePlan(
        name=f"iterations-{count}.nsec3.",
        what=what,
        chain="nsec3",
        iterations=count,
        records=USUAL,
        cases=(
            Case(name="absent", right=right, denied="name", what=f"a missing name, {what}", item=item),
            Case(name="www", rtype=RdataType.MX, right=right, denied="type", what=f"a missing type, {what}", item=item),
        ),
    )


PLANS = (
    *(_algorithm(number, right) for number, right in ALGORITHMS),
    _unknown(Algorithm.RSAMD5, "signed by algorithm 1 (RSAMD5), which must not be used"),
    _unknown(UNKNOWN_ALGORITHM, f"signed by algorithm {UNKNOWN_ALGORITHM}, which nobody knows"),
    *(_crossed(number, digest) for number, digest in CROSSED),
    _digest(
        "algorithms-mixed.nsec.",
        f"DS records of algorithms {UNKNOWN_ALGORITHM} and 13, of which the second is right",
        SECURE,
        _two_algorithms,
        "F-algorithms-mixed",
    ),
    _digest("digest-1.nsec.", "a DS record by SHA-1", SECURE_OR_INSECURE, _digest_only(1), "F-digests"),
    _digest("digest-2.nsec.", "a DS record by SHA-256", SECURE, _digest_only(2), "F-digests"),
    _digest("digest-4.nsec.", "a DS record by SHA-384", SECURE_OR_INSECURE, _digest_only(4), "F-digests"),
    _wrong_digest(1),
    _wrong_digest(4),
    _digest(
        f"digest-{UNKNOWN_DIGEST}.nsec.",
        f"a DS record by digest type {UNKNOWN_DIGEST}, which nobody knows",
        INSECURE,
        _digest_only(UNKNOWN_DIGEST),
        "F-digests-unknown",
    ),
    _digest(
        "digests-mixed.nsec.",
        f"DS records by digest types {UNKNOWN_DIGEST} and 2, of which the second is right",
        SECURE,
        _with_unknown_digest,
        "F-digests",
    ),
    _digest(
        "digest-downgrade.nsec.",
        "a DS record by SHA-1 that is right beside one by SHA-256 that is wrong",
        BOGUS,
        _sha1_right_sha256_wrong,
        "F-digest-downgrade",
        known=(
            Deviation(
                "unbound",
                r"1\.",
                Status.SECURE,
                "harden-algo-downgrade is off as it ships: any DS record that matches is taken",
            ),
        ),
    ),
    *(_iterations(count) for count in ITERATIONS),
    ZonePlan(
        name="salted.nsec3.",
        what="signed with NSEC3 and a salt of 32 octets",
        chain="nsec3",
        salt=LONG_SALT,
        records=USUAL,
        cases=(
            Case(name="absent", denied="name", what="a missing name, NSEC3 with a salt of 32 octets", item="F-salt"),
        ),
    ),
)
