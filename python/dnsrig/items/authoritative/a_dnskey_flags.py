"""A-dnskey-flags: flags and protocol of keys."""

import dns.dnssec

from dnsrig.items.authoritative._answers import zone_keys
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

ZONE, REVOKE, SEP = 0x0100, 0x0080, 0x0001
PROTOCOL = 3
ITEM = Item(
    id="A-dnskey-flags",
    role="authoritative",
    group="DNSSEC: keys",
    requirement="Every key at the apex has the Zone Key flag, no reserved flag, and protocol 3.",
    references=("RFC 4034 section 2.1.1", "RFC 4034 section 2.1.2", "RFC 5011 section 7"),
    severity=Severity.ERROR,
    consequence="Validators do not use such a key: what only it signs is bogus.",
    procedure="The DNSKEY RRset is asked for; flags other than Zone Key, REVOKE and SEP are reserved.",
    dig=("dig @{server} -p {port} {zone} DNSKEY +norec",),
    needs=("signed",),
    faults=("reserved-key-flag",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Look at flags and protocols."""
    keys = zone_keys(subject)
    for key in keys:
        tag = dns.dnssec.key_id(key)
        if key.protocol != PROTOCOL:
            return failed(f"Key {tag} has protocol {key.protocol}, not 3.", subject.dnskey)
        if not key.flags & ZONE:
            return failed(f"Key {tag} is without the Zone Key flag: its flags are {int(key.flags)}.", subject.dnskey)
        reserved = key.flags & ~(ZONE | REVOKE | SEP)
        if reserved:
            return failed(f"Key {tag} has reserved flags: its flags are {int(key.flags)}.", subject.dnskey)
    return passed(f"Flags and protocol of {len(keys)} keys are right.", subject.dnskey)
