"""F-digests: digest types of DS records."""

from dnsrig.items.resolver._table import PROCEDURE, check_with_statuses
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-digests",
    role="resolver",
    group="Validation: algorithms and digests",
    requirement="The resolver validates DS records by SHA-256, and takes or ignores those by SHA-1 and SHA-384.",
    references=("RFC 9904", "RFC 8624 section 3.3", "RFC 4509 section 4"),
    severity=Severity.ERROR,
    consequence="Zones with such DS records do not resolve or are not protected.",
    procedure=PROCEDURE
    + (
        "DS records by digest types 1, 2 and 4, of zones of every algorithm in the table, and by 2 beside an unknown "
        "one: the records; AD with 2."
    ),
    dig=("dig @{server} -p {port} www.digest-2.nsec. A +dnssec",),
    needs=("validates",),
    faults=("fails-digests",),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask the questions of the table about digest types of DS records."""
    return check_with_statuses(subject, ITEM.id)
