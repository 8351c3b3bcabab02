"""F-nsec3-unknown: NSEC3 records that a validator cannot know how to read."""

from dnsrig.items.resolver._table import PROCEDURE, check_table
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-nsec3-unknown",
    role="resolver",
    group="Validation: denial of existence",
    requirement="NSEC3 records of a hash algorithm that the resolver does not know prove nothing.",
    references=("RFC 5155 section 8.1",),
    severity=Severity.WARNING,
    consequence=(
        "Where zones use what is not yet defined, the resolver denies names, with AD, by records that it has read "
        "wrongly."
    ),
    procedure=PROCEDURE
    + (
        "A missing name and a missing type of a zone whose NSEC3 records have hash algorithm 200: no AD; whether they "
        "are taken for bogus or for insecure is left to the resolver."
    ),
    dig=("dig @{server} -p {port} absent.unknown-hash.nsec3. A +dnssec",),
    needs=("validates",),
    faults=("reads-unknown-nsec3",),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask the questions of the table about NSEC3 records that are ignored."""
    return check_table(subject, ITEM.id)
