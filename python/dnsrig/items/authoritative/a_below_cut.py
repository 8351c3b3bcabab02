"""A-below-cut: names below a delegation."""

from dns.rdatatype import RdataType

from dnsrig.items.authoritative._contents import contents
from dnsrig.items.authoritative._places import check_referrals, delegations
from dnsrig.verification.asker import name_below, random_label
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity

MOST_GLUE = 8
ITEM = Item(
    id="A-below-cut",
    role="authoritative",
    group="Delegation",
    requirement="A query for a name below a delegation gets the referral, also where the zone has glue of that name.",
    references=("RFC 1034 section 4.3.2", "RFC 2181 section 6.1"),
    severity=Severity.CRITICAL,
    consequence=(
        "Resolvers take glue, or the parent's denial, for the child's word: names do not resolve, or to old addresses."
    ),
    procedure="A name below a delegation that does not exist is asked for, and some that have glue.",
    dig=(
        "dig @{server} -p {port} absent.{delegation} A +norec +noedns",
        "dig @{server} -p {port} {glue} A +norec +noedns",
    ),
    needs=("zone",),
    faults=("referral-in-answer", "referral-with-aa", "no-referral", "upward-for-delegations", "answers-below-cut"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for both."""
    names = [name_below(name, random_label().encode()) for name in delegations(subject)]
    glue = [] if subject.landmarks.glue is None else [subject.landmarks.glue]
    known = contents(subject)
    # Some servers answer from the glue of some delegations only, such as those without DS records.
    glue += [one.name for one in known.of(RdataType.A) if known.delegated(one.name) not in {None, one.name}]
    return check_referrals(subject, [*names, *dict.fromkeys(glue[:MOST_GLUE])])
