"""F-future: signatures before their inception."""

from dnsrig.items.resolver._table import PROCEDURE_BOGUS, check_bogus
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-future",
    role="resolver",
    group="Validation: signatures and keys",
    requirement="The resolver does not accept signatures before their inception.",
    references=("RFC 4035 section 5.3.1",),
    severity=Severity.ERROR,
    consequence="Signatures made in advance, such as those of a planned change, count before their time.",
    procedure=PROCEDURE_BOGUS + "Zones whose signatures begin in two days: SERVFAIL.",
    dig=("dig @{server} -p {port} www.future.nsec. A +dnssec",),
    needs=("validates",),
    faults=(
        "accepts-future",
        "believes-by-tcp",
        "believes-ipv6-addresses",
    ),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask the questions of the table about signatures before their inception."""
    return check_bogus(subject, ITEM.id)
