"""A-unsigned: zones that are not signed have no records of DNSSEC."""

from dns.rdatatype import RdataType

from dnsrig.items.authoritative._answers import nothing_seen, sample
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

OWN_TYPES = (RdataType.RRSIG, RdataType.NSEC, RdataType.NSEC3, RdataType.NSEC3PARAM)
ITEM = Item(
    id="A-unsigned",
    role="authoritative",
    group="DNSSEC: signatures",
    requirement="A zone without DNSKEY records has no RRSIG, NSEC, NSEC3 and NSEC3PARAM records in its answers.",
    references=("RFC 4035 section 2.6", "RFC 4035 section 3.1"),
    severity=Severity.WARNING,
    consequence=(
        "The zone was half unsigned: validators with a DS record for it reject it, the others get useless data."
    ),
    procedure="A sample of the zone's answers is asked for with DO.",
    dig=("dig @{server} -p {port} {zone} SOA +norec +dnssec",),
    needs=("unsigned",),
    faults=("leftover-signatures",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Look for such records."""
    exchanges = sample(subject)
    for exchange in exchanges:
        sections = [] if exchange.message is None else [exchange.message.answer, exchange.message.authority]
        for rrset in (one for section in sections for one in section):
            if rrset.rdtype in OWN_TYPES and rrset.name.is_subdomain(subject.origin):
                kind = RdataType.make(rrset.rdtype).name
                return failed(f"The response to {exchange.title} has {kind} records.", exchange)
    if not exchanges:
        return nothing_seen("an answer")
    return passed(f"{len(exchanges)} responses have none.", exchanges[0])
