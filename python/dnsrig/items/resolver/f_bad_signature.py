"""F-bad-signature: signatures that do not verify."""

from dnsrig.items.resolver._table import PROCEDURE, check_bogus
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-bad-signature",
    role="resolver",
    group="Validation: signatures and keys",
    requirement="The resolver does not accept data whose signature does not verify.",
    references=("RFC 4035 section 5.3.3",),
    severity=Severity.CRITICAL,
    consequence=(
        "Forged or damaged data reach users with a validating resolver as if they had none: cache poisoning "
        "works again."
    ),
    procedure=PROCEDURE
    + (
        "A changed signature, of addresses and of other types, changed data under a right signature, and a changed "
        "field of the signature: SERVFAIL, by UDP and by TCP."
    ),
    dig=("dig @{server} -p {port} www.bad-signature.nsec. A +dnssec",),
    needs=("validates",),
    faults=("accepts-bad-signature", "validates-by-udp-only", "validates-addresses-only"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask the questions of the table about signatures that do not verify."""
    return check_bogus(subject, ITEM.id)
