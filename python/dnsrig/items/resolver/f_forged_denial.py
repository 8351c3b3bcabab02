"""F-forged-denial: denials with the proofs for other names."""

from dnsrig.items.resolver._table import PROCEDURE_BOGUS, check_bogus
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-forged-denial",
    role="resolver",
    group="Validation: denial of existence",
    requirement="The resolver does not accept a denial with true records that prove something else.",
    references=("RFC 4035 section 5.4", "RFC 5155 section 8"),
    severity=Severity.CRITICAL,
    consequence="An attacker can make any name or type disappear with records that anybody can fetch.",
    procedure=PROCEDURE_BOGUS
    + "Names and types that exist, denied with the NSEC or NSEC3 records of others, of another zone too: SERVFAIL.",
    dig=("dig @{server} -p {port} www.forged-name.nsec. A +dnssec",),
    needs=("validates",),
    faults=(
        "accepts-forged-denial",
        "believes-by-tcp",
    ),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask the questions of the table about denials with the proofs for other names."""
    return check_bogus(subject, ITEM.id)
