"""F-algorithms-advised: algorithms that validators are advised to know."""

from dnsrig.items.resolver._table import AD_ITEM, PROCEDURE, ask_row, status_of, supported_rows
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.tree.cases import Status
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, not_applicable, passed

ZONES = ("algorithm-14.nsec.", "algorithm-15.nsec.", "algorithm-16.nsec.", "digest-4.nsec.")
ITEM = Item(
    id="F-algorithms-advised",
    role="resolver",
    group="Validation: algorithms and digests",
    requirement="The resolver validates ECDSA P-384/SHA-384, Ed25519 and Ed448, and DS records by SHA-384.",
    references=("RFC 9904", "RFC 8624 section 3.1", "RFC 8624 section 3.3", "RFC 8080 section 1"),
    severity=Severity.NOTICE,
    consequence="Zones that are signed so resolve, and are not protected.",
    procedure=PROCEDURE + "Zones signed by algorithms 14, 15 and 16, and one with a DS record by digest type 4: AD.",
    dig=tuple(f"dig @{{server}} -p {{port}} www.{zone} A +dnssec" for zone in ZONES),
    needs=("upstream", "validates"),
    faults=("lacks-advised-algorithms",),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask in zones signed so; what is wrong beyond missing AD is for other items."""
    if not subject.sets_ad:
        return not_applicable(f"The resolver never sets AD (see {AD_ITEM}).", subject.control)
    rows = supported_rows(subject, ZONES)
    exchanges = [(row, ask_row(subject, row)) for row in rows]
    insecure = [(row, exchange) for row, exchange in exchanges if status_of(exchange) == Status.INSECURE]
    if insecure:
        said = "; ".join(f"{row.name} ({row.case.what})" for row, _ in insecure)
        return failed(f"Not validated: {said}.", *(exchange for _, exchange in insecure))
    secure = [exchange for _, exchange in exchanges if status_of(exchange) == Status.SECURE]
    if len(secure) < len(ZONES):
        return inconclusive(f"{len(ZONES) - len(secure)} of {len(ZONES)} zones are not answered.", *secure)
    return passed("All of these are validated.", *secure)
