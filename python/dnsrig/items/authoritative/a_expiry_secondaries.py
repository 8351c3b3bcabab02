"""A-expiry-secondaries: signatures that expire while secondary servers hold the zone."""

from dnsrig.items.authoritative._answers import Seen, nothing_seen, zone_soa
from dnsrig.items.authoritative._seen import check_seen
from dnsrig.verification.item import Item
from dnsrig.verification.signatures import seconds_between
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity
from dnsrig.wording import lasting

ITEM = Item(
    id="A-expiry-secondaries",
    role="authoritative",
    group="DNSSEC: signatures",
    requirement="Every signature is valid for at least as long as secondaries serve the zone without its primary.",
    references=("RFC 6781 section 4.4.1",),
    severity=Severity.NOTICE,
    consequence="If the primary fails, secondaries go on to serve signatures that have expired.",
    procedure=(
        "A sample of the zone's answers is asked for with DO; the time until the last signature of each "
        "RRset expires is compared with the SOA record's EXPIRE field. Signatures that have expired already are A-28's."
    ),
    dig=("dig @{server} -p {port} {zone} SOA +norec +dnssec",),
    needs=("signatures",),
    faults=("expires-soon", "expires-within-hours", "expires-within-soa-expire"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Compare the time left with EXPIRE."""
    soa = zone_soa(subject)
    if soa is None:
        return nothing_seen("an SOA record")
    expire_s = soa[0].expire

    def trouble(seen: Seen) -> str | None:
        left_s = max(seconds_between(int(subject.now_s), one.expiration) for one in seen.signed.signatures)
        if left_s < 0:
            return None
        if left_s >= expire_s:
            return ""
        left = f"The signature of {seen.title} expires in {lasting(left_s)}"
        return f"{left}; the SOA record's EXPIRE field is {expire_s} s, {lasting(expire_s)}."

    return check_seen(subject, trouble, "The signatures of {count} RRsets outlast the SOA record's EXPIRE field.")
