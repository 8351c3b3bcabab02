"""What the tree is described by: zones, and the questions in them with what a right validator answers."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

import dns.name
from dns.rdatatype import RdataType

from dnsrig.dates import DAY_S
from dnsrig.verification.tree.misbehaviour import Bound

if TYPE_CHECKING:
    from dnsrig.verification.tree.edits import ZoneEdit
    from dnsrig.verification.tree.keys import ZoneKeys

VALIDITY_S = (-3600, 14 * DAY_S)
"""Inception and expiration of signatures that are right, from now."""


class Status(StrEnum):
    """What a validator finds an RRset, or its absence, to be (RFC 4033 section 5)."""

    SECURE = "secure"
    INSECURE = "insecure"
    BOGUS = "bogus"


SECURE = (Status.SECURE,)
INSECURE = (Status.INSECURE,)
BOGUS = (Status.BOGUS,)
BOGUS_OR_INSECURE = (Status.BOGUS, Status.INSECURE)
"""What is wrong by algorithms or digest types that validators need not have."""
SECURE_OR_INSECURE = (Status.SECURE, Status.INSECURE)
"""Where RFCs leave it to validators whether they support something."""


@dataclass(frozen=True, slots=True)
class Deviation:
    """What a real resolver answers otherwise."""

    server: str
    """The driver's name, such as `unbound`."""
    versions: str
    """A regular expression of the versions that do so."""
    gives: Status
    reason: str
    """In words that go on after a colon."""

    @property
    def sentence(self) -> str:
        """The reason as a sentence."""
        return f"{self.reason[0].upper()}{self.reason[1:]}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A question to a resolver, and what a right validator finds."""

    name: str
    """Below the zone, as in a zone file; `@` is the apex; with a final dot, the whole name."""
    rtype: RdataType = RdataType.A
    right: tuple[Status, ...] = SECURE
    what: str
    """What is asked for and what is wrong with it, in words that go on after a colon."""
    item: str = ""
    """The id of the resolver item that asks it."""
    denied: Literal["", "name", "type"] = ""
    """Whether the right response says that the name, or the type, does not exist."""
    known: tuple[Deviation, ...] = ()
    beside: str = ""
    """A whole name whose data are right in the same way: who finds that one secure must find this one bogus."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ZonePlan:
    """A zone of the tree: its records, how it is signed, and what is then made wrong."""

    name: str
    """With its final dot."""
    what: str
    records: Sequence[str] = ()
    """Lines of a zone file besides SOA, NS and the name servers' addresses."""
    chain: Literal["", "nsec", "nsec3", "opt-out"] = "nsec"
    """"" is unsigned."""
    algorithm: int = 13
    iterations: int = 0
    salt: str = ""
    """In hexadecimal."""
    validity_s: tuple[int, int] = VALIDITY_S
    ds: "Callable[[ZoneKeys, dns.name.Name], Sequence[str]] | None" = None
    """Gives the DS records' data in the parent zone; None: one by SHA-256 where the zone is signed."""
    edit: "Callable[[ZoneEdit], None] | None" = None
    """What is changed in the signed zone."""
    parent_edit: "Callable[[ZoneEdit, dns.name.Name], None] | None" = None
    """What is changed at the zone's name in its signed parent zone."""
    minimum_s: int = 60
    """The last field of its SOA record: how long denials may be kept (RFC 2308 section 4); its own TTL is longer."""
    servers: tuple[int, ...] = (2,)
    """Indices of the tree's addresses that serve it: 0 is the root's, 1 that of the TLDs, and so on."""
    cases: tuple[Case, ...] = ()
    bound: tuple[Bound, ...] = ()
    """What its servers, or those of its parent zone, do wrong."""

    @property
    def origin(self) -> dns.name.Name:
        """The zone's name."""
        return dns.name.from_text(self.name)


@dataclass(frozen=True, slots=True)
class TableRow:
    """A line of the table of the tree: a case with its whole name and its zone."""

    zone: ZonePlan
    case: Case

    @property
    def name(self) -> dns.name.Name:
        """What is asked for."""
        return dns.name.from_text(self.case.name, self.zone.origin) if self.case.name != "@" else self.zone.origin

    def known_status(self, server: str, version: str) -> Deviation | None:
        """Give what is known of a resolver that answers otherwise."""
        return next((one for one in self.case.known if one.server == server and re.match(one.versions, version)), None)
