"""F-229: NSEC3PARAM at the apex."""

from dnsrig.items.resolver._table import PROCEDURE, check_table
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-229",
    role="resolver",
    group="Validation: denial of existence",
    requirement="The resolver gives the NSEC3PARAM record of a zone's apex, validated.",
    references=("RFC 5155 section 4", "JPRS-2010 F-229"),
    severity=Severity.NOTICE,
    consequence="Operators and checking tools do not learn through it how a zone is signed; nobody loses an answer.",
    procedure=PROCEDURE + "The NSEC3PARAM RRset of a zone that is signed with NSEC3: NOERROR, the record, AD.",
    dig=("dig @{server} -p {port} secure.nsec3. NSEC3PARAM +dnssec",),
    needs=("validates",),
    faults=("fails-229",),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask the question of the table about the parameters."""
    return check_table(subject, ITEM.id)
