"""A-nsec-ttl: the TTL of NSEC and NSEC3 records."""

from dns.rdatatype import RdataType

from dnsrig.items.authoritative._answers import nothing_seen, zone_soa
from dnsrig.items.authoritative._chain import links
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

ITEM = Item(
    id="A-nsec-ttl",
    role="authoritative",
    group="DNSSEC: chain",
    requirement="NSEC and NSEC3 records have no larger TTL than the SOA record's MINIMUM field and TTL.",
    references=("RFC 9077 section 3", "RFC 9077 section 2"),
    severity=Severity.NOTICE,
    consequence="Resolvers that deny names from their cache (RFC 8198) deny new names for longer than the zone says.",
    procedure="The TTLs of the NSEC and NSEC3 records in the sample's denials are compared with the SOA record.",
    dig=("dig @{server} -p {port} absent.{zone} A +norec +dnssec", "dig @{server} -p {port} {zone} SOA +norec"),
    needs=("signatures",),
    faults=("long-denial-ttl",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Compare the TTLs."""
    # Only those of denials: what is asked for as NSEC is an answer like others.
    seen, soa = [link for link in links(subject) if link.exchange.query.rtype != RdataType.NSEC], zone_soa(subject)
    if not seen or soa is None:
        return nothing_seen("a denial")
    record, ttl_s = soa
    most_s = min(record.minimum, ttl_s)
    longest = max(seen, key=lambda link: link.ttl_s)
    if longest.ttl_s > most_s:
        reason = f"{longest.title} has the TTL {longest.ttl_s} s; the SOA record allows {most_s} s."
        return failed(reason, longest.exchange, subject.soa)
    return passed(f"The longest TTL is {longest.ttl_s} s, the SOA record allows {most_s} s.", longest.exchange)
