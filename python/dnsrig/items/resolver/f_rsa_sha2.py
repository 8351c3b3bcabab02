"""F-rsa-sha2: RSA/SHA-256 and RSA/SHA-512."""

from dnsrig.items.resolver._table import PROCEDURE, ask_row, complaint, supported_rows
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

ZONES = ("algorithm-8.nsec.", "algorithm-10.nsec.")
ITEM = Item(
    id="F-rsa-sha2",
    role="resolver",
    group="Validation: algorithms and digests",
    requirement="The resolver supports RSA/SHA-256 and RSA/SHA-512.",
    references=("RFC 5702 section 5.1", "RFC 9904", "RFC 8624 section 3.1", "JPRS-2010 case 5"),
    severity=Severity.ERROR,
    consequence=(
        "Zones signed so, the root among them, do not resolve or are not protected: an algorithm gap, not bad data."
    ),
    procedure=PROCEDURE + "Zones signed by algorithms 8 and 10: the records, AD.",
    dig=(
        "dig @{server} -p {port} www.algorithm-8.nsec. A +dnssec",
        "dig @{server} -p {port} www.algorithm-10.nsec. A +dnssec",
    ),
    needs=("upstream", "validates"),
    faults=("lacks-rsa-sha2", "fails-algorithms-required"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask in zones signed so."""
    rows = supported_rows(subject, ZONES)
    if not rows:
        return inconclusive("The tree has no question for this.")
    exchanges = [(row, ask_row(subject, row)) for row in rows]
    for row, exchange in exchanges:
        if exchange.message is None:
            return subject.unanswered(exchange)
        if said := complaint(subject, row, exchange):
            return failed(f"An algorithm gap: {said}.", exchange)
    return passed("Zones signed by both are secure.", *(exchange for _, exchange in exchanges))
