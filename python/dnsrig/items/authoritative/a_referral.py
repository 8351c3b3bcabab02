"""A-referral: referrals."""

from dnsrig.items.authoritative._places import check_referrals, delegations
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="A-referral",
    role="authoritative",
    group="Delegation",
    requirement=(
        "A query for a delegated name gets a referral: the NS records in the authority section, no answer and no AA."
    ),
    references=("RFC 1034 section 4.3.2", "RFC 2181 section 6.1"),
    severity=Severity.CRITICAL,
    consequence="Resolvers do not find the delegated zone, or take the parent's data for the child's.",
    procedure="A is asked for at a delegation; the response is NOERROR with its NS records in the authority section.",
    dig=("dig @{server} -p {port} {delegation} A +norec +noedns",),
    needs=("zone",),
    faults=("referral-in-answer", "referral-with-aa", "no-referral"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask at each delegation that is known, with DS and without."""
    return check_referrals(subject, delegations(subject))
