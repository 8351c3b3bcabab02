"""F-bad-signature: signatures that do not verify."""

from dnsrig.items.resolver._table import PROCEDURE, check_bogus, with_statuses
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-bad-signature",
    role="resolver",
    group="Validation: signatures and keys",
    requirement="The resolver does not accept data whose signature does not verify.",
    references=("RFC 4035 section 5.3.3",),
    severity=Severity.CRITICAL,
    consequence=(
        "Forged or damaged data reach users with a validating resolver as if they had none: cache poisoning "
        "works again."
    ),
    procedure=PROCEDURE
    + (
        "A changed signature, of addresses and of other types, changed data under a right signature, by each algorithm "
        "that there is, a changed field of the signature, a key that was added to the zone's, and DS records with a "
        "changed signature: SERVFAIL, by UDP and by TCP. What is signed by an algorithm that the resolver does not "
        "validate may be given as insecure."
    ),
    dig=("dig @{server} -p {port} www.bad-signature.nsec. A +dnssec",),
    needs=("validates",),
    faults=(
        "accepts-bad-signature",
        "validates-by-udp-only",
        "validates-addresses-only",
        "takes-any-rsa-signature",
        "takes-any-p384-signature",
        "takes-any-ed25519-signature",
        "takes-any-ed448-signature",
        "trusts-keys-unverified",
        "takes-unverified-ds",
        "believes-by-tcp",
        "believes-ipv6-addresses",
    ),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask the questions of the table about signatures that do not verify."""
    rows = [row for row in subject.rows(ITEM.id) if row.case.beside]
    return with_statuses(subject, check_bogus(subject, ITEM.id), rows)
