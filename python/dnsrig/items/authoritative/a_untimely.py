"""A-untimely: signatures out of their time beside valid ones."""

from dnsrig.items.authoritative._answers import Seen
from dnsrig.items.authoritative._seen import check_seen
from dnsrig.verification.item import Item
from dnsrig.verification.signatures import is_in_time
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="A-untimely",
    role="authoritative",
    group="DNSSEC: signatures",
    requirement="No signature is out of its time that comes with an RRset which has a valid one.",
    references=("RFC 6781 section 4.4.2", "RFC 4035 section 5.3.3"),
    severity=Severity.NOTICE,
    consequence=(
        "Responses are larger than they need be, and validators try signatures in vain; whatever should replace or "
        "remove old signatures does not."
    ),
    procedure=(
        "A sample of the zone's answers is asked for with DO; where one of an RRset's signatures is valid now, by "
        "inception and expiration and this clock, so are the others."
    ),
    dig=("dig @{server} -p {port} {zone} SOA +norec +dnssec",),
    needs=("signatures",),
    faults=("keeps-expired",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Compare the times of signatures that stand side by side."""
    now_s = int(subject.now_s)

    def trouble(seen: Seen) -> str:
        untimely = [one for one in seen.signed.signatures if not is_in_time(one, now_s)]
        if not untimely or len(untimely) == len(seen.signed.signatures):
            return ""
        tag = untimely[0].key_tag
        return f"A signature of {seen.title} by key {tag} is out of its time, beside one that is valid."

    return check_seen(subject, trouble, "{count} RRsets have no signatures out of their time beside valid ones.")
