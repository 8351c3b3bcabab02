"""F-ede: extended errors say what is wrong."""

import dns.edns
import dns.rcode
from dns.edns import EDECode, EDEOption

from dnsrig.items.resolver._table import ask_row, status_of
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.tree.cases import BOGUS, SECURE, TableRow
from dnsrig.verification.verdicts import Evidence, Outcome, Severity, failed, inconclusive, not_applicable, passed

ITEM = Item(
    id="F-ede",
    role="resolver",
    group="Messages",
    requirement="Where the resolver gives extended errors, bogus names get one about DNSSEC, and good names none.",
    references=("RFC 8914 section 4", "RFC 8914 section 2"),
    severity=Severity.NOTICE,
    consequence="Operators look for the fault in the wrong place.",
    procedure=(
        "Names of the tree that are bogus for different reasons, and some that are secure, are asked for with DO. If "
        "any response has an extended error, those to bogus names have one of codes 1, 2, 5 to 12, 27 or 0, and those "
        "to secure names have none of these but 0. The evidence has the codes."
    ),
    dig=("dig @{server} -p {port} www.expired.nsec. A +dnssec   # EDE",),
    needs=("upstream", "validates"),
    faults=("accuses-the-network",),
)
ITEMS = ("F-expired", "F-future", "F-missing-rrsig", "F-ds-mismatch", "F-missing-dnskey", "F-secure-data")
ABOUT_DNSSEC = {
    EDECode.UNSUPPORTED_DNSKEY_ALGORITHM,
    EDECode.UNSUPPORTED_DS_DIGEST_TYPE,
    EDECode.DNSSEC_INDETERMINATE,
    EDECode.DNSSEC_BOGUS,
    EDECode.SIGNATURE_EXPIRED,
    EDECode.SIGNATURE_NOT_YET_VALID,
    EDECode.DNSKEY_MISSING,
    EDECode.RRSIGS_MISSING,
    EDECode.NO_ZONE_KEY_BIT_SET,
    EDECode.NSEC_MISSING,
    27,
}
"""Code 27 is Unsupported NSEC3 Iterations Value (RFC 9276 section 3.2)."""


def check(subject: ResolverSubject) -> Outcome:
    """Ask for bogus and secure names."""
    asked = [(row, ask_row(subject, row)) for item_id in ITEMS for row in subject.rows(item_id)]
    answered = [(row, exchange) for row, exchange in asked if exchange.message is not None]
    if not answered:
        return subject.unanswered(asked[0][1]) if asked else inconclusive("The tree has no question for this.")
    if not any(_codes(exchange) for _, exchange in answered):
        return not_applicable("The resolver gives no extended errors.", answered[0][1])
    shown = Evidence(
        "extended errors", "\n".join(f"{row.name} {row.case.rtype.name}: {_said(one)}" for row, one in answered)
    )
    for row, exchange in answered:
        wrong = _complaint(row, exchange)
        if wrong:
            return failed(f"{row.name} {row.case.rtype.name} ({row.case.what}) {wrong}.", exchange, shown)
    return passed(f"The extended errors of {len(answered)} responses fit.", shown)


def _complaint(row: TableRow, exchange: Exchange) -> str:
    found = _codes(exchange)
    if row.case.right == BOGUS and exchange.rcode == dns.rcode.SERVFAIL:
        fits = not found or found & (ABOUT_DNSSEC | {EDECode.OTHER})
        return "" if fits else f"is bogus, and has {_said(exchange)} alone"
    if row.case.right == SECURE and status_of(exchange) in SECURE and found & ABOUT_DNSSEC:
        return f"is secure, and has {_said(exchange)}"
    return ""


def _codes(exchange: Exchange) -> set[int]:
    if exchange.message is None:
        return set()
    return {int(option.code) for option in exchange.message.options if isinstance(option, EDEOption)}


def _said(exchange: Exchange) -> str:
    if exchange.message is None:
        return "no response"
    found = [option for option in exchange.message.options if isinstance(option, EDEOption)]
    return (
        ", ".join(f"code {int(option.code)}" + (f" ({option.text})" if option.text else "") for option in found)
        or "none"
    )
