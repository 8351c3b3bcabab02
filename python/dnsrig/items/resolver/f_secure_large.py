"""F-secure-large: large signed responses."""

from dnsrig.items.resolver._table import PROCEDURE, check_table
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-secure-large",
    role="resolver",
    group="Validation: signatures and keys",
    requirement="The resolver validates large responses, fetched by TCP where needed, and gives them.",
    references=("RFC 7766 section 5", "RFC 3226 section 3"),
    severity=Severity.ERROR,
    consequence="Zones with large keys or many records do not resolve.",
    procedure=PROCEDURE
    + "TXT RRsets of responses over 1220, near 4000 and near 40000 octets: NOERROR, the records, AD; by TCP after TC.",
    dig=("dig @{server} -p {port} large4000.secure.nsec. TXT +dnssec",),
    needs=("validates",),
    faults=("fails-secure-large", "cuts-without-tc", "clears-tc"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask the questions of the table about large signed responses."""
    return check_table(subject, ITEM.id)
