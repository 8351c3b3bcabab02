"""A-sep-signs: a key with the SEP flag signs the keys."""

from dns.rdatatype import RdataType

from dnsrig.items.authoritative._answers import zone_keys
from dnsrig.items.authoritative._ds import apex_rrset
from dnsrig.verification.item import Item
from dnsrig.verification.signatures import REVOKE, keys_for
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, not_applicable, passed

SEP = 0x0001
ITEM = Item(
    id="A-sep-signs",
    role="authoritative",
    group="DNSSEC: keys",
    requirement="A key with the Secure Entry Point flag signs the apex DNSKEY RRset.",
    references=("RFC 4034 section 2.1.1", "RFC 6781 section 3.1", "RFC 5011 section 2.1"),
    severity=Severity.WARNING,
    consequence=(
        "The key that operators give to the parent zone makes no chain of trust: the zone is bogus, or soon will be."
    ),
    procedure=(
        "The DNSKEY RRset is asked for with DO; a key with flags 257 is among those that signed it, where there are "
        "such keys. Revoked keys do not count: where no other key signed it, that is a failure, too."
    ),
    dig=("dig @{server} -p {port} {zone} DNSKEY +norec +dnssec",),
    needs=("signatures",),
    faults=("key-signing-key-does-not-sign", "only-revoked-key-signs"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Look for a signature by such a key."""
    revoked = [key for key in zone_keys(subject) if key.flags & REVOKE]
    usable = [key for key in zone_keys(subject) if not key.flags & REVOKE]
    entries = [key for key in usable if key.flags & SEP]
    dnskey = apex_rrset(subject, subject.dnskey, RdataType.DNSKEY)
    if dnskey is None:
        return inconclusive("The DNSKEY RRset was there a moment ago.", subject.dnskey)
    if dnskey.signatures and all(keys_for(one, revoked) and not keys_for(one, usable) for one in dnskey.signatures):
        return failed("The DNSKEY RRset is signed by revoked keys only, which nobody may trust.", subject.dnskey)
    if not entries:
        return not_applicable("No key of the zone has the flag.", subject.dnskey)
    for signature in dnskey.signatures:
        if keys_for(signature, entries):
            return passed(f"Key {signature.key_tag} signs the DNSKEY RRset.", subject.dnskey)
    tags = " and ".join(str(signature.key_tag) for signature in dnskey.signatures)
    return failed(f"The DNSKEY RRset is signed by {tags} only, which have not the flag.", subject.dnskey)
