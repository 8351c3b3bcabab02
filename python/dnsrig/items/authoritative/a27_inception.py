"""A-27: the inception of signatures."""

from dnsrig.items.authoritative._answers import Seen
from dnsrig.items.authoritative._seen import check_seen
from dnsrig.verification.item import Item
from dnsrig.verification.signatures import is_in_time, seconds_between
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity
from dnsrig.wording import lasting

ITEM = Item(
    id="A-27",
    role="authoritative",
    group="DNSSEC: signatures",
    requirement="Every RRset has a signature whose inception time lies before the present.",
    references=("RFC 4035 section 5.3.1", "RFC 4034 section 3.1.5", "JPRS-2010 A-27"),
    severity=Severity.CRITICAL,
    consequence="Validators reject the signatures: the names do not resolve for their users until the inception.",
    procedure=(
        "A sample of the zone's answers is asked for with DO; each signature's inception is compared with this clock. "
        "One signature of an RRset that is valid now is enough; A-untimely is about others beside it."
    ),
    dig=("dig @{server} -p {port} {zone} SOA +norec +dnssec",),
    needs=("signatures",),
    faults=("not-yet-valid",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Compare the inceptions with the time."""
    now_s = int(subject.now_s)

    def trouble(seen: Seen) -> str:
        if any(is_in_time(one, now_s) for one in seen.signed.signatures):
            return ""
        ahead_s = max(seconds_between(now_s, one.inception) for one in seen.signed.signatures)
        return "" if ahead_s <= 0 else f"The signature of {seen.title} is valid only in {lasting(ahead_s)} from now on."

    return check_seen(subject, trouble, "The signatures of {count} RRsets are valid already.")
