"""F-iterations-limit: a limit on NSEC3 iterations."""

from dnsrig.items.resolver._table import ask_row, status_of
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.tree.cases import Status
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

LADDER = "F-iterations"
BEYOND = ("iterations-500.nsec3.", "iterations-2500.nsec3.")
ITEM = Item(
    id="F-iterations-limit",
    role="resolver",
    group="Validation: denial of existence",
    requirement="The resolver does not validate NSEC3 proofs with hundreds of iterations.",
    references=("RFC 9276 section 3.2", "RFC 9276 section 4"),
    severity=Severity.WARNING,
    consequence="An attacker's zone makes each query for a missing name cost thousands of hashes (CVE-2023-50868).",
    procedure=(
        "Missing names and types of zones with 500 and 2500 iterations are asked for with RD and DO: no AD, "
        "or SERVFAIL."
    ),
    dig=("dig @{server} -p {port} absent.iterations-2500.nsec3. A +dnssec",),
    needs=("upstream", "validates"),
    faults=("validates-any-iterations", "sets-ad-always"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask for what takes many hashes to prove."""
    exchange = None
    for row in subject.rows(LADDER):
        if row.zone.name not in BEYOND:
            continue
        exchange = ask_row(subject, row)
        if exchange.message is None:
            return subject.unanswered(exchange)
        if status_of(exchange) == Status.SECURE:
            return failed(f"{row.name} {row.case.rtype.name} ({row.case.what}) comes with AD.", exchange)
    if exchange is None:
        return inconclusive("The tree has no question for this.")
    return passed("Nothing that takes 500 iterations or more comes with AD.", exchange)
