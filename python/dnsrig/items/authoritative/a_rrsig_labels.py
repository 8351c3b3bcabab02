"""A-rrsig-labels: the number of labels in signatures."""

from collections.abc import Iterable

import dns.name
from dns.rdtypes.ANY.DNSKEY import DNSKEY
from dns.rdtypes.ANY.RRSIG import RRSIG

from dnsrig.items.authoritative._answers import Seen, child_of, zone_keys
from dnsrig.items.authoritative._denials import records_in
from dnsrig.items.authoritative._seen import check_seen
from dnsrig.verification.item import Item
from dnsrig.verification.signatures import labels_of, signature_trouble
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="A-rrsig-labels",
    role="authoritative",
    group="DNSSEC: signatures",
    requirement="The Labels field of every signature is the number of labels of the name that the zone has.",
    references=("RFC 4034 section 3.1.3", "RFC 4035 section 5.3.1"),
    severity=Severity.ERROR,
    consequence="Validators take the record for one made from a wildcard, and reject it for want of a denial.",
    procedure=(
        "A sample of the zone's answers is asked for with DO. Owner names have as many labels as the field says, the "
        "root and a leading asterisk not counted. A name may have more if it was made from a wildcard: the signature "
        "is valid for that, and the response proves that the name itself does not exist, or it was thought up."
    ),
    dig=("dig @{server} -p {port} {host} {type} +norec +dnssec",),
    needs=("signatures",),
    faults=("wrong-labels",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Compare the fields with the owner names."""
    keys = zone_keys(subject)

    def trouble(seen: Seen) -> str:
        name = seen.signed.rrset.name
        most = labels_of(name)
        for signature in seen.signed.signatures:
            if signature.labels > most or (
                signature.labels < most and not _is_from_wildcard(subject, seen, signature, keys)
            ):
                return f"The signature of {seen.title} has {signature.labels} in its Labels field, not {most}."
        return ""

    return check_seen(subject, trouble, "The signatures of {count} RRsets have the right Labels field.")


def _is_from_wildcard(subject: AuthoritativeSubject, seen: Seen, signature: RRSIG, keys: Iterable[DNSKEY]) -> bool:
    """Say whether an RRset with too few labels was made from a wildcard.

    Names of the rig's making always are, be it well done or not (see A-signatures-valid, A-proof-wildcard); for others
    the signature is valid, and the name is proved not to exist itself (RFC 4035 section 3.1.3.3), or the zone has it.
    """
    name = seen.signed.rrset.name
    if name == child_of(name.parent(), subject.denied_label):
        return True
    if signature_trouble(seen.signed.rrset, signature, keys):
        return False
    records = records_in(subject, seen.exchange)
    encloser = dns.name.Name(name.labels[len(name) - 1 - signature.labels :])
    return records is not None and bool(records.wildcard_answer(name, encloser))
