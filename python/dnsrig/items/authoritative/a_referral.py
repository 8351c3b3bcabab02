"""A-referral: referrals."""

from dns.rdatatype import RdataType

from dnsrig.items.authoritative._places import check_referrals, delegations
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity

TYPES = tuple(RdataType[text] for text in ("A", "NS", "MX", "SOA", "DNSKEY"))
"""NS records are there, yet not the parent's to answer with; the others are the child's alone."""
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
    procedure=(
        "A, NS, MX, SOA and DNSKEY are asked for at a delegation; the response is NOERROR with its NS records in the "
        "authority section."
    ),
    dig=(
        "dig @{server} -p {port} {delegation} A +norec +noedns",
        "dig @{server} -p {port} {delegation} NS +norec +noedns",
    ),
    needs=("zone",),
    faults=(
        "referral-in-answer",
        "referral-with-aa",
        "no-referral",
        "upward-for-delegations",
        "answers-ns-of-delegations",
    ),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask at each delegation that is known, with DS and without."""
    return check_referrals(subject, delegations(subject), TYPES)
