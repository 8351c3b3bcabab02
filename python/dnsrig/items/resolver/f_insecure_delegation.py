"""F-insecure-delegation: insecure delegations."""

from dnsrig.items.resolver._table import PROCEDURE, check_table
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-insecure-delegation",
    role="resolver",
    group="Validation: chains of trust",
    requirement="The resolver gives data of zones that provably have no DS record, without AD.",
    references=("RFC 4035 section 5.2", "RFC 4035 section 3.2.3"),
    severity=Severity.CRITICAL,
    consequence="Without them most of the Internet does not resolve; with AD, unsigned data pass as validated.",
    procedure=PROCEDURE
    + "Zones without DS records below NSEC, NSEC3, opt-out and unsigned parents: the records, no AD.",
    dig=("dig @{server} -p {port} www.plain.nsec. A +dnssec",),
    needs=("validates",),
    faults=("fails-insecure-delegation", "sets-ad-always"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask the questions of the table about insecure delegations."""
    return check_table(subject, ITEM.id)
