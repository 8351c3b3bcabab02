"""A-expiry-ttl: signatures that expire while caches hold them."""

from dnsrig.items.authoritative._answers import Seen
from dnsrig.items.authoritative._seen import check_seen
from dnsrig.verification.item import Item
from dnsrig.verification.signatures import seconds_between
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="A-expiry-ttl",
    role="authoritative",
    group="DNSSEC: signatures",
    requirement="Every signature is valid for at least as long as caches may hold it.",
    references=("RFC 6781 section 4.4.1", "RFC 4033 section 8.1"),
    severity=Severity.WARNING,
    consequence="The zone's signing has stopped or is late: within one TTL its names stop to resolve for validators.",
    procedure=(
        "A sample of the zone's answers is asked for with DO; the time until the last signature of each "
        "RRset expires is compared with its TTL. Signatures that have expired already are A-28's."
    ),
    dig=("dig @{server} -p {port} {zone} SOA +norec +dnssec",),
    needs=("signatures",),
    faults=("expires-soon",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Compare the time left with the TTL."""

    def trouble(seen: Seen) -> str | None:
        left_s = max(seconds_between(int(subject.now_s), one.expiration) for one in seen.signed.signatures)
        ttl_s = seen.signed.signatures_ttl
        if left_s < 0:
            return None
        return "" if left_s >= ttl_s else f"The signature of {seen.title} expires in {left_s} s; its TTL is {ttl_s} s."

    return check_seen(subject, trouble, "The signatures of {count} RRsets outlast their TTL.")
