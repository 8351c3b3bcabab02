"""F-missing-proof-name: missing proofs that a name does not exist."""

from dnsrig.items.resolver._table import PROCEDURE_BOGUS, check_bogus
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-missing-proof-name",
    role="resolver",
    group="Validation: denial of existence",
    requirement="The resolver does not accept that a name does not exist without valid proof.",
    references=("RFC 4035 section 5.4", "RFC 5155 section 8.4"),
    severity=Severity.CRITICAL,
    consequence="An attacker can make any name disappear.",
    procedure=PROCEDURE_BOGUS
    + (
        "Missing names without NSEC or NSEC3 records, with unsigned ones, with wrong signatures, and without the NSEC3 "
        "record of the closest encloser or the one that covers the next closer name: SERVFAIL."
    ),
    dig=("dig @{server} -p {port} absent.no-proofs.nsec. A +dnssec",),
    needs=("validates",),
    faults=(
        "accepts-missing-proof-name",
        "believes-by-tcp",
        "needs-no-next-closer",
        "needs-no-encloser",
    ),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask the questions of the table about missing proofs that a name does not exist."""
    return check_bogus(subject, ITEM.id)
