"""F-aliases: aliases across secure and insecure zones."""

from dnsrig.items.resolver._table import PROCEDURE, check_table
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-aliases",
    role="resolver",
    group="Validation: chains of trust",
    requirement="The resolver sets AD with aliases only if all links of the chain are secure.",
    references=("RFC 4035 section 3.2.3",),
    severity=Severity.CRITICAL,
    consequence="Unsigned data pass as validated to clients that trust AD.",
    procedure=PROCEDURE + "CNAME and DNAME records across secure and insecure zones: AD only where all are secure.",
    dig=("dig @{server} -p {port} to-insecure.aliases.nsec. A +dnssec",),
    needs=("validates",),
    faults=("fails-aliases", "sets-ad-always"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask the questions of the table about aliases across secure and insecure zones."""
    return check_table(subject, ITEM.id)
