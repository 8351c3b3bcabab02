"""A-49: a key that a DS record points to signs the DNSKEY RRset."""

from dns.rdatatype import RdataType

from dnsrig.items.authoritative._answers import zone_keys
from dnsrig.items.authoritative._ds import apex_rrset, ds_evidence, keys_of_ds
from dnsrig.verification.item import Item
from dnsrig.verification.signatures import signature_trouble
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, not_applicable, passed

ITEM = Item(
    id="A-49",
    role="authoritative",
    group="DNSSEC: keys",
    requirement="The apex DNSKEY RRset has a valid signature by a key that a DS record of the parent zone points to.",
    references=("RFC 4035 section 2.4", "RFC 4035 section 5.2", "JPRS-2010 A-49"),
    severity=Severity.CRITICAL,
    consequence="There is no chain of trust to the zone: none of its names resolves for users of validators.",
    procedure=(
        "The DNSKEY RRset is verified with those keys that the DS records of --ds point "
        "to. If they point to none, that is A-47's."
    ),
    dig=("dig @{server} -p {port} {zone} DNSKEY +norec +dnssec", "dig @{resolver} {zone} DS"),
    needs=("signatures", "ds"),
    faults=("bad-dnskey-signature", "key-signing-key-does-not-sign"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Verify the DNSKEY RRset by the keys with DS records."""
    trusted = keys_of_ds(subject.ds, zone_keys(subject), subject.origin)
    shown = (ds_evidence(subject), subject.dnskey)
    if not trusted:
        return not_applicable("No DS record points to a key of the zone; A-47 is about that.", *shown)
    dnskey = apex_rrset(subject, subject.dnskey, RdataType.DNSKEY)
    if dnskey is None:
        return inconclusive("The DNSKEY RRset was there a moment ago.", subject.dnskey)
    said = [signature_trouble(dnskey.rrset, signature, trusted) for signature in dnskey.signatures]
    if "" in said:
        return passed("A key with a DS record signs the DNSKEY RRset.", *shown)
    why = next((trouble for trouble in said if trouble), "there is none by them")
    return failed(f"No signature of the DNSKEY RRset by the keys with DS records is valid: {why}.", *shown)
