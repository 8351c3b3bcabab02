"""F-missing-proof-type: missing proofs that a type does not exist."""

from dnsrig.items.resolver._table import PROCEDURE_BOGUS, check_bogus
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-missing-proof-type",
    role="resolver",
    group="Validation: denial of existence",
    requirement="The resolver does not accept that a type does not exist without valid proof.",
    references=("RFC 4035 section 5.4", "RFC 5155 section 8.5"),
    severity=Severity.CRITICAL,
    consequence="An attacker can make any type disappear, such as the TLSA records that a mail server looks for.",
    procedure=PROCEDURE_BOGUS
    + ("Missing types without NSEC or NSEC3 records, with unsigned ones, and with wrong signatures: SERVFAIL."),
    dig=("dig @{server} -p {port} www.no-proofs.nsec. MX +dnssec",),
    needs=("validates",),
    faults=(
        "accepts-missing-proof-type",
        "believes-by-tcp",
    ),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask the questions of the table about missing proofs that a type does not exist."""
    return check_bogus(subject, ITEM.id)
