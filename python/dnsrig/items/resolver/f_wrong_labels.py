"""F-wrong-labels: the Labels field of signatures."""

from dnsrig.items.resolver._table import PROCEDURE_BOGUS, check_bogus
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-wrong-labels",
    role="resolver",
    group="Validation: signatures and keys",
    requirement="The resolver does not accept signatures whose Labels field does not fit the name.",
    references=("RFC 4035 section 5.3.1", "RFC 4035 section 5.3.4"),
    severity=Severity.CRITICAL,
    consequence="Data signed for a wildcard pass for any name below it, also for names that have their own.",
    procedure=PROCEDURE_BOGUS
    + "A signature with more labels than the name has, and one of a wildcard without proof: SERVFAIL.",
    dig=("dig @{server} -p {port} www.too-many-labels.nsec. A +dnssec",),
    needs=("validates",),
    faults=(
        "accepts-wrong-labels",
        "believes-by-tcp",
        "believes-ipv6-addresses",
    ),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask the questions of the table about the Labels field of signatures."""
    return check_bogus(subject, ITEM.id)
