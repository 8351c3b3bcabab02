"""F-aliases-bogus: aliases that are bogus or lead to bogus data."""

from dnsrig.items.resolver._table import PROCEDURE_BOGUS, check_bogus
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-aliases-bogus",
    role="resolver",
    group="Validation: chains of trust",
    requirement="The resolver gives no answer if one link of a chain of aliases is bogus.",
    references=("RFC 4035 section 5.5",),
    severity=Severity.CRITICAL,
    consequence=(
        "Forged or damaged data reach users with a validating resolver as if they had none: cache poisoning "
        "works again."
    ),
    procedure=PROCEDURE_BOGUS + "CNAME and DNAME records that are bogus or lead to bogus data: SERVFAIL.",
    dig=("dig @{server} -p {port} to-bogus.aliases.nsec. A +dnssec",),
    needs=("validates",),
    faults=(
        "accepts-aliases-bogus",
        "believes-by-tcp",
    ),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask the questions of the table about aliases that are bogus or lead to bogus data."""
    return check_bogus(subject, ITEM.id)
