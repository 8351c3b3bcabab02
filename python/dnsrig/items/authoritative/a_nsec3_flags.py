"""A-nsec3-flags: flags and hash algorithm of NSEC3."""

from dnsrig.items.authoritative._chain import extent, nsec3_links
from dnsrig.verification.denial import OPT_OUT, SHA1_DIGEST
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, not_applicable, passed

ITEM = Item(
    id="A-nsec3-flags",
    role="authoritative",
    group="DNSSEC: chain",
    requirement="NSEC3 records have hash algorithm 1 and no flag but Opt-Out.",
    references=("RFC 5155 section 8.1", "RFC 5155 section 8.2", "RFC 5155 section 3.1.2"),
    severity=Severity.ERROR,
    consequence="Validators ignore such records: denials are bogus, and clients get SERVFAIL instead of NXDOMAIN.",
    procedure="The NSEC3 records of the sample's denials are looked at.",
    dig=("dig @{server} -p {port} absent.{zone} A +norec +dnssec",),
    needs=("signatures",),
    faults=("nsec3-flags",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Look at flags and algorithm."""
    seen = nsec3_links(subject)
    if not seen:
        return not_applicable("No denial of the sample has NSEC3 records.")
    for link, record in seen:
        if record.flags & ~OPT_OUT:
            return failed(f"{link.title} has flags {record.flags}.", link.exchange)
        if record.algorithm != SHA1_DIGEST:
            return failed(f"{link.title} has hash algorithm {record.algorithm}.", link.exchange)
    found = [link for link, _ in seen]
    return passed(f"{len({link.owner for link in found})} NSEC3 records are right; {extent(found)}.", found[0].exchange)
