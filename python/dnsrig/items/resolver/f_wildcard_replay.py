"""F-wildcard-replay: a wildcard's data for another name."""

from dnsrig.items.resolver._table import PROCEDURE_BOGUS, check_bogus
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-wildcard-replay",
    role="resolver",
    group="Validation: denial of existence",
    requirement="The resolver does not accept a wildcard's data for a name that has its own.",
    references=("RFC 4035 section 5.3.4", "RFC 5155 section 8.8"),
    severity=Severity.CRITICAL,
    consequence="An attacker can send the users of a host to where the wildcard points.",
    procedure=PROCEDURE_BOGUS
    + ("A wildcard's data and signature, given for a name beside it, or below one, with another proof: SERVFAIL."),
    dig=("dig @{server} -p {port} real.host.wildcard-replay.nsec. A +dnssec",),
    needs=("validates",),
    faults=(
        "accepts-wildcard-replay",
        "believes-by-tcp",
    ),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask the questions of the table about a wildcard's data for another name."""
    return check_bogus(subject, ITEM.id)
