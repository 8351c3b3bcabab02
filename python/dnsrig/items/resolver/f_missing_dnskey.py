"""F-missing-dnskey: missing keys."""

from dnsrig.items.resolver._table import PROCEDURE_BOGUS, check_bogus
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-missing-dnskey",
    role="resolver",
    group="Validation: chains of trust",
    requirement="The resolver does not accept data of a zone that has DS records and no keys.",
    references=("RFC 4035 section 5.2", "RFC 4035 section 5.5"),
    severity=Severity.CRITICAL,
    consequence="An attacker only needs to leave keys and signatures out.",
    procedure=PROCEDURE_BOGUS + "A zone that is not signed, though its parent zone has DS records for it: SERVFAIL.",
    dig=("dig @{server} -p {port} www.no-dnskey.nsec. A +dnssec",),
    needs=("validates",),
    faults=(
        "accepts-missing-dnskey",
        "believes-by-tcp",
        "believes-ipv6-addresses",
    ),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask the questions of the table about missing keys."""
    return check_bogus(subject, ITEM.id)
