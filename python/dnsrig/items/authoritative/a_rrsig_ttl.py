"""A-rrsig-ttl: the TTL of signatures."""

from dnsrig.items.authoritative._answers import Seen
from dnsrig.items.authoritative._seen import check_seen
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="A-rrsig-ttl",
    role="authoritative",
    group="DNSSEC: signatures",
    requirement="Signatures have the TTL of the RRset that they cover.",
    references=("RFC 4034 section 3", "RFC 4035 section 2.2"),
    severity=Severity.WARNING,
    consequence=(
        "Caches lose signatures before the data, or keep them longer, and clients behind them fail to validate."
    ),
    procedure=(
        "A sample of the zone's answers is asked for with DO; the TTLs of RRsets and of their signatures are compared."
    ),
    dig=("dig @{server} -p {port} {host} +norec +dnssec",),
    needs=("signatures",),
    faults=("rrsig-ttl-differs",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Compare the TTLs."""

    def trouble(seen: Seen) -> str:
        ttl_s, signatures_ttl_s = seen.signed.rrset.ttl, seen.signed.signatures_ttl
        if ttl_s == signatures_ttl_s:
            return ""
        return f"{seen.title} has the TTL {ttl_s} s, its signature {signatures_ttl_s} s."

    return check_seen(subject, trouble, "{count} RRsets and their signatures have the same TTL.")
