"""A-47: the parent zone's DS records point to a key."""

from dnsrig.items.authoritative._answers import zone_keys
from dnsrig.items.authoritative._ds import ds_evidence, is_digest_of, keys_of_ds
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

ITEM = Item(
    id="A-47",
    role="authoritative",
    group="DNSSEC: keys",
    requirement="A DS record of the parent zone has key tag, algorithm and digest of a key in the apex DNSKEY RRset.",
    references=("RFC 4035 section 2.4", "RFC 4035 section 5.2", "JPRS-2010 A-47"),
    severity=Severity.CRITICAL,
    consequence="There is no chain of trust to the zone: none of its names resolves for users of validators.",
    procedure=("The DS records that --ds gives are compared with the zone's keys."),
    dig=("dig @{server} -p {port} {zone} DNSKEY +norec +dnssec", "dig @{resolver} {zone} DS"),
    needs=("signed", "ds"),
    faults=(
        "ds-of-another-key",
        "only-revoked-key-signs",
    ),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Compare DS records and keys."""
    keys = zone_keys(subject)
    shown = (ds_evidence(subject), subject.dnskey)
    matching = keys_of_ds(subject.ds, keys, subject.origin)
    if matching:
        return passed(f"{len(matching)} of the zone's {len(keys)} keys have DS records.", *shown)
    if any(is_digest_of(record, key, subject.origin) is None for record in subject.ds for key in keys):
        return inconclusive("The DS records have digest types that cannot be computed here.", *shown)
    tags = " and ".join(str(record.key_tag) for record in subject.ds)
    return failed(f"The DS records are of key {tags}; no key of the zone fits.", *shown)
