"""A-revoked-key-signs: a key that is revoked signs its revocation."""

import dns.dnssec
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._answers import zone_keys
from dnsrig.items.authoritative._ds import apex_rrset
from dnsrig.verification.item import Item
from dnsrig.verification.signatures import REVOKE, signature_trouble
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, not_applicable, passed

ITEM = Item(
    id="A-revoked-key-signs",
    role="authoritative",
    group="DNSSEC: keys",
    requirement="A key with the REVOKE flag signs the apex DNSKEY RRset.",
    references=("RFC 5011 section 2.1",),
    severity=Severity.WARNING,
    consequence="Resolvers that have the key as trust anchor do not learn of the revocation, and go on to trust it.",
    procedure="The DNSKEY RRset is asked for with DO; each key with the REVOKE flag has a valid signature.",
    dig=("dig @{server} -p {port} {zone} DNSKEY +norec +dnssec",),
    needs=("signatures",),
    faults=("revoked-key-does-not-sign",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Verify the DNSKEY RRset by each revoked key."""
    revoked = [key for key in zone_keys(subject) if key.flags & REVOKE]
    if not revoked:
        return not_applicable("No key of the zone is revoked.", subject.dnskey)
    dnskey = apex_rrset(subject, subject.dnskey, RdataType.DNSKEY)
    if dnskey is None:
        return inconclusive("The DNSKEY RRset was there a moment ago.", subject.dnskey)
    for key in revoked:
        said = [signature_trouble(dnskey.rrset, signature, [key]) for signature in dnskey.signatures]
        if "" not in said:
            tag = dns.dnssec.key_id(key)
            return failed(f"The revoked key {tag} has no valid signature over the DNSKEY RRset.", subject.dnskey)
    return passed(f"{len(revoked)} revoked keys sign the DNSKEY RRset.", subject.dnskey)
