"""Names that items about any signed tree ask for: the rig's, or what is known of a tree of the user's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import dns.name
from dns.rdatatype import RdataType

from dnsrig.verification.queries import Query
from dnsrig.verification.tree.cases import TableRow

CONTROL = dns.name.from_text("www.control.nsec.")
"""A secure name of the rig's tree that no item is about."""
UNSIGNED = dns.name.from_text("www.control.unsigned.")


@dataclass(frozen=True, slots=True)
class Question:
    """A name and a type."""

    name: dns.name.Name
    rtype: RdataType

    def __str__(self) -> str:
        return f"{self.name} {self.rtype.name}"

    @property
    def with_do(self) -> Query:
        """Ask with RD and DO."""
        return Query(name=self.name, rtype=self.rtype, rd=True, do=True)

    @property
    def plain(self) -> Query:
        """Ask with RD and without EDNS."""
        return Query(name=self.name, rtype=self.rtype, rd=True, payload=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownNames:
    """What can be asked for in a signed tree."""

    secure: Question
    """Validates."""
    denied: Sequence[Question]
    """Names or types that are not there, which validates too."""
    typed: Sequence[Question]
    """RRsets of the types of DNSSEC."""
    unsigned: Question | None = None
    """Is not signed, and provably so."""
    zone: dns.name.Name = dns.name.root
    """That of the trust anchor."""
    bogus: Sequence[Question] = ()
    """Do not validate."""
    large: Mapping[int, Question] = field(default_factory=dict)
    """By a number of octets, an RRset whose response with DO is longer."""
    rows: Sequence[TableRow] = ()
    """What a right validator finds, for a tree that is not the rig's."""


def _question(name: str, rtype: RdataType) -> Question:
    return Question(dns.name.from_text(name), rtype)


RIG_NAMES = KnownNames(
    secure=Question(CONTROL, RdataType.A),
    denied=(_question("absent.control.nsec.", RdataType.A), _question("none.secure.nsec3.", RdataType.A)),
    typed=(
        _question("control.nsec.", RdataType.DNSKEY),
        _question("control.nsec.", RdataType.DS),
        _question("control.nsec.", RdataType.NSEC),
        _question("iterations-0.nsec3.", RdataType.NSEC3PARAM),
    ),
    unsigned=Question(UNSIGNED, RdataType.A),
    large={
        512: _question("large700.secure.nsec.", RdataType.TXT),
        1220: _question("large1220.secure.nsec.", RdataType.TXT),
        4000: _question("large4000.secure.nsec.", RdataType.TXT),
    },
)
"""Those of the rig's tree, which has bogus names without end; none is in its table, where faults would show twice."""
