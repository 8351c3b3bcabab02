"""F-unknown-type: types that the resolver does not know."""

from dnsrig.items.resolver._table import PROCEDURE, check_table
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-unknown-type",
    role="resolver",
    group="Messages",
    requirement="The resolver resolves types that it does not know, and validates them.",
    references=("RFC 3597 section 3", "RFC 4035 section 5.3"),
    severity=Severity.ERROR,
    consequence="New types cannot be used by its clients until it is replaced, as HTTPS and SVCB records could not.",
    procedure=PROCEDURE
    + (
        "Records of type 65280, for private use, of a signed zone: the records, AD. In a tree of yours the type is "
        "asked for where it is not: NOERROR without records, AD."
    ),
    dig=("dig @{server} -p {port} typed.private-type.nsec. TYPE65280 +dnssec",),
    needs=("validates",),
    faults=("fails-unknown-type",),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask the questions of the table about such types."""
    return check_table(subject, ITEM.id)
