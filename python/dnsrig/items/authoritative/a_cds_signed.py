"""A-cds-signed: who signs CDS and CDNSKEY records."""

import dns.dnssec
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._answers import zone_keys
from dnsrig.items.authoritative._ds import apex_rrset
from dnsrig.verification.item import Item
from dnsrig.verification.signatures import keys_for
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, not_applicable, passed

ITEM = Item(
    id="A-cds-signed",
    role="authoritative",
    group="DNSSEC: keys",
    requirement="CDS and CDNSKEY records are signed by a key that signs the apex DNSKEY RRset.",
    references=("RFC 7344 section 4.1",),
    severity=Severity.WARNING,
    consequence="The parent zone does not act on them, so that a change of keys that waits for it comes to a stop.",
    procedure=(
        "CDS and CDNSKEY RRsets are asked for with DO; one of their signatures is by a key that signs the DNSKEY "
        "RRset too: one that is in the DNSKEY RRset and that DS records can point to. Whether they are valid is "
        "A-signatures-valid's."
    ),
    dig=("dig @{server} -p {port} {zone} CDS +norec +dnssec", "dig @{server} -p {port} {zone} DNSKEY +norec +dnssec"),
    needs=("signatures",),
    faults=("cds-signed-by-zone-signing-key", "key-signing-key-does-not-sign", "only-revoked-key-signs"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Verify both RRsets by the keys that sign keys."""
    dnskey = apex_rrset(subject, subject.dnskey, RdataType.DNSKEY)
    signers = set() if dnskey is None else {signature.key_tag for signature in dnskey.signatures}
    keys = [key for key in zone_keys(subject) if dns.dnssec.key_id(key) in signers]
    asked = []
    for rtype in (RdataType.CDS, RdataType.CDNSKEY):
        exchange = subject.answers.get(subject.origin, rtype)
        found = apex_rrset(subject, exchange, rtype)
        if found is None or not found.signatures:
            # A-rrsig is about signatures that are not there.
            continue
        asked.append(exchange)
        if not any(keys_for(signature, keys) for signature in found.signatures):
            tags = " and ".join(str(signature.key_tag) for signature in found.signatures)
            reason = f"The {rtype.name} RRset is signed by {tags}, none of which signs the DNSKEY RRset."
            return failed(reason, exchange, subject.dnskey)
    if not asked:
        return not_applicable("The zone has neither CDS nor CDNSKEY records with signatures.")
    return passed("They are signed by a key that signs the DNSKEY RRset.", *asked, subject.dnskey)
