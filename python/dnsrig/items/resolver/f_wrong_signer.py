"""F-wrong-signer: signatures of another signer."""

from dnsrig.items.resolver._table import PROCEDURE_BOGUS, check_bogus
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-wrong-signer",
    role="resolver",
    group="Validation: signatures and keys",
    requirement="The resolver does not accept signatures whose signer is not the zone.",
    references=("RFC 4035 section 5.3.1",),
    severity=Severity.CRITICAL,
    consequence="The holder of another zone's keys can sign for this one.",
    procedure=PROCEDURE_BOGUS
    + "A signature that names the parent zone, a name below the zone, or another zone, whose key made it: SERVFAIL.",
    dig=("dig @{server} -p {port} www.wrong-signer.nsec. A +dnssec",),
    needs=("validates",),
    faults=(
        "accepts-wrong-signer",
        "believes-by-tcp",
        "believes-ipv6-addresses",
    ),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask the questions of the table about signatures of another signer."""
    return check_bogus(subject, ITEM.id)
