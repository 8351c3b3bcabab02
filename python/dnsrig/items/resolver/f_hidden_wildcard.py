"""F-hidden-wildcard: denials that leave out a wildcard."""

from dnsrig.items.resolver._table import PROCEDURE_BOGUS, check_bogus
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-hidden-wildcard",
    role="resolver",
    group="Validation: denial of existence",
    requirement="The resolver does not accept that a name does not exist without proof that no wildcard gives it.",
    references=("RFC 4035 section 5.4", "RFC 5155 section 8.4"),
    severity=Severity.ERROR,
    consequence="An attacker can make every name disappear that comes from a wildcard.",
    procedure=PROCEDURE_BOGUS + "A name from a wildcard, denied with the proof for the name alone: SERVFAIL.",
    dig=("dig @{server} -p {port} zzz.host.hidden-wildcard.nsec. A +dnssec",),
    needs=("validates",),
    faults=(
        "accepts-hidden-wildcard",
        "believes-by-tcp",
    ),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask the questions of the table about denials that leave out a wildcard."""
    return check_bogus(subject, ITEM.id)
