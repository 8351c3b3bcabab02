"""A-nsec3-salt: the salt of NSEC3."""

from dnsrig.items.authoritative._chain import nsec3_links, salt_text
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, not_applicable, passed

ITEM = Item(
    id="A-nsec3-salt",
    role="authoritative",
    group="DNSSEC: chain",
    requirement="NSEC3 records have no salt.",
    references=("RFC 9276 section 3.1",),
    severity=Severity.NOTICE,
    consequence="A salt protects no name; it only makes responses larger and the zone's signing more work.",
    procedure="The NSEC3 records of the sample's denials are looked at.",
    dig=("dig @{server} -p {port} absent.{zone} A +norec +dnssec",),
    needs=("signatures",),
    faults=("nsec3-salt",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Look at the salt."""
    seen = nsec3_links(subject)
    if not seen:
        return not_applicable("No denial of the sample has NSEC3 records.")
    link, record = max(seen, key=lambda pair: len(pair[1].salt))
    if record.salt:
        return failed(f"{link.title} has the salt {salt_text(record.salt)}.", link.exchange)
    return passed("They have no salt.", link.exchange)
