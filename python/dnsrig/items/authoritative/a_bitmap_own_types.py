"""A-bitmap-own-types: the types of DNSSEC's own in bitmaps."""

from dns.rdatatype import RdataType
from dns.rdtypes.ANY.NSEC import NSEC

from dnsrig.items.authoritative._answers import nothing_seen
from dnsrig.items.authoritative._chain import extent, links
from dnsrig.items.authoritative._unchanged import unless_changed
from dnsrig.verification.denial import types_of
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

ITEM = Item(
    id="A-bitmap-own-types",
    role="authoritative",
    group="DNSSEC: chain",
    requirement=(
        "NSEC records list NSEC and RRSIG; NSEC3 records list RRSIG where there are signed data, and never NSEC3."
    ),
    references=("RFC 4035 section 2.3", "RFC 4034 section 4.1.2", "RFC 5155 section 7.1"),
    severity=Severity.WARNING,
    consequence=(
        "Validators that look at these bits reject the denial; others can be told that there are no signatures."
    ),
    procedure=(
        "The bitmaps of the sample's denials are looked at. Of NSEC3 records only those with types that are signed, "
        "others than the NS of a delegation, must list RRSIG."
    ),
    dig=("dig @{server} -p {port} {zone} LOC +norec +dnssec",),
    needs=("signatures",),
    faults=("bitmap-without-rrsig",),
)


@unless_changed
def check(subject: AuthoritativeSubject) -> Outcome:
    """Look at the bitmaps."""
    seen = links(subject)
    for link in seen:
        types = types_of(link.record)
        if isinstance(link.record, NSEC):
            missing = [one.name for one in (RdataType.NSEC, RdataType.RRSIG) if one not in types]
            if missing:
                return failed(f"{link.title} does not list {' and '.join(missing)}.", link.exchange)
            continue
        if RdataType.NSEC3 in types:
            return failed(f"{link.title} lists NSEC3, which is at no name that the zone has.", link.exchange)
        is_cut = RdataType.NS in types and RdataType.SOA not in types
        signed = types & {RdataType.DS} if is_cut else types - {RdataType.RRSIG}
        if signed and RdataType.RRSIG not in types:
            return failed(f"{link.title} does not list RRSIG.", link.exchange)
    if not seen:
        return nothing_seen("a denial")
    count = len({link.owner for link in seen})
    return passed(f"The bitmaps of {count} records are right; {extent(seen)}.", seen[0].exchange)
