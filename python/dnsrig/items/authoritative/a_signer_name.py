"""A-signer-name: the signer's name."""

from dnsrig.items.authoritative._answers import Seen
from dnsrig.items.authoritative._seen import check_seen
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="A-signer-name",
    role="authoritative",
    group="DNSSEC: signatures",
    requirement="The signer's name in every signature is the zone's name.",
    references=("RFC 4035 section 5.3.1", "RFC 4034 section 3.1.7"),
    severity=Severity.CRITICAL,
    consequence="Validators reject the signatures: the names do not resolve for their users.",
    procedure="A sample of the zone's answers is asked for with DO; the signer's name of each signature is compared.",
    dig=("dig @{server} -p {port} {zone} SOA +norec +dnssec",),
    needs=("signatures",),
    faults=("wrong-signer-name",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Compare the signers' names."""

    def trouble(seen: Seen) -> str:
        wrong = [one.signer for one in seen.signed.signatures if one.signer != subject.origin]
        return "" if not wrong else f"The signature of {seen.title} has the signer's name {wrong[0]}."

    return check_seen(subject, trouble, "The signatures of {count} RRsets have the zone's name.")
