"""A-delegation-glue: every delegation has the addresses that it needs."""

import dns.name
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.NS import NS

from dnsrig.items.authoritative._contents import ADDRESSES, referrals
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Outcome, Severity, failed, not_applicable, passed

ITEM = Item(
    id="A-delegation-glue",
    role="authoritative",
    group="Zone data",
    requirement="Each delegation has the addresses of those of its servers whose names are at or below it.",
    references=("RFC 1034 section 4.2.1", "RFC 9471 section 3", "RFC 1912 section 2.3"),
    severity=Severity.ERROR,
    consequence="Resolvers cannot reach the delegated zone, or have fewer servers to ask than it is thought to have.",
    procedure=(
        "Every delegation that is known, or 100 of them, is asked for NS: the referral has an address of each server"
        " whose name is at or below the delegation."
    ),
    dig=("dig @{server} -p {port} {delegation} NS +norec +dnssec",),
    needs=("zone",),
    faults=("no-glue", "delegation-without-glue"),
)


def _lacking(exchange: Exchange, names: list[dns.name.Name]) -> list[dns.name.Name]:
    """List the names of which a referral has no address."""
    return [name for name in names if all(rrset_of(exchange, "additional", name, rtype) is None for rtype in ADDRESSES)]


def check(subject: AuthoritativeSubject) -> Outcome:
    """Look at the referrals."""
    judged: list[Exchange] = []
    for cut, exchange in referrals(subject):
        rrset = rrset_of(exchange, "authority", cut, RdataType.NS)
        below = [one.target for one in rrset or () if isinstance(one, NS) and one.target.is_subdomain(cut)]
        if not below or exchange.is_truncated:
            continue
        lacking = _lacking(exchange, below)
        if lacking and exchange.transport == "udp":
            # By UDP there may have been no room for all.
            by_tcp = subject.asker.tcp(exchange.query)
            lacking = _lacking(by_tcp if by_tcp.message is not None else exchange, below)
        if lacking:
            return failed(f"The referral to {cut} has no address of {lacking[0]}.", exchange)
        judged.append(exchange)
    if not judged:
        return not_applicable(subject.unknown("delegation to servers below it"))
    return passed(f"{len(judged)} delegations have the addresses of their servers.", judged[0])
