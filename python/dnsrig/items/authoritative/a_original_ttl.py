"""A-original-ttl: TTLs and the original TTL in signatures."""

from dnsrig.items.authoritative._answers import Seen
from dnsrig.items.authoritative._seen import check_seen
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="A-original-ttl",
    role="authoritative",
    group="DNSSEC: signatures",
    requirement="No RRset has a larger TTL than the Original TTL field of its signature.",
    references=("RFC 4035 section 2.2", "RFC 4034 section 3.1.4", "RFC 4035 section 5.3.3"),
    severity=Severity.WARNING,
    consequence="Validators lower the TTL to the original one; the zone's data were changed after they were signed.",
    procedure=(
        "A sample of the zone's answers is asked for with DO; each TTL is compared with the Original TTL field of the "
        "signature. A smaller TTL is right: of the SOA record in denials it is that of RFC 2308."
    ),
    dig=("dig @{server} -p {port} {host} {type} +norec +dnssec",),
    needs=("signatures",),
    faults=(
        "raised-ttl",
        "wrong-original-ttl",
        "soa-ttl-in-denial",
    ),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Compare TTLs with original TTLs."""

    def trouble(seen: Seen) -> str:
        ttl_s = seen.signed.rrset.ttl
        lowest = min(signature.original_ttl for signature in seen.signed.signatures)
        return (
            ""
            if ttl_s <= lowest
            else f"{seen.title} has the TTL {ttl_s} s; its signature's Original TTL is {lowest} s."
        )

    return check_seen(subject, trouble, "{count} RRsets have TTLs within the original ones.")
