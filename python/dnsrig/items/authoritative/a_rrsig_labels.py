"""A-rrsig-labels: the number of labels in signatures."""

from dnsrig.items.authoritative._answers import Seen, child_of, expanded_name
from dnsrig.items.authoritative._seen import check_seen
from dnsrig.verification.item import Item
from dnsrig.verification.signatures import labels_of
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
        "A sample of the zone's answers is asked for with DO. Owner names that the zone has (the apex, landmarks, "
        "owners of NSEC and NSEC3 records) have as many labels as the field says, the root and a leading asterisk "
        "not counted; names made from a wildcard have more, by those that stand for the asterisk."
    ),
    dig=("dig @{server} -p {port} {host} +norec +dnssec",),
    needs=("signatures",),
    faults=("wrong-labels",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Compare the fields with the owner names."""
    made = expanded_name(subject)
    # Below the apex only a wildcard there can answer for a name of the rig's making.
    made_names = {child_of(subject.origin, subject.denied_label), made}

    def trouble(seen: Seen) -> str:
        name = seen.signed.rrset.name
        fields = {signature.labels for signature in seen.signed.signatures}
        right = labels_of(name) - (1 if name in made_names else 0)
        wrong = fields - {right}
        if not wrong:
            return ""
        return f"The signature of {seen.title} has {min(wrong)} in its Labels field, not {right}."

    return check_seen(subject, trouble, "The signatures of {count} RRsets have the right Labels field.")
