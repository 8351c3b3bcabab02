"""F-bogus: what does not validate is kept back."""

from dnsrig.items.resolver._table import PROCEDURE, check_bogus
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-bogus",
    role="resolver",
    group="Validation",
    requirement="The resolver answers names that do not validate with SERVFAIL.",
    references=("RFC 4035 section 5.5", "RFC 4033 section 5"),
    severity=Severity.CRITICAL,
    consequence="Forged data come to clients that rely on the resolver.",
    procedure=PROCEDURE
    + (
        "A name from a wildcard with a wrong signature, or in a tree of yours the names of --bogus: SERVFAIL, by UDP "
        "and by TCP."
    ),
    dig=("dig @{server} -p {port} any.fresh.control-bogus.nsec. A +dnssec",),
    needs=("validates",),
    faults=("accepts-bogus", "validates-by-udp-only"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask the questions of the table about names that are bogus, for whatever reason."""
    return check_bogus(subject, ITEM.id)
