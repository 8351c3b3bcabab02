"""A-rrsig-ttl: the TTL of signatures."""

from dns.rdatatype import RdataType

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
        "A sample of the zone's answers is asked for with DO; the TTLs of RRsets and of their signatures are "
        "compared. In "
        "denials the SOA record has a TTL of its own (RFC 2308 section 3), below which its signature need not go."
    ),
    dig=("dig @{server} -p {port} {host} {type} +norec +dnssec",),
    needs=("signatures",),
    faults=("rrsig-ttl-differs",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Compare the TTLs."""

    def trouble(seen: Seen) -> str:
        ttl_s, signatures_ttl_s = seen.signed.rrset.ttl, seen.signed.signatures_ttl
        if ttl_s == signatures_ttl_s or _is_of_denial(seen):
            return ""
        return f"{seen.title} has the TTL {ttl_s} s, its signature {signatures_ttl_s} s."

    return check_seen(subject, trouble, "{count} RRsets and their signatures have the same TTL.")


def _is_of_denial(seen: Seen) -> bool:
    """Whether it is the SOA record of a denial, with a lower TTL than its signature: validators take the lower one."""
    message = seen.exchange.message
    is_soa = seen.signed.rrset.rdtype == RdataType.SOA
    is_lower = seen.signed.rrset.ttl < (seen.signed.signatures_ttl or 0)
    is_asked_for = message is None or any(rrset.rdtype == RdataType.SOA for rrset in message.answer)
    return is_soa and is_lower and not is_asked_for
