"""A-glue: glue."""

import dns.flags
import dns.name
from dns.rdatatype import RdataType

from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Outcome, Severity, failed, not_applicable, passed

ITEM = Item(
    id="A-glue",
    role="authoritative",
    group="Delegation",
    requirement="A referral to servers below the delegation has their addresses, or TC.",
    references=("RFC 9471 section 3", "RFC 1034 section 4.2.1"),
    severity=Severity.CRITICAL,
    consequence="Resolvers cannot reach the delegated zone at all: its servers' addresses are in the zone itself.",
    procedure=(
        "A name with glue is asked for; the referral has an address of each server whose name is at or below the "
        "delegation. A truncated referral is asked for again by TCP."
    ),
    dig=("dig @{server} -p {port} {glue} A +norec +noedns",),
    needs=("zone", "glue"),
    faults=("no-glue",),
)


def _has_address(exchange: Exchange, name: dns.name.Name) -> bool:
    addresses = (RdataType.A, RdataType.AAAA)
    return any(rrset_of(exchange, "additional", name, rtype) is not None for rtype in addresses)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for what lies below the delegation."""
    exchange = subject.asker.ask(Query(name=subject.name("glue"), rtype=RdataType.A, payload=None))
    if exchange.message is None:
        return subject.unanswered(exchange)
    if exchange.has_flag(dns.flags.AA) or exchange.message.answer:
        # From the delegated zone, where the server has that too; else A-below-cut fails.
        return not_applicable("The response is no referral.", exchange)
    for rrset in exchange.message.authority:
        # Whether the referral is one to below the zone is A-referral's to tell.
        is_below = rrset.name.is_subdomain(subject.origin) and rrset.name != subject.origin
        if rrset.rdtype == RdataType.NS and is_below:
            below = [rdata.target for rdata in rrset if rdata.target.is_subdomain(rrset.name)]
            lacking = [name for name in below if not _has_address(exchange, name)]
            if lacking:
                return failed(f"Of {lacking[0]} the referral to {rrset.name} has no address.", exchange)
            if below:
                return passed(f"The referral has addresses of {', '.join(map(str, below))}.", exchange)
    return not_applicable("The response is no referral to servers below the delegation.", exchange)
