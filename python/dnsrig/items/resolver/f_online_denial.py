"""F-online-denial: denials that servers sign while they answer."""

from dnsrig.items.resolver._table import PROCEDURE, check_table
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.tree.zones_online import COMPACT
from dnsrig.verification.tree.zones_online import ITEM as ITEM_ID
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id=ITEM_ID,
    role="resolver",
    group="Validation: denial of existence",
    requirement="The resolver accepts denials that are made for one name, as servers do that sign while they answer.",
    references=("RFC 9824 section 3", "RFC 4470 section 3", "RFC 7129 appendix B"),
    severity=Severity.ERROR,
    consequence=(
        "Missing names and types become failures and delays in all zones of some large providers, which sign so."
    ),
    procedure=PROCEDURE
    + (
        "Missing names and types, an empty non-terminal and an address of zones with compact denial, with NSEC records "
        "that cover hardly more than a name, and with NSEC3 records that cover hardly more than a hash. Compact denial "
        "says of a missing name that it has no such type, with NXNAME in the type bitmap: NOERROR, AD."
    ),
    dig=(f"dig @{{server}} -p {{port}} absent.{COMPACT} A +dnssec",),
    needs=("validates",),
    faults=("fails-online-denial",),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask the questions of the table about such denials."""
    return check_table(subject, ITEM.id)
