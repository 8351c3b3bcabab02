"""F-missing-rrsig: missing signatures."""

from dnsrig.items.resolver._table import PROCEDURE_BOGUS, check_bogus
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-missing-rrsig",
    role="resolver",
    group="Validation: signatures and keys",
    requirement="The resolver does not accept data without signature in a signed zone.",
    references=("RFC 4035 section 5.5", "RFC 4035 section 5.2"),
    severity=Severity.CRITICAL,
    consequence="An attacker only needs to leave the signatures out.",
    procedure=PROCEDURE_BOGUS
    + "Zones that leave out the signature of the data, of the keys, or all of them: SERVFAIL.",
    dig=("dig @{server} -p {port} www.missing-rrsig.nsec. A +dnssec",),
    needs=("validates",),
    faults=(
        "accepts-missing-rrsig",
        "believes-by-tcp",
        "believes-ipv6-addresses",
    ),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask the questions of the table about missing signatures."""
    return check_bogus(subject, ITEM.id)
