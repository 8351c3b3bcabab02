"""F-missing-ds-proof: missing proofs of insecure delegations."""

from dnsrig.items.resolver._table import PROCEDURE_BOGUS, check_bogus
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-missing-ds-proof",
    role="resolver",
    group="Validation: chains of trust",
    requirement="The resolver takes a zone for unsigned only if its parent zone proves that it has no DS record.",
    references=("RFC 4035 section 5.2", "RFC 6840 section 4.4"),
    severity=Severity.CRITICAL,
    consequence="An attacker can strip DNSSEC from any zone by leaving its DS records out of the referral.",
    procedure=PROCEDURE_BOGUS
    + (
        "Zones whose DS records are left out, unsigned, or denied by records that do not prove "
        "it, or whose signature is wrong: SERVFAIL."
    ),
    dig=("dig @{server} -p {port} www.ds-stripped.nsec. A +dnssec",),
    needs=("validates",),
    faults=(
        "accepts-missing-ds-proof",
        "takes-unverified-ds-denial",
        "believes-by-tcp",
    ),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask the questions of the table about missing proofs of insecure delegations."""
    return check_bogus(subject, ITEM.id)
