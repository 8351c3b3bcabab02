"""Faults of resolvers in single checks of signatures, keys and DS records, with a right resolver behind the relay.

Each takes for good what one missing check lets pass, and keeps all else that is bogus back.
"""

from collections.abc import Callable, Collection, Iterable, Sequence

import dns.flags
from dns.dnssectypes import Algorithm
from dns.rdatatype import RdataType

from dnsrig.verification.faults.fault import Change, Fault, Passage, unchanged_if_unreadable, wire_of
from dnsrig.verification.faults.resolvers import BURDENS
from dnsrig.verification.tree.cases import BOGUS, Status, TableRow
from dnsrig.verification.tree.plan import PLANS

CHAINS = ("nsec", "nsec3")
RSA = (Algorithm.RSASHA1, Algorithm.RSASHA1NSEC3SHA1, Algorithm.RSASHA256, Algorithm.RSASHA512)


def _accepting(wanted: Callable[[TableRow], bool], *, ad: bool, transport: str = "") -> tuple[Change, Change]:
    """Give the changes of query and response by which bogus answers to these questions are taken for good.

    `transport` is the one that clients ask by; "" is each.
    """
    rows = [TableRow(plan, case) for plan in PLANS for case in plan.cases]
    chosen = frozenset((row.name, row.case.rtype) for row in rows if Status.BOGUS in row.case.right and wanted(row))

    def is_chosen(passage: Passage) -> bool:
        asked = passage.asked.question
        by_it = not transport or passage.transport == transport
        return by_it and bool(asked) and (asked[0].name, asked[0].rdtype) in chosen

    def on_query(passage: Passage) -> bytes:
        asked = passage.asked
        if not is_chosen(passage):
            return passage.query
        asked.flags |= dns.flags.CD
        return wire_of(asked)

    def on_response(passage: Passage) -> bytes:
        answer = passage.answer
        if not is_chosen(passage):
            return passage.response
        if not passage.asked.flags & dns.flags.CD:
            answer.flags &= ~dns.flags.CD
            answer.flags |= dns.flags.AD if ad else 0
        return wire_of(answer)

    return unchanged_if_unreadable(on_query), unchanged_if_unreadable(on_response)


def _in_zones(zones: Collection[str]) -> Callable[[TableRow], bool]:
    return lambda row: row.zone.name in zones


def _is_bogus(row: TableRow) -> bool:
    return row.case.right == BOGUS and row.case.item not in BURDENS


def _both(zone: str) -> Sequence[str]:
    return [f"{zone}.{chain}." for chain in CHAINS]


def _algorithms(*numbers: int) -> Sequence[str]:
    return [f"algorithm-{int(number)}.nsec." for number in numbers]


_ACCEPTED: tuple[tuple[str, str, Sequence[str], bool], ...] = (
    ("takes-any-rsa-signature", "takes every signature by RSA for right", _algorithms(*RSA), True),
    (
        "takes-any-p384-signature",
        "takes every signature by ECDSA P-384 for right",
        _algorithms(Algorithm.ECDSAP384SHA384),
        True,
    ),
    (
        "takes-any-ed25519-signature",
        "takes every signature by Ed25519 for right",
        _algorithms(Algorithm.ED25519),
        True,
    ),
    ("takes-any-ed448-signature", "takes every signature by Ed448 for right", _algorithms(Algorithm.ED448), True),
    ("takes-any-sha1-digest", "takes every digest by SHA-1 in a DS record for right", ["digest-1-wrong.nsec."], True),
    (
        "takes-any-sha384-digest",
        "takes every digest by SHA-384 in a DS record for right",
        ["digest-4-wrong.nsec."],
        True,
    ),
    (
        "trusts-keys-unverified",
        "trusts all keys beside one that a DS record vouches for, whatever their signature",
        ["keys-changed.nsec."],
        True,
    ),
    (
        "trusts-keys-signed-by-others",
        "trusts keys that any of them has signed, if a DS record vouches for one",
        ["keys-by-zsk.nsec."],
        True,
    ),
    ("takes-unverified-ds", "does not verify the signatures of DS records", _both("ds-spoiled"), True),
    ("takes-expired-ds", "does not look when the signatures of DS records end", _both("ds-expired"), True),
    ("takes-expired-proofs", "does not look when the signatures of denials end", _both("expired-proofs"), True),
    ("takes-expired-aliases", "does not look when the signatures of aliases end", ["expired-aliases.nsec."], True),
    (
        "needs-no-next-closer",
        "takes denials without the record that covers the next closer name",
        ["no-next-closer.nsec3."],
        True,
    ),
    (
        "needs-no-encloser",
        "takes denials without the record of the closest encloser",
        ["no-encloser.nsec3."],
        True,
    ),
    (
        "reads-unknown-nsec3",
        "takes NSEC3 records of a hash algorithm that nobody has defined for proof",
        ["unknown-hash.nsec3."],
        True,
    ),
    (
        "takes-unverified-ds-denial",
        "does not verify the signatures of denials of DS records",
        _both("unproven-spoiled"),
        False,
    ),
)


def _faults() -> Iterable[Fault]:
    for name, does, zones, ad in _ACCEPTED:
        changes = _accepting(_in_zones(zones), ad=ad)
        yield Fault(name=name, does=does, roles=("resolver",), on_query=changes[0], on_response=changes[1])
    changes = _accepting(lambda row: _is_bogus(row) and row.case.rtype == RdataType.AAAA, ad=False)
    yield Fault(
        name="believes-ipv6-addresses",
        does="gives AAAA records that are bogus",
        roles=("resolver",),
        on_query=changes[0],
        on_response=changes[1],
    )
    changes = _accepting(_is_bogus, ad=False, transport="tcp")
    yield Fault(
        name="believes-by-tcp",
        does="gives what is bogus for queries by TCP",
        roles=("resolver",),
        on_query=changes[0],
        on_response=changes[1],
    )


FAULTS = tuple(_faults())
