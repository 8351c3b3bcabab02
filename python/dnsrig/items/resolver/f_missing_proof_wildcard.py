"""F-missing-proof-wildcard: missing proofs beside a wildcard's data."""

from dnsrig.items.resolver._table import PROCEDURE_BOGUS, check_bogus
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-missing-proof-wildcard",
    role="resolver",
    group="Validation: denial of existence",
    requirement="The resolver does not accept data of a wildcard without proof that the name itself does not exist.",
    references=("RFC 4035 section 5.3.4", "RFC 5155 section 8.8"),
    severity=Severity.CRITICAL,
    consequence="An attacker can give a wildcard's data for any name below it.",
    procedure=PROCEDURE_BOGUS
    + ("Names made from a wildcard without NSEC or NSEC3 records, and with ones that do not validate: SERVFAIL."),
    dig=("dig @{server} -p {port} any.wild.no-proofs.nsec. A +dnssec",),
    needs=("validates",),
    faults=(
        "accepts-missing-proof-wildcard",
        "believes-by-tcp",
    ),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask the questions of the table about missing proofs beside a wildcard's data."""
    return check_bogus(subject, ITEM.id)
