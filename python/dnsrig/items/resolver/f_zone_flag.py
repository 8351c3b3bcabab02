"""F-zone-flag: keys without Zone Key flag."""

from dnsrig.items.resolver._table import PROCEDURE_BOGUS, check_bogus
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-zone-flag",
    role="resolver",
    group="Validation: signatures and keys",
    requirement="The resolver does not accept signatures by keys without the Zone Key flag.",
    references=("RFC 4034 section 2.1.1", "RFC 4035 section 5.3.1"),
    severity=Severity.ERROR,
    consequence="Keys that are published for other uses can sign zone data.",
    procedure=PROCEDURE_BOGUS + "A signature by a key of the DNSKEY RRset whose flags are 0: SERVFAIL.",
    dig=("dig @{server} -p {port} www.no-zone-flag.nsec. A +dnssec",),
    needs=("validates",),
    faults=(
        "accepts-zone-flag",
        "believes-by-tcp",
        "believes-ipv6-addresses",
    ),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask the questions of the table about keys without Zone Key flag."""
    return check_bogus(subject, ITEM.id)
