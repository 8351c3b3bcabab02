"""A-ds-digest: digest types that must not be used."""

from dns.rdatatype import RdataType
from dns.rdtypes.ANY.CDS import CDS
from dns.rdtypes.ANY.DS import DS

from dnsrig.items.authoritative._algorithms import FORBIDDEN_DIGESTS
from dnsrig.items.authoritative._contents import contents
from dnsrig.items.authoritative._ds import NO_KEY, apex_rrset, ds_evidence
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, not_applicable, passed

ITEM = Item(
    id="A-ds-digest",
    role="authoritative",
    group="DNSSEC: keys",
    requirement="No DS or CDS record of the zone has a digest type that must not be used for delegation.",
    references=("RFC 8624 section 3.3", "RFC 9904", "RFC 9905", "RFC 9906"),
    severity=Severity.WARNING,
    consequence="Validators that have given up SHA-1 or GOST take a zone for unsigned that has no other DS record.",
    procedure=(
        "The DS records that --ds gives, and the zone's CDS records, have no digest type 1 or 3; DS records that the "
        "zone has for delegations are not of these types alone."
    ),
    dig=("dig @{resolver} {zone} DS", "dig @{server} -p {port} {zone} CDS +norec +dnssec"),
    needs=("signed",),
    faults=("sha-1-ds", "sha-1-ds-of-delegation"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Look at the digest types."""
    asked = subject.answers.get(subject.origin, RdataType.CDS)
    cds = apex_rrset(subject, asked, RdataType.CDS)
    children = [one for one in ([] if cds is None else cds.rrset) if isinstance(one, CDS) and one.algorithm != NO_KEY]
    used = sorted({int(record.digest_type) for record in (*subject.ds, *children)})
    below = [one for one in contents(subject).of(RdataType.DS) if one.name != subject.origin]
    for delegated in below:
        digests = {record.digest_type for record in delegated.records if isinstance(record, DS)}
        if digests and digests <= FORBIDDEN_DIGESTS.keys():
            kinds = " and ".join(FORBIDDEN_DIGESTS[digest] for digest in sorted(digests))
            return failed(f"The digests of {delegated.title} are of {kinds} only.", delegated.shown)
    if not used and below:
        return passed(f"Each of {len(below)} secure delegations has a digest of another type.", asked)
    if not used:
        return not_applicable("No DS records are known, and the zone has no CDS records; --ds gives DS records.", asked)
    wrong = [FORBIDDEN_DIGESTS[digest] for digest in used if digest in FORBIDDEN_DIGESTS]
    shown = (ds_evidence(subject), asked) if subject.ds else (asked,)
    if wrong:
        return failed(f"There are digests of {' and '.join(wrong)}.", *shown)
    return passed(f"The digests are of type {' and '.join(map(str, used))}.", *shown)
