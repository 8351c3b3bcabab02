"""F-salt: NSEC3 with a long salt."""

from dnsrig.items.resolver._table import PROCEDURE, check_table
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-salt",
    role="resolver",
    group="Validation: denial of existence",
    requirement="The resolver accepts NSEC3 records with a long salt.",
    references=("RFC 5155 section 3.1.5",),
    severity=Severity.ERROR,
    consequence="Missing names of such zones become failures and delays.",
    procedure=PROCEDURE + "A missing name of a zone with a salt of 32 octets: NXDOMAIN, AD.",
    dig=("dig @{server} -p {port} absent.salted.nsec3. A +dnssec",),
    needs=("validates",),
    faults=("fails-salt",),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask the questions of the table about NSEC3 with a long salt."""
    return check_table(subject, ITEM.id)
