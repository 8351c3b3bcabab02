"""F-ds-mismatch: DS records that match no key."""

from dnsrig.items.resolver._table import PROCEDURE, check_bogus, with_statuses
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-ds-mismatch",
    role="resolver",
    group="Validation: chains of trust",
    requirement="The resolver does not accept keys that no DS record vouches for.",
    references=("RFC 4035 section 5.2",),
    severity=Severity.CRITICAL,
    consequence="Anybody can sign a forged zone with keys of their own.",
    procedure=PROCEDURE
    + (
        "DS records with another digest, by each type, another key tag, algorithm, or of another key, and keys that "
        "the one of the DS record has not signed: SERVFAIL, by UDP and by TCP. A digest of a type that the resolver "
        "does not validate may leave the zone insecure."
    ),
    dig=("dig @{server} -p {port} www.ds-digest.nsec. A +dnssec",),
    needs=("validates",),
    faults=(
        "accepts-ds-mismatch",
        "takes-any-sha1-digest",
        "takes-any-sha384-digest",
        "trusts-keys-signed-by-others",
        "believes-by-tcp",
        "believes-ipv6-addresses",
    ),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask the questions of the table about DS records that match no key."""
    rows = [row for row in subject.rows(ITEM.id) if row.case.beside]
    return with_statuses(subject, check_bogus(subject, ITEM.id), rows)
