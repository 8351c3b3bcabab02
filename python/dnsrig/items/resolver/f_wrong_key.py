"""F-wrong-key: signatures by keys that the zone does not have."""

from dnsrig.items.resolver._table import PROCEDURE_BOGUS, check_bogus
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-wrong-key",
    role="resolver",
    group="Validation: signatures and keys",
    requirement="The resolver does not accept signatures by keys that the zone does not have.",
    references=("RFC 4035 section 5.3.1", "RFC 5011 section 2.1"),
    severity=Severity.CRITICAL,
    consequence=(
        "Forged or damaged data reach users with a validating resolver as if they had none: cache poisoning "
        "works again."
    ),
    procedure=PROCEDURE_BOGUS
    + (
        "Signatures by a key that is not in the DNSKEY RRset, also under the tag of one that is, or of "
        "one that is revoked: SERVFAIL."
    ),
    dig=("dig @{server} -p {port} www.other-key.nsec. A +dnssec",),
    needs=("validates",),
    faults=(
        "accepts-wrong-key",
        "believes-by-tcp",
        "believes-ipv6-addresses",
    ),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask the questions of the table about signatures by keys that the zone does not have."""
    return check_bogus(subject, ITEM.id)
