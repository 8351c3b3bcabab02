"""F-expired: expired signatures."""

from dnsrig.items.resolver._table import PROCEDURE_BOGUS, check_bogus
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-expired",
    role="resolver",
    group="Validation: signatures and keys",
    requirement="The resolver does not accept signatures that have expired.",
    references=("RFC 4035 section 5.3.1",),
    severity=Severity.CRITICAL,
    consequence=(
        "An attacker who recorded old signed answers can replay them for ever: addresses given up years ago "
        "come back to life."
    ),
    procedure=PROCEDURE_BOGUS
    + (
        "Zones of which all signatures, or those of the data, the keys, the DS records, the aliases or the proofs of "
        "denial have expired: SERVFAIL."
    ),
    dig=("dig @{server} -p {port} www.expired.nsec. A +dnssec",),
    needs=("validates",),
    faults=(
        "accepts-expired",
        "takes-expired-ds",
        "takes-expired-proofs",
        "takes-expired-aliases",
        "believes-by-tcp",
        "believes-ipv6-addresses",
    ),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask the questions of the table about expired signatures."""
    return check_bogus(subject, ITEM.id)
