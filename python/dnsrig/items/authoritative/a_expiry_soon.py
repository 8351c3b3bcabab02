"""A-expiry-soon: signatures that are about to expire."""

from dnsrig.dates import HOUR_S
from dnsrig.items.authoritative._answers import Seen
from dnsrig.items.authoritative._seen import check_seen
from dnsrig.verification.item import Item
from dnsrig.verification.signatures import seconds_between
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity
from dnsrig.wording import lasting

LEAST_S = 12 * HOUR_S
"""Time for somebody to notice that a zone is not signed again, and to mend it; Zonemaster's DNSSEC04 has it too."""

ITEM = Item(
    id="A-expiry-soon",
    role="authoritative",
    group="DNSSEC: signatures",
    requirement="Every RRset has a signature that is valid for at least 12 hours more.",
    references=("RFC 6781 section 4.4.2",),
    severity=Severity.WARNING,
    consequence=(
        "It may be that nobody signs the zone any more: then it is lost to the users of validators within hours."
    ),
    procedure=(
        "A sample of the zone's answers is asked for with DO; the time until the last signature of each RRset expires "
        "is compared with 12 hours. Signatures that have expired already are A-28's. Servers that sign on the fly give "
        "signatures of a day or more."
    ),
    dig=("dig @{server} -p {port} {zone} SOA +norec +dnssec",),
    needs=("signatures",),
    faults=("expires-soon", "expires-within-hours"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Compare the time left with what people need."""

    def trouble(seen: Seen) -> str | None:
        left_s = max(seconds_between(int(subject.now_s), one.expiration) for one in seen.signed.signatures)
        if left_s < 0:
            return None
        return "" if left_s >= LEAST_S else f"The signature of {seen.title} expires in {lasting(left_s)}."

    return check_seen(subject, trouble, "The signatures of {count} RRsets are valid for 12 hours or more.")
