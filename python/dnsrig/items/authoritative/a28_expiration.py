"""A-28: the expiration of signatures."""

from dnsrig.items.authoritative._answers import Seen
from dnsrig.items.authoritative._seen import check_seen
from dnsrig.verification.item import Item
from dnsrig.verification.signatures import is_in_time, seconds_between
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity
from dnsrig.wording import lasting

ITEM = Item(
    id="A-28",
    role="authoritative",
    group="DNSSEC: signatures",
    requirement="Every RRset has a signature whose expiration time lies after the present.",
    references=("RFC 4035 section 5.3.1", "RFC 4034 section 3.1.5", "JPRS-2010 A-28"),
    severity=Severity.CRITICAL,
    consequence="Validators reject the signatures: the names do not resolve for their users.",
    procedure=(
        "A sample of the zone's answers is asked for with DO; each signature's expiration is compared with this clock. "
        "One signature of an RRset that is valid now is enough; A-untimely is about others beside it."
    ),
    dig=("dig @{server} -p {port} {zone} SOA +norec +dnssec",),
    needs=("signatures",),
    faults=(
        "expired",
        "one-expired-signature",
        "one-expired-denial",
        "one-expired-ds",
    ),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Compare the expirations with the time."""
    now_s = int(subject.now_s)

    def trouble(seen: Seen) -> str:
        if any(is_in_time(one, now_s) for one in seen.signed.signatures):
            return ""
        left_s = min(seconds_between(now_s, one.expiration) for one in seen.signed.signatures)
        return "" if left_s >= 0 else f"The signature of {seen.title} expired {lasting(-left_s)} ago."

    return check_seen(subject, trouble, "The signatures of {count} RRsets have not expired.")
