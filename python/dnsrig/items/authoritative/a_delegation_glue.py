"""A-delegation-glue: every delegation has the addresses that it needs."""

import dns.name
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.NS import NS

from dnsrig.items.authoritative._contents import ADDRESSES, contents, referrals
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Outcome, Severity, failed, not_applicable, passed

ITEM = Item(
    id="A-delegation-glue",
    role="authoritative",
    group="Zone data",
    requirement="Referrals have all addresses that the zone has of servers at or below the delegation.",
    references=("RFC 1034 section 4.2.1", "RFC 9471 section 3", "RFC 1912 section 2.3"),
    severity=Severity.ERROR,
    consequence="Resolvers cannot reach the delegated zone, or have fewer servers to ask than it is thought to have.",
    procedure=(
        "Every delegation that is known, or 100 of them, is asked for NS: the referral has an address of each server"
        " whose name is at or below the delegation, and of both families where the zone's data are known to have both."
    ),
    dig=("dig @{server} -p {port} {delegation} NS +norec +dnssec",),
    needs=("zone",),
    faults=("no-glue", "no-ipv6-glue", "no-glue-with-do", "delegation-without-glue"),
)


Address = tuple[dns.name.Name, RdataType]


def _known_addresses(subject: AuthoritativeSubject) -> set[Address]:
    """Give the addresses that the zone is known to have, glue among them."""
    known = contents(subject)
    of_file = {(place.name, place.rtype) for place in subject.known_data.glue_places}
    return of_file | {(one.name, one.rtype) for one in known.of(*ADDRESSES) if known.is_whole}


def _lacking(exchange: Exchange, names: list[dns.name.Name], known: set[Address]) -> list[str]:
    """List what a referral lacks: any address of a name, or one that the zone has."""
    lacking: list[str] = []
    for name in names:
        there = {rtype for rtype in ADDRESSES if rrset_of(exchange, "additional", name, rtype) is not None}
        wanted = {rtype for rtype in ADDRESSES if (name, rtype) in known}
        if not there:
            lacking.append(f"no address of {name}")
        elif wanted - there:
            lacking.append(f"no {min(wanted - there).name} record of {name}, which the zone has")
    return lacking


def check(subject: AuthoritativeSubject) -> Outcome:
    """Look at the referrals."""
    judged: list[Exchange] = []
    known = _known_addresses(subject)
    for cut, exchange in referrals(subject):
        rrset = rrset_of(exchange, "authority", cut, RdataType.NS)
        below = [one.target for one in rrset or () if isinstance(one, NS) and one.target.is_subdomain(cut)]
        if not below or exchange.is_truncated:
            continue
        lacking = _lacking(exchange, below, known)
        if lacking and exchange.transport == "udp":
            # By UDP there may have been no room for all.
            by_tcp = subject.asker.tcp(exchange.query)
            lacking = _lacking(by_tcp if by_tcp.message is not None else exchange, below, known)
        if lacking:
            return failed(f"The referral to {cut} has {lacking[0]}.", exchange)
        judged.append(exchange)
    if not judged:
        return not_applicable(subject.unknown("delegation to servers below it"))
    return passed(f"{len(judged)} delegations have the addresses of their servers.", judged[0])
