"""A-nsec3-iterations: additional iterations of NSEC3."""

from dnsrig.items.authoritative._chain import nsec3_links
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, not_applicable, passed

ITEM = Item(
    id="A-nsec3-iterations",
    role="authoritative",
    group="DNSSEC: chain",
    requirement="NSEC3 records have 0 additional iterations.",
    references=("RFC 9276 section 3.1", "RFC 9276 section 3.2"),
    severity=Severity.WARNING,
    consequence=(
        "Validators may take the zone's denials for unsigned, or give SERVFAIL; every denial costs servers more."
    ),
    procedure="The NSEC3 records of the sample's denials are looked at.",
    dig=("dig @{server} -p {port} absent.{zone} A +norec +dnssec",),
    needs=("signatures",),
    faults=("nsec3-iterations",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Look at the iterations."""
    seen = nsec3_links(subject)
    if not seen:
        return not_applicable("No denial of the sample has NSEC3 records.")
    link, record = max(seen, key=lambda pair: pair[1].iterations)
    if record.iterations:
        return failed(f"{link.title} has {record.iterations} additional iterations.", link.exchange)
    return passed("They have 0 additional iterations.", link.exchange)
